// Every pair of colours that the page puts on each other is readable: WCAG AA.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const css = readFileSync(`${WEB_ROOT}/src/ui/tokens.css`, "utf8");

function block(after: string): Map<string, string> {
  const begin = css.indexOf("{", css.indexOf(after));
  const body = css.slice(begin + 1, css.indexOf("}", begin));
  return new Map([...body.matchAll(/--([\w-]+):\s*([^;]+);/g)].map((match) => [match[1] as string, (match[2] as string).trim()]));
}
const light = block(":root {");
const dark = block(':root[data-theme="dark"] {');
const system = block(':root:not([data-theme="light"]) {');

function luminance(hex: string): number {
  const part = (at: number): number => {
    const c = parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}
function ratio(a: string, b: string): number {
  const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (hi + 0.05) / (lo + 0.05);
}
/** color-mix(in srgb, a share, b) */
const mix = (a: string, b: string, share: number): string =>
  `#${[1, 3, 5].map((at) => Math.round(parseInt(a.slice(at, at + 2), 16) * share + parseInt(b.slice(at, at + 2), 16) * (1 - share)).toString(16).padStart(2, "0")).join("")}`;

const grounds = ["background", "surface", "raised"];
const texts = ["text", "muted", "accent", "good", "warn", "danger", "info"];
const pairs: [string, string][] = [
  ...texts.flatMap((text) => grounds.map((ground): [string, string] => [text, ground])),
  ["on-accent", "accent"], ["on-danger", "danger"], ["background", "text"],
  ["good", "good-weak"], ["warn", "warn-weak"], ["danger", "danger-weak"], ["info", "info-weak"], ["accent", "accent-weak"],
  ["text", "good-weak"], ["text", "danger-weak"], ["text", "warn-weak"], ["text", "accent-weak"],
  ["muted", "good-weak"], ["muted", "danger-weak"],
];

for (const [name, theme] of [["light", light], ["dark", dark]] as const) {
  const of = (token: string): string => {
    const value = theme.get(token) ?? light.get(token);
    assert.match(value ?? "", /^#[0-9A-F]{6}$/i, `${token} is a colour`);
    return value as string;
  };
  test(`text is readable on every ground in ${name}`, () => {
    for (const [text, ground] of pairs) {
      const found = ratio(of(text), of(ground));
      assert.ok(found >= 4.5, `--${text} on --${ground} in ${name}: ${found.toFixed(2)}, needs 4.5`);
    }
  });
  test(`marked text in a diff is readable in ${name}`, () => {
    for (const [mark, share] of [["danger", 0.22], ["warn", 0.22], ["good", 0.22]] as const)
      for (const ground of ["surface", "good-weak", "danger-weak"]) {
        const found = ratio(of("text"), mix(of(mark), of(ground), share));
        assert.ok(found >= 4.5, `text on ${mark} over ${ground} in ${name}: ${found.toFixed(2)}`);
      }
  });
  test(`edges of controls and focus can be seen in ${name}`, () => {
    for (const ground of grounds) {
      assert.ok(ratio(of("border-strong"), of(ground)) >= 3, `--border-strong on --${ground} in ${name}`);
      assert.ok(ratio(of("accent"), of(ground)) >= 3, `focus on --${ground} in ${name}`);
    }
  });
}

test("whoever follows the system gets the same dark", () => {
  assert.ok(dark.size > 15);
  assert.deepEqual([...system], [...dark]);
});

test("colours stand in tokens.css alone", async () => {
  const { readdirSync } = await import("node:fs");
  const files = (readdirSync(`${WEB_ROOT}/src`, { recursive: true } as { recursive: true }) as string[]).filter((name) => name.endsWith(".css") && !name.endsWith("tokens.css"));
  for (const name of files) {
    const text = readFileSync(`${WEB_ROOT}/src/${name}`, "utf8");
    assert.deepEqual(text.match(/#[0-9a-f]{3,8}\b/gi) ?? [], [], name);
  }
});

test("a class is styled in one file: styles of all views are there at once", async () => {
  const { readdirSync } = await import("node:fs");
  const where = new Map<string, string>();
  for (const name of (readdirSync(`${WEB_ROOT}/src`, { recursive: true } as { recursive: true }) as string[]).filter((file) => file.endsWith(".css")))
    for (const [, rule] of readFileSync(`${WEB_ROOT}/src/${name}`, "utf8").matchAll(/^(\.[a-z][\w-]*) \{/gim)) {
      assert.equal(where.get(rule as string) ?? name, name, `${rule} is also in ${where.get(rule as string)}`);
      where.set(rule as string, name);
    }
});
