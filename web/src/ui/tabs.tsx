// Tabs with arrow keys; the panel is whatever the caller shows.
import { useId, type KeyboardEvent, type ReactNode } from "react";
import { cx } from "./cx";
import { useHere } from "./here";

export interface Tab<K extends string> {
  key: K;
  label: ReactNode;
  count?: number;
}
export function Tabs<K extends string>({ label, tabs, value, onChange, children, className }: {
  label: string; tabs: readonly Tab<K>[]; value: K; onChange: (key: K) => void; children: ReactNode; className?: string;
}) {
  const id = useId();
  const list = useHere<HTMLDivElement>(value);
  const key = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const to = event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1 : -1;
    if (!step && to < 0) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.key === value);
    const next = tabs[to >= 0 ? to : (at + step + tabs.length) % tabs.length];
    if (!next) return;
    onChange(next.key);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.key}"]`)?.focus();
  };
  return (
    <div className={cx("tabs", className)}>
      <div ref={list} role="tablist" aria-label={label} className="tab-list" onKeyDown={key}>
        {tabs.map((tab) => (
          <button key={tab.key} type="button" role="tab" id={`${id}-${tab.key}`} data-tab={tab.key}
            aria-selected={tab.key === value} aria-controls={`${id}-panel`} tabIndex={tab.key === value ? 0 : -1}
            className={cx("tab", tab.key === value && "tab-on")} onClick={() => onChange(tab.key)}>
            {tab.label}{tab.count ? <span className="tab-count">{tab.count}</span> : null}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`} className="tab-panel" tabIndex={-1}
        data-quiet-focus>
        {children}
      </div>
    </div>
  );
}
