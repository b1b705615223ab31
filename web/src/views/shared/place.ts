// Where an agent and its conversations are shown. The wizard is an agent with a view of its own.
export const WIZARD = "system:builder-wizard";

export function agentPlace(agent: string, thread?: string | null): string {
  const base = agent === WIZARD ? "/wizard" : `/agents/${encodeURIComponent(agent)}`;
  return thread ? `${base}/${encodeURIComponent(thread)}` : base;
}
