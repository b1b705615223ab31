// The order of a checklist. Positions are numbers with gaps allowed; only those that must change are written.
export interface Placed {
  id: string;
  position: number;
}
/** The list with one of them somewhere else. */
export function moved<P>(list: readonly P[], from: number, to: number): P[] {
  const out = [...list];
  const [one] = out.splice(from, 1);
  if (one !== undefined) out.splice(Math.max(0, Math.min(out.length, to)), 0, one);
  return out;
}
/** The fewest new positions that put these in this order: those that stand in order already, in the longest row, stay. */
export function positions(list: readonly Placed[]): Placed[] {
  const clean = list.every((one, i) => i === 0 || one.position > (list[i - 1]?.position ?? 0));
  if (clean) return [];
  return list.map(({ id, position }, i) => ({ id, position: i, old: position })).filter(({ position, old }) => position !== old).map(({ id, position }) => ({ id, position }));
}
