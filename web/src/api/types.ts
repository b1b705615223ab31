// What the server says, as in share/schema/api.schemas.json and docs/http.md. Our own routes speak
// camelCase; memory, skills and credentials speak snake_case.

export type Time = string; // RFC 3339

export interface Failure {
  code: string;
  message: string;
}

// ---- agents ----

export type StateWord = "asleep" | "awake" | "waiting" | "paused" | "failing" | "gone";
export interface AgentState {
  word: StateWord;
  since?: Time;
  why?: string;
}
export interface Agent {
  warnings?: string[]; // of one that was just made or changed
  id: string;
  kind: string;
  displayName: string;
  lifecycle: "created" | "active" | "dormant" | "destroyed";
  paused: boolean;
  mode?: AgentMode;
  allowedCategoryIds?: string[]; // none: nothing of the journal; "*": all of it
  sessionTtlSeconds?: number;
  model?: string;
  instructions?: string;
  description?: string;
  template?: string;
  tools?: string[];
  autoApproveMemory?: boolean;
  state?: AgentState;
  pending?: number;
  lastRunAt?: Time;
  tokensToday?: number;
  budget?: AgentBudget; // of one that was asked for
  createdAt?: Time;
  updatedAt?: Time;
}
/** Of a local day. limit and left are there where it is limited. */
export interface Amount {
  used: number;
  reserved: number;
  limit?: number;
  left?: number;
}
export interface Amounts {
  tokens: Amount;
  cost: Amount;
  toolCalls: Amount;
}
/** For a day; null takes one away. */
export interface Limits {
  tokensPerDay?: number | null;
  costPerDay?: number | null;
  toolCallsPerDay?: number | null;
}
export interface AgentBudget extends Amounts {
  resetsAt: Time;
  own?: Limits; // what it was set to, before what the configuration says for every agent
  all?: Amounts;
}
/** Wakes by itself, is spoken to, or both. */
export type AgentMode = "autonomous" | "interactive" | "hybrid";
export interface AgentDraft {
  displayName: string;
  id?: string;
  description?: string;
  instructions?: string;
  model?: string;
  tools?: string[];
  template?: string;
  autoApproveMemory?: boolean;
  allowedCategoryIds?: string[];
}
export type AgentChange = Partial<Omit<AgentDraft, "id">> & {
  paused?: boolean;
  budget?: Limits;
  mode?: AgentMode;
  allowedCategoryIds?: string[];
  sessionTtlSeconds?: number;
};
export interface AgentTool {
  name: string;
  description: string;
  toolClass: string;
  risk: string;
  approval: string;
  enabled: boolean;
  available: boolean;
  reason?: string;
}
export interface Template {
  id: string;
  name: string;
  description: string;
  instructions: string;
  tools: string[];
  skills?: string[];
  subscriptions?: { name: string }[]; // what wakes it, made with the agent
  timers?: { name: string }[];
}

// ---- threads and messages ----

export type Mode = "structured" | "wiggum";
export interface Thread {
  id: string;
  n: number;
  messages: number;
  lastSeq: number;
  tokens?: number;
  title?: string;
  named?: boolean; // by a person
  preview?: string;
  pending?: number;
  createdAt?: Time;
  updatedAt?: Time;
}
export interface Message {
  id: string;
  n: number;
  kind: "observation" | "user" | "thought" | "action" | "toolResult" | "summary" | "system";
  createdAt: Time;
  content?: Record<string, unknown>;
  words?: string;
  tokens?: number;
  actionType?: string;
  toolName?: string;
  toolCallId?: string;
  status?: string;
  error?: Failure;
  model?: string;
  taint?: string[];
}
/** A run that was stopped or failed, after the message with this n. */
export interface RunEnd {
  runId: string;
  after: number;
  stopReason: "cancelled" | "error";
  error?: Failure;
  at: Time;
}
export interface SearchResult {
  kind: "message" | "thread" | "file" | "agent" | "task" | "checklist" | "checklistItem" | "timeEntry" | "dayPlan" | "entry";
  agentId: string; // not of records of the journal: they have recordId
  recordId?: string;
  taskId?: string;
  threadId?: string;
  path?: string;
  title: string;
  snippet: string;
  at?: Time;
}

