// The conversation: a long list of which only what is seen is on the page, what waits for the person,
// and the box to write in. Text grows at the bottom; the place of the reader never moves by itself.
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode, type RefObject } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import type { InboxItem } from "../../api/types";
import { usePending } from "../../shell/header";
import { Button, Skeleton, Trouble } from "../../ui";
import { WaitingItem } from "../inbox/waiting";
import { Composer } from "./composer";
import { EntryView } from "./entry";
import { useTalk, type TalkHandle } from "./use-talk";
import "./chat.css";

const NEAR = 64; // px from the end that count as being there

function useList(handle: TalkHandle, waiting: InboxItem[]) {
  const { talk, more, loadOlder } = handle;
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const [fresh, setFresh] = useState(false);
  const count = talk.entries.length;
  const list = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    getItemKey: (i) => talk.entries[i]?.key ?? i,
    estimateSize: (i) => (talk.entries[i]?.kind === "tool" ? 40 : 96),
    overscan: 6,
    paddingStart: 16,
  });

  const toEnd = useCallback(() => {
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
    atEnd.current = true;
    setFresh(false);
  }, []);
  const size = list.getTotalSize();
  const last = talk.entries[count - 1];
  const tail = last && "text" in last ? last.text.length : 0;
  // The end follows its reader; somebody who reads above is only told.
  useLayoutEffect(() => {
    if (atEnd.current) toEnd();
  }, [size, tail, waiting.length, toEnd]);
  useEffect(() => {
    if (!atEnd.current && count > 0) setFresh(true);
  }, [last?.key, tail]);
  // Older messages come in above: what is read stays where it is.
  const first = talk.entries[0]?.key;
  const before = useRef({ first, size });
  useLayoutEffect(() => {
    const element = box.current;
    if (element && before.current.first && first !== before.current.first && !atEnd.current)
      element.scrollTop += size - before.current.size;
    before.current = { first, size };
  }, [first, size]);

  const older = (): void => {
    const element = box.current;
    if (element && element.clientHeight > 0 && element.scrollTop < 400 && more) void loadOlder();
  };
  // Who is still at the top when some have come has nothing to scroll that would ask for more.
  useEffect(older, [first, more, loadOlder]);

  const scrolled = (): void => {
    const element = box.current;
    if (!element) return;
    atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    if (atEnd.current) setFresh(false);
    older();
  };
  return { box, list, fresh: fresh && !atEnd.current, toEnd, scrolled };
}

/** When what had the focus was decided and is gone, the box to write in has it. Never the other way: somebody
    who types must not find that the letters went to a decision. */
function useFocusAfterWaiting(section: RefObject<HTMLElement | null>, waiting: number): void {
  const waited = useRef(0);
  useEffect(() => {
    const nowhere = document.activeElement === document.body || document.activeElement === null;
    if (waiting < waited.current && nowhere && window.matchMedia("(pointer: fine)").matches)
      section.current?.querySelector<HTMLTextAreaElement>(".composer textarea")?.focus({ preventScroll: true });
    waited.current = waiting;
  }, [section, waiting]);
}

export function Chat({ agentId, name, thread, empty, autoFocus, plain, bar }: {
  agentId: string; name: string; thread: string; empty: (send: (text: string) => void) => ReactNode; autoFocus?: boolean;
  plain?: boolean; // without a choice of mode
  bar?: (send: (text: string) => void, busy: boolean) => ReactNode; // above the box to write in
}) {
  const section = useRef<HTMLElement>(null);
  const handle = useTalk(agentId, thread);
  const { talk } = handle;
  const pending = usePending() ?? [];
  const full = thread.startsWith(`${agentId}:`) ? thread : `${agentId}:session:${thread}`;
  const waiting = pending.filter((item) => item.threadId === full);
  const { box, list, fresh, toEnd, scrolled } = useList(handle, waiting);
  useFocusAfterWaiting(section, waiting.length);
  const nothing = !handle.loading && !handle.error && talk.entries.length === 0;
  return (
    <section ref={section} className="chat" aria-label={`Conversation with ${name}`}>
      <div ref={box} className="chat-scroll" onScroll={scrolled} tabIndex={0} role="log" aria-live="polite" aria-relevant="additions"
        aria-busy={talk.run?.status === "running"} aria-label="Messages">
        {handle.loading && <div className="chat-column"><Skeleton lines={6} label="Loading the conversation" /></div>}
        {handle.error !== null && <div className="chat-column"><Trouble error={handle.error} what="Could not open the conversation" retry={handle.retry} /></div>}
        {nothing && waiting.length === 0 && <div className="chat-column chat-empty">{empty((text) => void handle.send(text))}</div>}
        <div className="chat-list" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((row) => {
            const entry = talk.entries[row.index];
            return entry && (
              <div key={row.key} data-index={row.index} ref={list.measureElement} className="chat-row"
                style={{ transform: `translateY(${row.start}px)` }}>
                <div className="chat-column"><EntryView entry={entry} name={name} waiting={talk.run?.status === "waiting"} /></div>
              </div>
            );
          })}
        </div>
        {waiting.length > 0 && (
          <div className="chat-column chat-waiting">
            {waiting.map((item) => <WaitingItem key={item.id} item={item} name={name} />)}
          </div>
        )}
        {talk.run?.status === "running" && <div className="chat-column chat-busy" role="status">{name} is awake…</div>}
      </div>
      {fresh && <Button small className="chat-new" icon={<ArrowDown size={15} aria-hidden />} onClick={toEnd}>New</Button>}
      {bar && <div className="chat-column chat-bar">{bar((text) => { if (handle.send(text)) toEnd(); }, talk.run !== null || waiting.length > 0)}</div>}
      <Composer key={full} handle={handle} place={full} name={name} waiting={waiting.length} autoFocus={autoFocus} plain={plain} onSent={toEnd} />
    </section>
  );
}
