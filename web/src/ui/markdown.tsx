// Markdown of people, agents and the world, shown without ever making HTML of it: marked takes the text
// apart, and each token becomes a React element from a fixed list. Raw HTML is shown as the text it is,
// pictures as links (nothing is fetched from elsewhere), links only lead to http, https and mail.
import { memo, useMemo, type ReactNode } from "react";
import { Lexer, type Token, type Tokens } from "marked";
import { CodeBlock } from "./code";
import { misleading, safeHref, unescape } from "./href";

const DEPTH_MAX = 24; // nested quotes and lists beyond this are shown as text
const TEXT_MAX = 400_000; // longer ones are shown as they are

const plain = (tokens: Token[] | undefined, raw: string): string =>
  tokens?.map((token) => ("tokens" in token && token.tokens ? plain(token.tokens, token.raw) : "text" in token ? String(token.text) : token.raw)).join("") ?? raw;

function Anchor({ href, text, children }: { href: string; text: string; children: ReactNode }) {
  const target = safeHref(href);
  if (!target) return <span className="md-nolink" title={`Not followed: ${href}`}>{children}</span>;
  const other = misleading(text, target);
  return (
    <>
      <a href={target} target="_blank" rel="noopener noreferrer nofollow" title={target}>{children}</a>
      {other && <span className="md-host"> (leads to {other})</span>}
    </>
  );
}

function inline(tokens: Token[] | undefined, depth: number): ReactNode {
  if (!tokens) return null;
  return tokens.map((token, i) => <Inline key={i} token={token} depth={depth} />);
}
function Inline({ token, depth }: { token: Token; depth: number }): ReactNode {
  if (depth > DEPTH_MAX) return token.raw;
  switch (token.type) {
    case "strong": return <strong>{inline(token.tokens, depth + 1)}</strong>;
    case "em": return <em>{inline(token.tokens, depth + 1)}</em>;
    case "del": return <del>{inline(token.tokens, depth + 1)}</del>;
    case "codespan": return <code>{unescape(String(token.text))}</code>;
    case "br": return <br />;
    case "link":
      return (
        <Anchor href={String(token.href)} text={plain(token.tokens, token.raw)}>{inline(token.tokens, depth + 1)}</Anchor>
      );
    case "image":
      return <Anchor href={String(token.href)} text=""><span className="md-image">picture: {String(token.text) || String(token.href)}</span></Anchor>;
    case "html": return token.raw;
    case "escape": return String(token.text);
    case "text": return token.tokens ? <>{inline(token.tokens, depth + 1)}</> : unescape(String(token.text));
    default: return token.raw;
  }
}

function List({ token, depth }: { token: Tokens.List; depth: number }) {
  const items = token.items.map((item, i) => (
    <li key={i} className={item.task ? "md-task" : undefined}>
      {item.task && <input type="checkbox" checked={!!item.checked} readOnly disabled aria-label={item.checked ? "done" : "not done"} />}
      {blocks(item.tokens, depth + 1)}
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}
function Table({ token, depth }: { token: Tokens.Table; depth: number }) {
  const cell = (i: number): string | undefined => (token.align[i] ? `md-${token.align[i]}` : undefined);
  return (
    <div className="md-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead><tr>{token.header.map((c, i) => <th key={i} className={cell(i)}>{inline(c.tokens, depth + 1)}</th>)}</tr></thead>
        <tbody>
          {token.rows.map((row, r) => (
            <tr key={r}>{row.map((c, i) => <td key={i} className={cell(i)}>{inline(c.tokens, depth + 1)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
function block(token: Token, depth: number): ReactNode {
  if (depth > DEPTH_MAX) return <p>{token.raw}</p>;
  switch (token.type) {
    case "space": case "def": return null;
    case "heading": {
      // The page has its own h1 and h2.
      const Tag = `h${Math.min(6, Number(token.depth) + 2)}` as "h3";
      return <Tag className={`md-h${String(token.depth)}`}>{inline(token.tokens, depth + 1)}</Tag>;
    }
    case "paragraph": return <p>{inline(token.tokens, depth + 1)}</p>;
    case "text": return <>{token.tokens ? inline(token.tokens, depth + 1) : unescape(String(token.text))}</>;
    case "code": return <CodeBlock text={String(token.text)} language={String(token.lang ?? "").split(/\s/)[0] ?? ""} />;
    case "blockquote": return <blockquote>{blocks(token.tokens, depth + 1)}</blockquote>;
    case "list": return <List token={token as Tokens.List} depth={depth} />;
    case "table": return <Table token={token as Tokens.Table} depth={depth} />;
    case "hr": return <hr />;
    case "html": return <p className="md-raw">{token.raw.trimEnd()}</p>;
    default: return <p>{token.raw}</p>;
  }
}
function blocks(tokens: Token[] | undefined, depth: number): ReactNode {
  return tokens?.map((token, i) => <Block key={i} token={token} depth={depth} />);
}
// While text streams in, only its last block changes.
const Block = memo(
  function Block({ token, depth }: { token: Token; depth: number }) {
    return <>{block(token, depth)}</>;
  },
  (a, b) => a.token.raw === b.token.raw && a.token.type === b.token.type && a.depth === b.depth,
);

export function parse(text: string): Token[] | null {
  if (text.length > TEXT_MAX || /(?:[>\-*+] ?){200}/.test(text)) return null;
  try {
    return new Lexer({ gfm: true, breaks: false }).lex(text);
  } catch {
    return null; // too deep or broken for the parser: shown as it is
  }
}

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => parse(text), [text]);
  if (!tokens) return <pre className="md md-plain">{text}</pre>;
  return <div className="md">{blocks(tokens, 0)}</div>;
});