// ---- runs ----

export type RunStatus = "queued" | "running" | "waiting" | "done" | "cancelled" | "failed";
export interface Run {
  runId: string;
  n: number;
  threadId: string;
  agentId: string;
  status: RunStatus;
  mode: Mode;
  model?: string;
  cwd?: string;
  waitKind?: string;
  waitItem?: string;
  waitUntil?: string;
  prompt?: string;
  result?: string;
  stopReason?: "end_turn" | "cancelled" | "error";
  error?: Failure;
  iterations?: number;
  toolCalls?: number;
  inputTokens?: number;
  outputTokens?: number;
  cachedTokens?: number;
  cost?: number;
  maxIterations?: number;
  maxTokens?: number;
  maxToolCalls?: number;
  maxMs?: number;
  createdAt: Time;
  updatedAt?: Time;
  endedAt?: Time;
  activeMs?: number;
  waitedMs?: number;
}

interface EventBase {
  seq: number;
  runId: string;
  threadId: string;
  at: Time;
}
export type RunEvent = EventBase &
  (
    | { type: "init"; model: string; agentId: string; mode: Mode }
    | { type: "thinking" | "text"; content: string; isPartial?: boolean; offset?: number }
    | { type: "tool_use"; toolCallId: string; toolName: string; input: unknown }
    | { type: "approval_gate"; gateId: string; toolName: string; input: unknown; title: string; preview?: string }
    | { type: "waiting"; itemId: string; kind: string; title: string }
    | {
        type: "tool_result";
        toolCallId: string;
        toolName: string;
        status: "completed" | "failed";
        output?: unknown;
        words?: string;
        error?: Failure;
      }
    | ({ type: "memory_edit_request" } & MemoryEdit)
    | { type: "memory_edit_complete"; request_id: string; success: boolean; path: string; error?: string }
    | { type: "iteration"; count: number }
    | { type: "notice"; content: string }
    | { type: "error"; code: string; message: string; recoverable: boolean; until?: string }
    | { type: "done"; stopReason: string; result?: string; iterations?: number }
  );

// ---- inbox ----

export type ItemKind =
  | "tool" | "memory" | "question" | "consent" | "spawn" | "unknown_effect" | "input_required"
  | "escalated" | "agent_proposal" | "skill_script" | "persona" | "config";
export type ItemState =
  | "pending" | "approved" | "edited" | "answered" | "rejected" | "expired" | "withdrawn";
export interface InboxItem {
  id: string;
  n: number;
  kind: ItemKind;
  state: ItemState;
  agentId?: string;
  agentName?: string;
  runId?: string;
  threadId?: string;
  toolName?: string;
  title?: string;
  input?: unknown;
  body?: unknown;
  details?: Record<string, unknown>;
  previewKind?: string;
  preview?: string;
  digest?: string;
  /** The scopes that an approval may have, and what each covers. */
  choices?: { scope: Scope; covers: string }[];
  taint?: string[];
  danger?: string[]; // why approving takes a second step
  facts?: Fact[]; // what is known of it, in Dormouse's own words
  createdAt: Time;
  expiresAt?: Time;
  decidedAt?: Time;
  decidedBy?: string;
  reason?: string;
  scope?: Scope;
  answer?: unknown;
}
export interface Fact {
  name: string;
  value: string;
  warn?: boolean;
}
export type Scope = "once" | "run" | "always";
export interface DecisionRequest {
  decision: "approve" | "reject" | "edit" | "answer";
  scope?: Scope;
  input?: Record<string, unknown>;
  edited_content?: string; // of a memory file, instead of input
  answer?: unknown;
  reason?: string;
  anyway?: boolean; // although the item has danger
}
export interface Decision {
  applied: boolean;
  item: InboxItem;
}

// ---- memory ----

