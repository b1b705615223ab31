// Requests to the server. Every failure becomes an ApiError whose message is a sentence for people.
import type * as T from "./types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
  get offline(): boolean {
    return this.status === 0;
  }
  get loggedOut(): boolean {
    return this.status === 401;
  }
}

export const sentence = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
};

const fallback: Record<number, string> = {
  401: "this browser is not logged in",
  403: "this is not allowed",
  404: "this does not exist (any more)",
  409: "this has changed in the meantime",
  412: "this has changed in the meantime",
  413: "this is too large",
  429: "too many requests; wait a moment",
  503: "the server can't do this now",
};

async function failureOf(response: Response): Promise<ApiError> {
  const plain = fallback[response.status] ?? `the server answered ${response.status}`;
  try {
    const body = (await response.json()) as { error?: Partial<T.Failure> };
    return new ApiError(response.status, body.error?.code ?? "", body.error?.message ?? plain);
  } catch {
    return new ApiError(response.status, "", plain);
  }
}

const BASE = "/api/v1";
export const url = (path: string): string => (path.startsWith("/api/") || path === "/healthz" ? path : BASE + path);

/** A path with every part escaped: at`/agents/${id}/memory/${path}` keeps the slashes of path. */
export function at(parts: TemplateStringsArray, ...values: (string | number)[]): string {
  return parts.reduce((sum, part, i) => {
    const value = i < values.length ? String(values[i]).split("/").map(encodeURIComponent).join("/") : "";
    return sum + part + value;
  }, "");
}
/** `?a=1&b=2` of what is there, or nothing. */
export function query(members: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(members))
    if (value !== undefined && value !== "") search.set(name, String(value));
  const text = search.toString();
  return text ? `?${text}` : "";
}

export async function ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url(path), { method, credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "offline", "the server does not answer");
  }
  if (!response.ok) throw await failureOf(response);
  return response;
}

async function json<R>(method: string, path: string, body?: unknown, signal?: AbortSignal, more: Record<string, string> = {}): Promise<R> {
  const init: RequestInit = { signal: signal ?? null };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json", ...more };
  }
  const response = await ask(method, path, init);
  return (response.status === 204 ? undefined : await response.json()) as R;
}

export const get = <R>(path: string, signal?: AbortSignal): Promise<R> => json<R>("GET", path, undefined, signal);
export const post = <R>(path: string, body: unknown = {}): Promise<R> => json<R>("POST", path, body);
export const put = <R>(path: string, body: unknown): Promise<R> => json<R>("PUT", path, body);
/** version: refused when it is another one by now. */
export const patch = <R>(path: string, body: unknown, version?: string): Promise<R> =>
  json<R>("PATCH", path, body, undefined, version ? { "If-Match": `"${version}"` } : {});
export const del = <R = void>(path: string): Promise<R> => json<R>("DELETE", path);
export async function upload<R>(path: string, bytes: Blob, type = "application/gzip"): Promise<R> {
  const response = await ask("POST", path, { body: bytes, headers: { "Content-Type": type } });
  return (await response.json()) as R;
}

/** What can be done, by name. Reading goes through useGet() (store.ts) with the paths below. */
export const paths = {
  agents: "/agents",
  agent: (id: string) => at`/agents/${id}`,
  agentTools: (id: string) => at`/agents/${id}/tools`,
  tools: "/tools",
  templates: "/templates",
  threads: (id: string, more: { before?: number; limit?: number; query?: string } = {}) =>
    at`/agents/${id}/threads` + query(more),
  messages: (id: string, thread: string, more: { before?: number; limit?: number } = {}) =>
    `/agents/${encodeURIComponent(id)}/threads/${encodeURIComponent(thread)}/messages` + query(more),
  memory: (id: string) => at`/agents/${id}/memory`,
  memoryFile: (id: string, path: string, version?: number) => at`/agents/${id}/memory/${path}` + query({ version }),
  memoryHistory: (id: string, path: string) => at`/agents/${id}/memory-history/${path}`,
  skills: (id: string) => at`/agents/${id}/skills`,
  skill: (id: string, skill: string) => at`/agents/${id}/skills/${skill}`,
  skillFile: (id: string, skill: string, path: string) => at`/agents/${id}/skills/${skill}/files/${path}`,
  inbox: "/inbox",
  inboxAll: (limit: number) => "/inbox" + query({ state: "all", limit }),
  item: (id: string) => at`/inbox/${id}`,
  runs: (more: { agent?: string; before?: number; limit?: number } = {}) => "/runs" + query(more),
  run: (id: string) => at`/runs/${id}`,
  runEvents: (id: string, after = 0) => at`/runs/${id}/events` + query({ after, limit: 1000 }),
  replay: (id: string) => at`/runs/${id}/replay`,
  trace: (id: string, format: "json" | "ndjson" | "text") => at`/runs/${id}/trace` + query({ format }),
  kill: "/kill",
  grants: "/grants",
  models: "/models",
  secrets: "/secrets",
  slack: "/credentials/slack/status",
  google: "/credentials/google/status",
  search: (q: string, more: { agent?: string; scope?: string; limit?: number } = {}) => "/search" + query({ q, ...more }),
};

