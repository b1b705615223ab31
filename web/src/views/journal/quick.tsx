// One line becomes a task; what was understood is marked while it is typed.
import { forwardRef, useEffect, useState, type KeyboardEvent } from "react";
import { Plus } from "lucide-react";
import { sentence } from "../../api/client";
import { write, type Quick } from "../../api/journal";
import { go } from "../../router";
import { useConnection } from "../../shell/connection";
import { Button, cx, say } from "../../ui";
import { pieces, understood } from "./quick-model";

const SOON_MS = 120;

interface Understood {
  text: string;
  quick: Quick | null;
  error: string;
}
function usePreview(text: string): Understood {
  const [seen, setSeen] = useState<Understood>({ text: "", quick: null, error: "" });
  const there = useConnection();
  useEffect(() => {
    if (!text.trim()) return setSeen({ text: "", quick: null, error: "" });
    const abort = new AbortController();
    const timer = setTimeout(() => {
      write.preview(text, abort.signal).then(
        (quick) => setSeen({ text, quick, error: "" }),
        (error: unknown) => !abort.signal.aborted && setSeen({ text, quick: null, error: sentence(error) }),
      );
    }, SOON_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, there]);
  return seen;
}

export const QuickAdd = forwardRef<HTMLTextAreaElement>(function QuickAdd(_, box) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const seen = usePreview(text);
  const add = async (): Promise<void> => {
    if (!text.trim() || busy) return;
    setBusy(true);
    setFailure("");
    try {
      const made = await write.quick(text);
      setText("");
      say(`Added: ${made.task.title}`, () => go(`/journal/tasks/${made.task.id}`), "Open");
    } catch (error) {
      setFailure(sentence(error));
    } finally {
      setBusy(false);
    }
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      void add();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      (event.target as HTMLElement).blur();
    }
  };
  const problem = failure || (seen.text === text ? seen.error : "");
  const parts = seen.quick && text.trim() ? understood(seen.quick) : [];
  return (
    <form className="quick" onSubmit={(event) => { event.preventDefault(); void add(); }}>
      <div className="quick-row">
        <div className="quick-box">
          <div className="quick-marks" aria-hidden>
            {pieces(text, seen.quick && seen.text === text ? seen.quick.spans : []).map((piece, i) =>
              piece.kind ? <mark key={i} className={`quick-${piece.kind}`}>{piece.text}</mark> : <span key={i}>{piece.text}</span>)}
            {"\u200b"}
          </div>
          <textarea ref={box} className="input quick-input" rows={1} value={text} maxLength={10_000} spellCheck
            aria-label="New task" aria-describedby="quick-hint" aria-invalid={!!failure || undefined}
            placeholder="Fix fence tomorrow 2h #home" onChange={(event) => { setText(event.target.value); setFailure(""); }} onKeyDown={key} />
        </div>
        <Button type="submit" tone="primary" busy={busy} disabled={!text.trim()} icon={<Plus size={16} aria-hidden />}>Add</Button>
      </div>
      <div id="quick-hint" className="quick-hint small" role="status">
        {problem ? <span className="danger">{problem}</span>
          : parts.length > 0 ? parts.map((part, i) => <span key={i} className={cx("quick-part", part.kind === "title" ? "quick-title" : `quick-${part.kind}`)}>{part.text}</span>)
            : <span className="muted">A day, a time, a length, #label, @category and !1 are understood. Shift Enter for a checklist.</span>}
      </div>
    </form>
  );
});
