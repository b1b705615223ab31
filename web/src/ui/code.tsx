// Text as it is, with a button that copies it.
import { useEffect, useState } from "react";
import { Check, Copy } from "lucide-react";
import { IconButton } from "./basic";
import { cx } from "./cx";
import { End } from "./seen";

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = (): void => {
    void navigator.clipboard?.writeText(text).then(() => setDone(true), () => undefined);
  };
  return (
    <IconButton label={done ? "Copied" : label} onClick={copy}>{done ? <Check size={15} /> : <Copy size={15} />}</IconButton>
  );
}

/** Each line with its number beside it; what a long one goes on with has a sign there instead. Styles draw both: nothing
    in the text can look like them, nor are they copied. */
function Lines({ text }: { text: string }) {
  const lines = text.split("\n");
  return <>{lines.map((line, i) => <span key={i} className="code-line">{line}{i + 1 < lines.length && "\n"}</span>)}</>;
}

export function CodeBlock({ text, language, wrap }: { text: string; language?: string; wrap?: boolean }) {
  return (
    <figure className="code">
      <div className="code-tools">
        {language && <figcaption className="code-language">{language}</figcaption>}
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0} aria-label={language ? `${language} code` : "Code"} className={cx(wrap && "code-wrap")}><code>{wrap ? <Lines text={text} /> : text}</code><End /></pre>
    </figure>
  );
}

/** Any JSON, readable. */
export function Json({ value }: { value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return <CodeBlock text={text ?? "null"} language={typeof value === "string" ? "" : "json"} wrap />;
}
