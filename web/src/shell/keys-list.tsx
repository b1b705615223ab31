// What `?` shows: every key that works here.
import { allKeys } from "../keys";
import { Dialog } from "../ui";

const NAMES: Record<string, string> = { Escape: "Esc", ArrowDown: "↓", ArrowUp: "↑" };

export function KeysList({ onClose }: { onClose: () => void }) {
  const groups = new Map<string, { keys: string; label: string }[]>();
  for (const { keys, label, group = "Everywhere" } of allKeys()) {
    const list = groups.get(group) ?? [];
    if (!list.some((entry) => entry.keys === keys)) list.push({ keys, label });
    groups.set(group, list);
  }
  return (
    <Dialog title="Keys" over onClose={onClose}>
      <div className="keys">
        {[...groups].map(([group, list]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {list.map(({ keys, label }) => (
                <div key={keys} className="keys-row">
                  <dt>{keys.split(" ").map((key, i) => <kbd key={i}>{NAMES[key] ?? (key.length === 1 && keys.startsWith("Ctrl") ? key.toUpperCase() : key)}</kbd>)}</dt>
                  <dd>{label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
