// What wakes agents, and what came of it. Apart from client.ts: only the views that show it load this.
import { at, del, patch, post, query } from "./client";
import { store } from "./store";
import type { Time } from "./types";

export interface Token {
  class: "semanticKey" | "subtypeToken" | "entityId";
  namespace?: string;
  value: string;
}
export type Source = "journal" | "agent" | "files" | "webhook";
export type Author = "human" | "agent" | "sync" | "self";
export interface ActiveHours {
  days?: string[]; // mo tu we th fr sa su; none: every day
  from: string;
  to: string;
  zone?: string;
}
export interface Subscription {
  id: string;
  agentId: string;
  name: string;
  source: Source;
  tokens: Token[];
  predicate: string;
  authors: Author[];
  activeHours?: ActiveHours | null;
  cooldownSeconds: number;
  folder?: string;
  glob?: string;
  prompt: string;
  active: boolean;
  lastWakeAt?: Time;
  createdAt?: Time;
}
export type SubscriptionDraft = Partial<Omit<Subscription, "id" | "agentId" | "lastWakeAt" | "createdAt">>;
export interface Made extends Subscription {
  token?: string; // of a webhook, said once
  url?: string;
}
/** Of the last days: all are counted, the newest listed. */
export interface Matches {
  items: Matched[];
  matched: number;
  unmatched: number;
  cut: boolean;
}
export interface Matched {
  at: Time;
  author: string;
  authorId?: string;
  outcome: string; // "yes", or what kept it from waking
  notBefore?: Time; // outside of its hours: when they began
  why?: string;
  records: { type: string; id: string; title?: string }[];
}

export type TimerKind = "rrule" | "once" | "interval";
export type Missed = "once" | "skip" | "all";
export interface Timer {
  id: string;
  agentId: string;
  name: string;
  kind: TimerKind;
  rrule?: string;
  start?: string;
  zone?: string;
  intervalSeconds?: number;
  missed: Missed;
  missedCap?: number;
  prompt: string;
  nextRunAt?: Time;
  nextLocal?: string;
  lastRunAt?: Time;
  active: boolean;
  threadId?: string; // of an alarm: the conversation in which it rings
}
export interface TimerDraft {
  name?: string;
  kind?: TimerKind;
  rrule?: string | null;
  start?: string | null;
  zone?: string | null;
  intervalSeconds?: number | null;
  missed?: Missed;
  prompt?: string;
  active?: boolean;
}
export interface Occurrence {
  at: Time;
  local: string;
  time: string;
  clocks?: "gap" | "overlap";
}

export type WakeStatus =
  | "queued" | "running" | "completed" | "skipped_sleeping" | "skipped_destroyed" | "skipped_paused"
  | "skipped_killed" | "skipped_noop" | "coalesced" | "failed_terminal";
export interface Wake {
  runKey: string;
  agentId: string;
  reason: string;
  reasonId?: string;
  name?: string; // of the subscription or timer
  threadId?: string;
  status: WakeStatus;
  why?: string;
  held?: "hours" | "cooldown" | "rest" | "failures" | "often" | "sleep";
  records?: { type: string; id: string; title?: string }[];
  recordCount?: number;
  scheduledAt?: Time;
  coalescedInto?: string;
  runId?: string;
  attempts?: number;
  errorCode?: string;
  createdAt: Time;
  startedAt?: Time;
  endedAt?: Time;
  notBefore?: Time;
  details?: Record<string, unknown>;
}

/** Changes that met a subscription or could not be judged, or firings of a timer, that woke nobody. */
export interface Skip {
  skip: string;
  reason: "subscription" | "timer" | "change";
  why: string;
  count: number;
  agentId?: string; // absent with change
  reasonId: string;
  name?: string;
  firstAt?: Time;
  lastAt?: Time;
}
export interface WakeList {
  items: Wake[];
  after?: string;
  skips?: Skip[]; // with the first page of every status
}

export interface Report {
  id: string;
  scope: string;
  title: string;
  text: string;
  confidence?: number;
  createdAt: Time;
  taint?: string[];
  sources?: { sourceType: string; sourceId: string; inferred?: boolean }[];
  freshness?: { stale: boolean; why?: string; ageMs: number; newerEvents: number };
}

/** How long an agent sleeps, and what it keeps in mind from one wake to the next. */
export interface Mind {
  sleepUntil?: Time;
  backoffUntil?: Time;
  consecutiveFailureCount: number;
  primaryGoal?: string;
  activeTaskId?: string;
  openLoopIds: string[];
  preferenceByKey: Record<string, string>;
  slotVersions?: Record<string, number>;
}

export const wakes = {
  subscriptions: (agent: string) => at`/agents/${agent}/subscriptions`,
  timers: (agent: string) => at`/agents/${agent}/timers`,
  allTimers: "/timers",
  list: (more: { agent?: string; status?: string; reasonId?: string; after?: string; limit?: number } = {}) => "/wakes" + query(more),
  one: (key: string) => at`/wakes/${key}`,
  mind: (agent: string) => at`/agents/${agent}/state`,
  report: (agent: string) => at`/agents/${agent}/reports/current`,
  reports: (agent: string) => at`/agents/${agent}/reports`,
};

const stale = (agent: string) => (): void => store.invalidate(wakes.subscriptions(agent), wakes.timers(agent), "/timers", "/wakes", "/agents");

export const waking = {
  subscribe: (agent: string, draft: SubscriptionDraft) => post<Made>(wakes.subscriptions(agent), draft).finally(stale(agent)),
  changeSubscription: (agent: string, id: string, draft: SubscriptionDraft) => patch<Subscription>(at`/subscriptions/${id}`, draft).finally(stale(agent)),
  removeSubscription: (agent: string, id: string) => del(at`/subscriptions/${id}`).finally(stale(agent)),
  preview: (agentId: string, draft: SubscriptionDraft, days: number, subscriptionId?: string) =>
    post<Matches>("/subscriptions/preview", { ...draft, agentId, days, ...(subscriptionId ? { subscriptionId } : {}) }),
  addTimer: (agent: string, draft: TimerDraft) => post<Timer>(wakes.timers(agent), draft).finally(stale(agent)),
  changeTimer: (agent: string, id: string, draft: TimerDraft) => patch<Timer>(at`/timers/${id}`, draft).finally(stale(agent)),
  removeTimer: (agent: string, id: string) => del(at`/timers/${id}`).finally(stale(agent)),
  occurrences: (rrule: string, more: { start?: string; zone?: string }) => post<{ occurrences: Occurrence[] }>("/timers/preview", { rrule, ...more, count: 5 }),
  remind: (agent: string, change: Record<string, unknown>) => patch<Mind>(wakes.mind(agent), change).finally(stale(agent)),
  now: (agent: string, words: string, requestId: string) => post<Wake>(at`/agents/${agent}/wake`, { words, requestId }).finally(stale(agent)),
};
