// A person's word on an item: sent once, told to everyone, with the way back where there is one.
import { act, ApiError, get, paths, sentence } from "../../api/client";
import { store } from "../../api/store";
import type { DecisionRequest, InboxItem, MemoryVersion } from "../../api/types";
import { attempt, say } from "../../ui";
import { memoryOf } from "./words";

const SAID: Record<DecisionRequest["decision"], string> = {
  approve: "Approved.", edit: "Approved with your changes.", reject: "Rejected.", answer: "Answered.",
};

/** Back to what the file was before. */
async function undoMemory(agent: string, path: string): Promise<void> {
  const { versions } = await get<{ versions: MemoryVersion[] }>(paths.memoryHistory(agent, path));
  const before = versions[1];
  if (before && !before.deleted) await act.restoreMemory(agent, path, before.version);
  else await act.deleteMemory(agent, path);
  store.invalidate(paths.memory(agent));
  say(`${path} is as it was before.`);
}

/** true when it is decided, false when it could not be; or what is dangerous about what was written instead. */
export async function decide(item: InboxItem, request: DecisionRequest): Promise<boolean | string> {
  let first = true; // another client may have been quicker
  let danger = "";
  const done = await attempt("Not decided", async () => {
    const answer = await act.decide(item.id, request).catch((error: unknown) => {
      if (request.decision !== "edit" || !(error instanceof ApiError) || error.code !== "confirmation_required") throw error;
      danger = sentence(error);
    });
    if (!answer) return;
    const { item: now, applied } = answer;
    first = applied;
    store.put<{ items: InboxItem[] }>(paths.inbox, (old) => old && { ...old, items: old.items.filter(({ id }) => id !== item.id) });
    store.put<InboxItem>(paths.item(item.id), () => now);
  });
  store.invalidate("/inbox", "/agents", "/runs");
  if (!done) return false;
  if (danger) return danger;
  if (!first) {
    say("This was decided before, in another window or on the command line.");
    return true;
  }
  const memory = memoryOf(item);
  const kept = request.decision === "approve" || request.decision === "edit";
  if (memory && kept && item.agentId) {
    const agent = item.agentId;
    say(memory.operation === "delete" ? `${memory.path} is deleted.` : `Kept in ${memory.path}.`, () => undoMemory(agent, memory.path));
  } else {
    say(item.kind === "escalated" ? "Seen." : SAID[request.decision]);
  }
  return true;
}
