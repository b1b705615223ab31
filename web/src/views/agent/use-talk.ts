// One thread: its newest messages, then everything that happens in it, and older ones on demand.
import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { ApiError, get, paths } from "../../api/client";
import { ThreadSocket, type SocketState } from "../../api/socket";
import { store } from "../../api/store";
import type { Message, Mode, Run, RunEnd, RunEvent } from "../../api/types";
import { sayError } from "../../ui";
import { moved, NO_TALK, opened, prepend, sent, unsent, withPrompt, type Talk } from "./entries";

const PAGE = 100;
const PATIENCE_MS = 30_000; // older messages are asked for again after that long
const AGAIN_MS = 2000;

export interface MessagePage {
  messages: Message[]; // newest first
  ends?: RunEnd[];
  before?: number;
  lastSeq?: number;
  run?: Run;
}

type Step =
  | { do: "open"; page: MessagePage }
  | { do: "older"; page: MessagePage }
  | { do: "event"; event: RunEvent }
  | { do: "prompt"; init: RunEvent; prompt: string }
  | { do: "sent"; turn: string; text: string }
  | { do: "unsent" }
  | { do: "reset" };

function step(talk: Talk, next: Step): Talk {
  switch (next.do) {
    case "open": {
      const run = next.page.run;
      return opened([...next.page.messages].reverse(),
        run ? { id: run.runId, status: run.status === "waiting" ? "waiting" : "running" } : null, next.page.ends);
    }
    case "older":
      return prepend(talk, [...next.page.messages].reverse(), next.page.ends);
    case "event":
      return moved(talk, next.event);
    case "prompt":
      return withPrompt(talk, next.init, next.prompt);
    case "sent":
      return sent(talk, next.turn, next.text, new Date().toISOString());
    case "unsent":
      return unsent(talk);
    case "reset":
      return NO_TALK;
  }
}

export interface TalkHandle {
  talk: Talk;
  loading: boolean;
  error: unknown;
  socket: SocketState;
  more: boolean; // older messages are there
  loadOlder: () => Promise<void>;
  send: (text: string, more?: { mode?: Mode }) => boolean;
  cancel: () => void;
  setMode: (mode: Mode) => void;
  retry: () => void;
}

export function useTalk(agent: string, thread: string): TalkHandle {
  const [talk, dispatch] = useReducer(step, NO_TALK);
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<unknown>(null);
  const [state, setState] = useState<SocketState>("connecting");
  const [before, setBefore] = useState<number | undefined>();
  const [tries, setTries] = useState(0);
  const [missed, setMissed] = useState(0); // how often older messages did not come, since some did
  const socket = useRef<ThreadSocket | null>(null);
  const mine = useRef(0); // messages sent whose run has not begun
  const asked = useRef<number | undefined>(undefined); // older messages than this one were asked for
  const early = useRef<{ text: string; more: { mode?: Mode } }[]>([]); // written before the thread was there

  const say = useCallback((text: string, more: { mode?: Mode }): boolean => {
    const turnId = crypto.randomUUID();
    if (!socket.current?.send({ type: "message", content: text, turnId, ...more })) return false;
    mine.current++;
    dispatch({ do: "sent", turn: turnId, text });
    return true;
  }, []);
  const send = useCallback((text: string, more: { mode?: Mode } = {}): boolean => {
    if (socket.current) return say(text, more);
    if (early.current.length > 0) return false;
    early.current.push({ text, more });
    return true;
  }, [say]);

  useEffect(() => {
    const abort = new AbortController();
    let open = true;
    setLoading(true);
    setError(null);
    dispatch({ do: "reset" });
    mine.current = 0;
    early.current = [];

    const heard = (event: RunEvent): void => {
      if (event.type === "init") {
        if (mine.current > 0) mine.current--;
        else
          void get<Run>(paths.run(event.runId)).then(
            (run) => open && dispatch({ do: "prompt", init: event, prompt: run.prompt ?? "" }),
            () => undefined,
          );
      }
      dispatch({ do: "event", event });
      if (event.type === "done") store.invalidate(`/agents/${encodeURIComponent(agent)}/threads`);
    };
    const begin = (page: MessagePage): void => {
      asked.current = undefined;
      dispatch({ do: "open", page });
      setBefore(page.before);
      setLoading(false);
      socket.current = new ThreadSocket(agent, thread, page.lastSeq ?? 0, {
        event: heard,
        state: setState,
        refused: (refusal) => {
          mine.current = 0;
          dispatch({ do: "unsent" });
          sayError(new ApiError(409, refusal.code, refusal.message));
        },
      });
      for (const { text, more } of early.current.splice(0)) say(text, more);
    };
    get<MessagePage>(paths.messages(agent, thread, { limit: PAGE }), abort.signal).then(
      (page) => open && begin(page),
      (failure: unknown) => {
        if (!open) return;
        if (failure instanceof ApiError && failure.status === 404) begin({ messages: [] });
        else {
          setError(failure);
          setLoading(false);
        }
      },
    );
    return () => {
      open = false;
      abort.abort();
      socket.current?.close();
      socket.current = null;
    };
  }, [agent, thread, tries, say]);

  const loadOlder = useCallback(async () => {
    // Also after they came, until they are on the page: whoever scrolls then asks with the old number.
    if (before === undefined || asked.current === before) return;
    asked.current = before;
    try {
      const page = await get<MessagePage>(paths.messages(agent, thread, { limit: PAGE, before }), AbortSignal.timeout(PATIENCE_MS));
      if (asked.current !== before) return; // the conversation was opened anew
      dispatch({ do: "older", page });
      setBefore(page.before);
      setMissed(0);
    } catch (failure) {
      if (asked.current !== before) return;
      if (missed === 0) sayError(failure, "Could not load older messages");
      // Who is at the top has nothing to scroll that would ask again.
      setTimeout(() => {
        if (asked.current === before) asked.current = undefined;
        setMissed((n) => n + 1);
      }, AGAIN_MS * Math.min(8, missed + 1));
    }
  }, [agent, thread, before, missed]);

  return {
    talk, loading, error, socket: state, more: before !== undefined, loadOlder, send,
    cancel: () => void socket.current?.send({ type: "cancel" }),
    setMode: (mode) => void socket.current?.send({ type: "setMode", mode }),
    retry: () => setTries((n) => n + 1),
  };
}