export const act = {
  decide: (id: string, body: T.DecisionRequest) => post<T.Decision>(at`/inbox/${id}/decision`, body),
  kill: (scope: T.KillSwitch["scope"], value?: string, reason?: string) => post<unknown>("/kill", { scope, value, reason }),
  unkill: (scope: T.KillSwitch["scope"], value?: string) => del<unknown>("/kill" + query({ scope, value })),
  createAgent: (draft: T.AgentDraft) => post<T.Agent>("/agents", draft),
  changeAgent: (id: string, change: T.AgentChange) => patch<T.Agent>(paths.agent(id), change),
  duplicateAgent: (id: string, displayName?: string) => post<T.Agent>(at`/agents/${id}/duplicate`, { displayName }),
  destroyAgent: (id: string, confirm: string) => del(paths.agent(id) + query({ confirm })),
  importAgent: (file: Blob, id?: string) => upload<T.Agent>("/agents/import" + query({ id }), file),
  renameThread: (id: string, thread: string, title: string) =>
    patch<T.Thread>(`/agents/${encodeURIComponent(id)}/threads/${encodeURIComponent(thread)}`, { title }),
  deleteThread: (id: string, thread: string) =>
    del(`/agents/${encodeURIComponent(id)}/threads/${encodeURIComponent(thread)}`),
  restoreThread: (id: string, thread: string) =>
    post<T.Thread>(`/agents/${encodeURIComponent(id)}/threads/${encodeURIComponent(thread)}/restore`),
  newWizardThread: () => post<{ threadId: string; agentId: string }>("/wizard/threads"),
  writeMemory: (id: string, path: string, body: { content: string; reason?: string; base_version?: number }) =>
    put<T.MemoryText>(paths.memoryFile(id, path), body),
  deleteMemory: (id: string, path: string) => del(paths.memoryFile(id, path)),
  restoreMemory: (id: string, path: string, version: number) =>
    post<T.MemoryText>(at`/agents/${id}/memory-restore/${path}`, { version }),
  createSkill: (id: string, draft: T.SkillDraft) => post<T.Skill>(paths.skills(id), draft),
  changeSkill: (id: string, skill: string, draft: Partial<T.SkillDraft>) => put<T.Skill>(paths.skill(id, skill), draft),
  restoreSkill: (id: string, skill: string) => post<{ skill: T.Skill }>(at`/agents/${id}/skills/${skill}/restore`),
  deleteSkill: (id: string, skill: string) => del(paths.skill(id, skill)),
  importSkill: (id: string, file: Blob) =>
    upload<{ skill: T.Skill; warnings: string[] }>(at`/agents/${id}/skills/import`, file),
  cancelRun: (id: string) => post<T.Run>(at`/runs/${id}/cancel`),
  consent: (model: string, policy_version: string) => post<T.Model>(at`/models/${model}/consent`, { policy_version }),
  withdrawConsent: (model: string) => del<T.Model>(at`/models/${model}/consent`),
  revokeGrant: (id: string) => del(at`/grants/${id}`),
  setSecret: (name: string, value: string) => put<void>(at`/secrets/${name}`, { value }),
  testSecret: (name: string) => post<{ ok: boolean; message: string }>(at`/secrets/${name}/test`),
  removeSecret: (name: string) => del(at`/secrets/${name}`),
  connectSlack: (token: string) => post<T.SlackStatus>("/credentials/slack", { token }),
  testSlack: () => post<T.SlackStatus>("/credentials/slack/test"),
  removeSlack: () => del("/credentials/slack"),
  startGoogle: (body: { flow: "device" | "loopback"; client_id?: string; client_secret?: string }) =>
    post<T.GoogleStart>("/credentials/google/start", body),
  removeGoogle: () => del("/credentials/google"),
};
