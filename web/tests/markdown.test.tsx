// Nothing that a text says becomes anything but text.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { renderToStaticMarkup } from "react-dom/server";
import { cost, Markdown } from "../src/ui/markdown";
import { misleading, safeHref } from "../src/ui/href";
import { visible } from "../src/ui/diff";

const html = (text: string): string => renderToStaticMarkup(<Markdown text={text} />);
/** Elements and attributes that may come of any text. */
const ELEMENTS = new Set("div p pre code strong em del br hr a span ul ol li input blockquote table thead tbody tr th td h3 h4 h5 h6 figure figcaption button svg rect path".split(" "));
const ATTRIBUTES = new Set(
  "class href target rel title tabindex role aria-label aria-hidden type checked readonly disabled start xmlns width height viewbox fill stroke stroke-width stroke-linecap stroke-linejoin x y rx ry d".split(" "),
);
function check(text: string): string {
  const out = html(text);
  for (const [, name, rest] of out.matchAll(/<([a-z0-9-]+)((?:\s[^<>]*)?)>/gi)) {
    assert.ok(ELEMENTS.has((name as string).toLowerCase()), `<${name}> of ${JSON.stringify(text).slice(0, 120)}`);
    for (const [, attribute] of (rest as string).matchAll(/\s([\w:-]+)=/g))
      assert.ok(ATTRIBUTES.has((attribute as string).toLowerCase()), `${attribute} of ${JSON.stringify(text).slice(0, 120)}`);
  }
  for (const [, href] of out.matchAll(/href="([^"]*)"/g)) assert.match(href as string, /^(https?:|mailto:)/, text);
  return out;
}

