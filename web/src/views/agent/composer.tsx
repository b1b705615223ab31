// Where the person writes. Enter sends, Shift+Enter breaks the line; a draft outlives a reload.
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { ArrowUp, Square } from "lucide-react";
import type { Mode } from "../../api/types";
import { plural } from "../../format";
import { useKeys } from "../../keys";
import { IconButton, sayError, useArmed, useKept } from "../../ui";
import type { TalkHandle } from "./use-talk";

const TALLEST = 240;

/** It comes where Send was: the second half of a double click does not mean it. */
function Stop({ name, onStop }: { name: string; onStop: () => void }) {
  const place = useRef<HTMLButtonElement>(null);
  const { armed, ready } = useArmed(place, "stop");
  return (
    <IconButton ref={place} label={`Stop ${name}`} className="composer-stop" aria-disabled={!armed || undefined} onClick={() => ready() && onStop()}>
      <Square size={16} />
    </IconButton>
  );
}

export function Composer({ handle, place, name, waiting, autoFocus, plain, onSent }: {
  handle: TalkHandle; place: string; name: string; waiting: number; autoFocus?: boolean | undefined; plain?: boolean | undefined; onSent: () => void;
}) {
  const [typed, setTyped] = useKept<string>(`draft ${place}`);
  const text = typed ?? "";
  const setText = (next: string): void => setTyped(next || null);
  const [mode, setMode] = useState<Mode>("structured");
  const box = useRef<HTMLTextAreaElement>(null);
  const run = handle.talk.run;
  useKeys([{ keys: "c", label: `Write to ${name}`, group: "Agent", run: () => box.current?.focus() }]);
  useEffect(() => {
    if (autoFocus && window.matchMedia("(pointer: fine)").matches) box.current?.focus();
  }, [autoFocus]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, TALLEST)}px`;
  }, [text]);

  const send = (): void => {
    const words = text.trim();
    if (!words || run) return;
    if (!handle.send(words, { mode })) {
      sayError(new Error("the connection is away, and much waits already"), "Not sent");
      return;
    }
    setText("");
    onSent();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      event.preventDefault();
      box.current?.blur();
    }
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const note = run?.status === "waiting" ? (waiting > 0 ? `${plural(waiting, "thing")} above ${waiting === 1 ? "waits" : "wait"} for your word` : "waits")
    : handle.socket === "waiting" ? "Connecting again…" : "";
  return (
    <div className="composer-frame">
      <form className="composer" onSubmit={(event) => { event.preventDefault(); send(); }}>
        <textarea ref={box} rows={1} value={text} aria-label={`Write to ${name}`} placeholder={`Write to ${name}…`}
          onChange={(event) => setText(event.target.value)} onKeyDown={key} maxLength={1_000_000} />
        <div className="composer-tools">
          {!plain && <label className="composer-mode">
            <span className="visually-hidden">Mode</span>
            <select value={mode} title="structured: thinks, asks, acts. wiggum: goes on in its sandbox until it is done."
              onChange={(event) => {
                const next = event.target.value as Mode;
                setMode(next);
                if (run) handle.setMode(next);
              }}>
              <option value="structured">structured</option>
              <option value="wiggum">wiggum</option>
            </select>
          </label>}
          <span className="composer-note" role="status">{note}</span>
          {run ? (
            <Stop name={name} onStop={handle.cancel} />
          ) : (
            <IconButton label="Send" className="composer-send" type="submit" disabled={!text.trim()}><ArrowUp size={18} /></IconButton>
          )}
        </div>
      </form>
    </div>
  );
}
