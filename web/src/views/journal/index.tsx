// The journal: its parts, each with its own address, under one bar.
import { Suspense, useState, type ComponentType } from "react";
import { journal, type Day } from "../../api/journal";
import { useGet } from "../../api/store";
import { lately } from "../../ui/lately";
import { ArrowLeftRight } from "lucide-react";
import { useKeys } from "../../keys";
import { go, Link, usePath, type Params } from "../../router";
import { Button, cx, Empty, Skeleton, useHere } from "../../ui";
import { TaskView } from "./task";
import { Tasks } from "./tasks";
import { browserZone, sameClocks, setZone } from "./words";
import "./journal.css";

const part = (load: () => Promise<{ default: ComponentType<{ params: Params }> }>) => lately(load);
const PARTS: { key: string; label: string; keys: string; View: ComponentType<{ params: Params }> }[] = [
  { key: "tasks", label: "Tasks", keys: "g t", View: Tasks },
  { key: "day", label: "Day", keys: "g d", View: part(() => import("./day")) },
  { key: "time", label: "Time log", keys: "g l", View: part(() => import("./time")) },
  { key: "ratings", label: "Ratings", keys: "g m", View: part(() => import("./ratings")) },
  { key: "entries", label: "Entries", keys: "g e", View: part(() => import("./entries")) },
  { key: "categories", label: "Categories", keys: "g k", View: part(() => import("./categories")) },
  { key: "search", label: "Search", keys: "g f", View: part(() => import("./search")) },
];
const Transfer = lately(() => import("./transfer"));
const TRANSFERS = ["import", "export"] as const;
const place = (key: string): string => (key === "tasks" ? "/journal" : `/journal/${key}`);

export default function Journal({ params }: { params: Params }) {
  const asked = params["part"] ?? "tasks";
  const transfer = TRANSFERS.find((key) => key === asked); // a dialog over the tasks, with an address
  const name = transfer ? "tasks" : asked;
  const here = PARTS.find(({ key }) => key === name);
  const [moving, setMoving] = useState(false);
  const moved = (): void => {
    setMoving(false);
    if (transfer) go("/journal", true);
  };
  const path = usePath();
  const bar = useHere<HTMLElement>(name);
  const day = useGet<Day>(journal.day("today"));
  const zone = day.data?.zone;
  const settled = day.data !== undefined || !!day.error; // a view that began with other clocks would have to begin anew, and lose what is typed
  setZone(zone);
  const away = zone !== undefined && !sameClocks(zone, browserZone());
  useKeys(PARTS.map(({ key, label, keys }) => ({ keys, label, group: "Journal", run: () => go(place(key)) })));
  if (!here) return <div className="page"><h1 className="visually-hidden">Journal</h1><Empty title="There is no such part of the journal" action={<Link to="/journal" className="button button-plain">The tasks</Link>} /></div>;
  const View = name === "tasks" && params["id"] ? TaskView : here.View;
  return (
    <div className="page journal">
      <div className="journal-head">
        <h1>Journal</h1>
        <nav ref={bar} aria-label="Journal" className="journal-nav">
          {PARTS.map(({ key, label }) => (
            <Link key={key} to={place(key)} className={cx("journal-link", key === here.key && "journal-here")} aria-current={path === place(key) ? "page" : key === here.key ? "true" : undefined}>{label}</Link>
          ))}
        </nav>
        <Button small icon={<ArrowLeftRight size={15} aria-hidden />} onClick={() => setMoving(true)} aria-haspopup="dialog"><span className="button-label">Import or export</span></Button>
      </div>
      {away && <p className="muted small journal-zone" role="note">Days and times of {zone}, where Dormouse runs; this browser is in {browserZone()}.</p>}
      {settled ? <Suspense fallback={<Skeleton lines={8} />}><View key={away ? zone : ""} params={params} /></Suspense> : <Skeleton lines={8} />}
      {(moving || transfer) && <Suspense fallback={null}><Transfer begin={transfer} onClose={moved} /></Suspense>}
    </div>
  );
}