const hostile = [
  "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "<iframe src=javascript:alert(1)>",
  "<a href=\"javascript:alert(1)\">x</a>", "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](java\nscript:alert(1))",
  "[x](&#106;avascript:alert(1))", "[x](java&Tab;script:alert(1))", "[x](\u0001javascript:alert(1))", "[x](vbscript:x)",
  "[x](data:text/html;base64,PHNjcmlwdD4=)", "![x](javascript:alert(1))", "![x](data:image/svg+xml,<svg onload=alert(1)>)",
  "<javascript:alert(1)>", "[a]: javascript:alert(1)\n\n[a]", "[x](https://a.example/\"onmouseover=\"alert(1))",
  "```\"><script>alert(1)</script>\ncode\n```", "`<script>`", "| <script> | b |\n|---|---|\n| <img onerror=x> | c |",
  "<style>*{display:none}</style>", "<base href=//evil.example>", "<meta http-equiv=refresh content=0>", "<form action=//evil><input>",
  "# <h1 onclick=x>", "- [x] <b onclick=y>", "> <object data=x>", "&lt;script&gt;alert(1)&lt;/script&gt;", "<!-- --><script>x</script>",
  "[x](file:///etc/passwd)", "[x](//evil.example)", "[x](/login?code=1)", "[x](https://bank.example@evil.example/)", "[x](blob:https://x/y)",
];
test("hostile texts become text", () => {
  for (const text of hostile) check(text);
});
test("hostile texts become text inside everything else", () => {
  for (const text of hostile) for (const frame of ["**", "> ", "- ", "1. ", "# ", "~~"]) check(`${frame}${text}${frame}`);
});
test("raw HTML is shown, not made", () => {
  assert.match(html("<script>alert(1)</script>"), /&lt;script&gt;/);
  assert.match(html("a <b>c</b>"), /&lt;b&gt;c&lt;\/b&gt;/);
});
test("pictures are links, and fetch nothing", () => {
  const out = html("![cat](https://elsewhere.example/cat.png)");
  assert.doesNotMatch(out, /<img/);
  assert.match(out, /href="https:\/\/elsewhere.example\/cat.png"/);
});
test("links open elsewhere and carry nothing along", () => {
  assert.match(html("[x](https://a.example/)"), /target="_blank" rel="noopener noreferrer nofollow"/);
  assert.equal(safeHref("mailto:a@b.example"), "mailto:a@b.example");
  for (const bad of ["javascript:1", " javascript:1", "java\tscript:1", "ftp://x", "x", "", "/api", "https://u:p@h/", "http://", "about:blank"])
    assert.equal(safeHref(bad), null, bad);
});
test("a link that names another host says where it leads", () => {
  assert.equal(misleading("https://bank.example/login", "https://evil.example/"), "evil.example");
  assert.equal(misleading("bank.example", "https://www.bank.example/x"), null);
  assert.equal(misleading("click here", "https://evil.example/"), null);
  assert.match(html("[bank.example](https://evil.example/)"), /leads to evil\.example/);
});
test("entities are read once", () => {
  assert.match(html("a &amp; b &lt; c"), /a &amp; b &lt; c/);
  assert.match(html("&amp;lt;script&amp;gt;"), /&amp;lt;script&amp;gt;/);
});
test("tables, lists, code and tasks look like themselves", () => {
  const out = check("| a | b |\n|---|--:|\n| 1 | 2 |\n\n1. one\n2. two\n\n- [x] done\n\n```js\nlet x;\n```");
  for (const part of [/<th[^>]*>a</, /<td class="md-right">2</, /<ol start="1">/, /type="checkbox"[^>]*checked/, /let x;/]) assert.match(out, part);
});
test("very deep and very long texts neither hang nor break", () => {
  const begun = Date.now();
  for (const text of [">".repeat(20_000), "> ".repeat(20_000), "- ".repeat(5_000), "[".repeat(20_000), "*".repeat(20_000), "`".repeat(20_000), "(".repeat(20_000), "<".repeat(20_000), "![".repeat(9_000), "_a ".repeat(9_000), "*a ".repeat(9_000), "_a\n".repeat(9_000), "> _a\n".repeat(9_000), "[a](".repeat(9_000), "~a ".repeat(9_000), "http://".repeat(3_000), "a|".repeat(20_000), "x".repeat(500_000)])
    assert.ok(html(text).length > 0);
  assert.ok(Date.now() - begun < 20_000, `took ${Date.now() - begun} ms`);
});
test("long ordinary texts are still Markdown", () => {
  const list = Array.from({ length: 2000 }, (_, i) => `- **item** ${i} with [a link](https://a.example/${i})`).join("\n");
  const table = `| a | b |\n|---|---|\n${"| **x** | `y` |\n".repeat(800)}`;
  const code = `\`\`\`c\n${"int *some_name = &other_name[0];\n".repeat(3000)}\`\`\``;
  const prose = "A sentence with *one* stress and snake_case_names in it.\n\n".repeat(2000);
  for (const text of [list, table, code, prose]) assert.ok(cost(text) < 250 && html(text).startsWith('<div class="md">'), `${cost(text)}`);
});
test("hidden characters are shown", () => {
  assert.equal(visible("a\u200bb\u202ec"), "a⟨U+200B⟩b⟨U+202E⟩c");
  assert.equal(visible("plain\ttext"), "plain\ttext");
  assert.equal(visible("\u{e0041}"), "⟨U+E0041⟩");
});
test("no source of the page makes HTML of text", () => {
  for (const name of readdirSync(`${WEB_ROOT}/src`, { recursive: true } as { recursive: true }) as string[]) {
    if (!/\.tsx?$/.test(name)) continue;
    const text = readFileSync(`${WEB_ROOT}/src/${name}`, "utf8");
    assert.doesNotMatch(text, /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(/, name);
    assert.doesNotMatch(text, /https?:\/\/(?!127\.0\.0\.1|www\.w3\.org|api\.slack\.com|console\.cloud\.google\.com|www\.googleapis\.com\/auth|dormouse\/)[a-z]/i, `${name} names another host`);
  }
});