export interface Flag {
  pattern: string;
  match: string;
  description: string;
  severity: string; // danger | warning
  start: number; // bytes of UTF-8 in proposed_content
  end: number;
}
export interface MemoryEdit {
  request_id: string;
  tool_call_id?: string;
  path: string;
  operation: "write" | "append" | "delete" | string;
  current_content: string | null;
  proposed_content: string;
  reason?: string;
  suspicious_flags?: Flag[];
  warnings?: string[];
  taint?: string[];
  diff?: string;
}
export interface MemoryFile {
  path: string;
  content_type: string;
  created_at?: Time;
  updated_at?: Time;
  size_bytes: number;
  version: number;
  writable: boolean;
  taint?: string[];
}
export interface MemoryList {
  files: MemoryFile[];
  total_bytes: number;
  limit_bytes: number;
  warning?: string;
  problems?: { path: string; message: string }[];
}
export interface MemoryText {
  path: string;
  content: string;
  content_type: string;
  updated_at?: Time;
  version: number;
  author?: string;
  reason?: string;
  taint?: string[];
}
export interface MemoryVersion {
  version: number;
  size_bytes: number;
  author: string;
  reason?: string;
  created_at: Time;
  deleted?: boolean;
  taint?: string[];
  inbox_id?: string;
}

// ---- skills ----

export interface Skill {
  id: string;
  name: string;
  description: string;
  instructions: string;
  created_at?: Time;
  updated_at?: Time;
  license?: string;
  compatibility?: string;
  metadata?: Record<string, string>;
  allowed_tools?: string[] | string;
  source?: string;
  shared?: boolean;
  enabled?: boolean;
  content_hash?: string;
  files?: string[];
}
export interface SkillDraft {
  name: string;
  description: string;
  instructions: string;
  license?: string;
  compatibility?: string;
  metadata?: Record<string, string>;
  allowed_tools?: string[] | string;
  enabled?: boolean;
}

// ---- connections and secrets ----

export interface SlackStatus {
  configured: boolean;
  team?: string;
  user?: string;
  scopes?: string[];
  checked_at?: Time;
}
export interface GoogleStart {
  flow: "device" | "loopback";
  user_code?: string;
  verification_url?: string;
  auth_url?: string;
  expires_in?: number;
}
export interface GoogleStatus {
  configured: boolean;
  pending?: boolean;
  account?: string;
  scopes?: string[];
  error?: string;
}
export interface Secret {
  name: string;
  store: string;
  usedBy: string[];
}

// ---- models, grants, kill switches ----

export interface Model {
  id: string;
  provider: string;
  model?: string;
  host: string;
  local: boolean;
  consent: "not_needed" | "needed" | "given";
  privacy?: { policyVersion?: string; trains?: boolean; retention?: string; jurisdiction?: string };
  price?: { input?: number; output?: number; cached?: number };
  contextTokens?: number;
}
export interface Grant {
  id: string;
  agentId?: string;
  scope: "run" | "always";
  runId?: string;
  toolName: string;
  covers: string;
  pattern?: unknown;
  inboxId?: string;
  createdAt: Time;
  usedAt?: Time;
}
export interface KillSwitch {
  scope: "all" | "agent" | "tools";
  value?: string;
  reason?: string;
  since: Time;
}
export interface Health {
  status: string;
  version: string;
  domains: Record<string, string>;
}

// ---- what happens anywhere, without content ----

export interface Activity {
  type: "run" | "inbox" | "agent" | "memory" | "skill" | "kill" | string;
  id?: number;
  reset?: boolean; // of hello
  agentId?: string;
  threadId?: string;
  runId?: string;
  itemId?: string;
  kind?: string;
  status?: string;
  at?: Time;
}

// ---- a run's log, event by event ----

export interface TraceEvent {
  row: number;
  seq?: number;
  at: Time;
  type: string;
  key?: number;
  attributes: string[];
  by: { thread: string; key?: number; point: number; doing: string } | null;
  tookMs?: number;
  waitedMs?: number;
  message?: {
    id: string;
    kind: string;
    tool?: string;
    callId?: string;
    status?: string;
    content?: Record<string, unknown>;
  };
  item?: { id: string; kind: string; tool?: string; title?: string; body?: string; state?: ItemState; decidedBy?: string; reason?: string };
  operation?: { id: string; tool: string; status: string; attempts: number };
  data?: Record<string, unknown>;
}
export interface Trace {
  run: Record<string, unknown> & { sameProgram?: boolean };
  events: TraceEvent[];
}
export interface Replay {
  same: boolean;
  rows?: number;
  selected?: number;
  ended?: boolean;
  error?: Failure;
}
