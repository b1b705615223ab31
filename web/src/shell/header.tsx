// The bar above every view: where to go, what waits, search, and the switch that stops everything.
import { Suspense } from "react";
import { lately } from "../ui/lately";
import { useLater } from "../ui/later";
import { Bot, House, Inbox, NotebookPen, Plus, Search, Settings, SquareActivity } from "lucide-react";
import { useGet } from "../api/store";
import { paths } from "../api/client";
import type { InboxItem } from "../api/types";
import { Link, usePath } from "../router";
import { cx } from "../ui";
import icon from "../icon.svg";
import { StopAll } from "./stop";

const VIEWS = [
  { to: "/", label: "Home", Icon: House },
  { to: "/inbox", label: "Inbox", Icon: Inbox },
  { to: "/agents", label: "Agents", Icon: Bot },
  { to: "/journal", label: "Journal", Icon: NotebookPen },
  { to: "/runs", label: "Runs", Icon: SquareActivity },
  { to: "/settings", label: "Settings", Icon: Settings },
] as const;

const RunningTimer = lately(() => import("./timer"));
/** After the first look: a clock that runs may appear a moment later. */
function LaterTimer() {
  return useLater() ? <Suspense fallback={null}><RunningTimer /></Suspense> : null;
}

export const usePending = (): InboxItem[] | undefined => useGet<{ items: InboxItem[] }>(paths.inbox).data?.items;

export function Header({ onSearch }: { onSearch: () => void }) {
  const path = usePath();
  const waiting = usePending()?.length ?? 0;
  return (
    <header className="header">
      <Link to="/" className="brand" aria-label="Dormouse, home"><img src={icon} alt="" width="24" height="24" /><span>dormouse</span></Link>
      <nav className="nav" aria-label="Views">
        {VIEWS.map(({ to, label, Icon }) => {
          const here = to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`);
          const count = to === "/inbox" ? waiting : 0;
          return (
            <Link key={to} to={to} className={cx("nav-link", here && "nav-here")} title={label} aria-current={here ? "page" : undefined}>
              <Icon size={17} aria-hidden />
              <span>{label}</span>
              {count > 0 && <span className="nav-count">{count}<span className="visually-hidden"> waiting for you</span></span>}
            </Link>
          );
        })}
      </nav>
      <div className="header-tools">
        <LaterTimer />
        <Link to="/wizard" className="nav-link nav-new" aria-label="New agent"><Plus size={17} aria-hidden /><span>New agent</span></Link>
        <button type="button" className="search-button" onClick={onSearch} aria-label="Search" aria-keyshortcuts="Control+K">
          <Search size={16} aria-hidden /><span>Search</span><kbd aria-hidden>Ctrl K</kbd>
        </button>
        <StopAll />
      </div>
    </header>
  );
}
