// Ratings over time: a line for each dimension, the same as a table.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Star } from "lucide-react";
import { journal, type Rating, type RatingSummary } from "../../api/journal";
import { useGet } from "../../api/store";
import { words } from "../../format";
import { go, setQuery, useQuery } from "../../router";
import { Button, Choice, Empty, Shown } from "../../ui";
import { usePages } from "./pages";
import { lines, ticks, type Line } from "./chart-model";
import { addDays, daysBetween, dayWord, today } from "./words";

const WIDE = 720; // until it is measured
const TICK = 110;
const HIGH = 220;
const LEFT = 28;
const BELOW = 24;
const MARKS = ["circle", "square", "triangle", "diamond"] as const;

/** A shape besides the colour: nobody needs to see colours to tell the lines apart. */
function Mark({ x, y, kind }: { x: number; y: number; kind: number }) {
  switch (MARKS[kind % MARKS.length]) {
    case "square": return <rect className="chart-dot" x={x - 4} y={y - 4} width={8} height={8} />;
    case "triangle": return <path className="chart-dot" d={`M${x} ${y - 5}L${x + 5} ${y + 4}L${x - 5} ${y + 4}Z`} />;
    case "diamond": return <path className="chart-dot" d={`M${x} ${y - 6}L${x + 5} ${y}L${x} ${y + 6}L${x - 5} ${y}Z`} />;
    default: return <circle className="chart-dot" cx={x} cy={y} r={4} />;
  }
}

/** As wide as there is room: a drawing that is scaled down has letters that nobody can read. */
function useWidth() {
  const box = useRef<SVGSVGElement>(null);
  const [wide, setWide] = useState(WIDE);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWide(Math.round(entry?.contentRect.width || WIDE)));
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return { box, wide };
}

function Chart({ all, from, to }: { all: Line[]; from: string; to: string }) {
  const { box, wide } = useWidth();
  const days = Math.max(1, daysBetween(from, to));
  const x = (day: string): number => LEFT + 8 + (daysBetween(from, day) / days) * (wide - LEFT - 16);
  const y = (value: number): number => 8 + ((5 - value) / 4) * (HIGH - BELOW - 16);
  return (
    <figure className="chart stack-tight">
      <svg ref={box} viewBox={`0 0 ${wide} ${HIGH}`} role="img" aria-label={`Ratings from ${dayWord(from)} to ${dayWord(to)}; the table below has the numbers`}>
        {[1, 2, 3, 4, 5].map((value) => (
          <g key={value}><line className="chart-grid" x1={LEFT} x2={wide} y1={y(value)} y2={y(value)} /><text className="chart-text" x={LEFT - 10} y={y(value) + 4} textAnchor="end">{value}</text></g>
        ))}
        {ticks(from, to, Math.max(2, Math.floor(wide / TICK))).map((day, i, list) => (
          <text key={day} className="chart-text" x={x(day)} y={HIGH - 4} textAnchor={i === list.length - 1 ? "end" : day === from ? "start" : "middle"}>{dayWord(day)}</text>
        ))}
        {all.map((line, i) => (
          <g key={line.dimension} className={`line-${i % 5}`}>
            <polyline className="chart-line" points={line.points.map((point) => `${x(point.day)},${y(point.mean)}`).join(" ")} />
            {line.points.map((point) => <g key={point.day}><title>{`${words(line.dimension)}, ${dayWord(point.day)}: ${point.mean.toFixed(1)}`}</title><Mark x={x(point.day)} y={y(point.mean)} kind={i} /></g>)}
          </g>
        ))}
      </svg>
      <figcaption>
        <ul className="legend small">
          {all.map((line, i) => <li key={line.dimension} className={`line-${i % 5}`}><svg width={14} height={14} aria-hidden><Mark x={7} y={7} kind={i} /></svg><span className="legend-name">{words(line.dimension)}</span></li>)}
        </ul>
      </figcaption>
    </figure>
  );
}

function Numbers({ all }: { all: Line[] }) {
  const days = [...new Set(all.flatMap((line) => line.points.map((point) => point.day)))].sort().reverse();
  return (
    <div className="table-scroll" tabIndex={0} role="group" aria-label="Ratings by day">
      <table className="table">
        <thead><tr><th scope="col">Day</th>{all.map((line) => <th key={line.dimension} scope="col" className="right">{words(line.dimension)}</th>)}</tr></thead>
        <tbody>
          {days.map((day) => (
            <tr key={day}><th scope="row">{dayWord(day)}</th>{all.map((line) => <td key={line.dimension} className="right">{line.points.find((point) => point.day === day)?.mean.toFixed(1) ?? ""}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const SPANS = [{ value: "14", label: "2 weeks" }, { value: "90", label: "3 months" }, { value: "365", label: "A year" }] as const;
export default function Ratings() {
  const asked = useQuery().get("days");
  const span = SPANS.find((one) => one.value === asked)?.value ?? "14";
  const to = today();
  const from = addDays(to, 1 - Number(span));
  const read = usePages<Rating>((after) => journal.list("ratings", { from, to, after, limit: 1000 }));
  useEffect(() => {
    if (read.more && !read.loading) read.next(); // a year may have more than one page
  }, [read.more, read.loading, read.items.length]);
  const summary = useGet<{ items: RatingSummary[] }>(journal.summary(from, to));
  const [table, setTable] = useState(false);
  const all = useMemo(() => lines(read.items, from, to), [read.items, from, to]);
  return (
    <section aria-labelledby="ratings" className="stack journal-wide">
      <div className="row row-between">
        <h2 id="ratings">Ratings</h2>
        <div className="row">
          <Choice label="How far back" hideLabel value={span} options={SPANS} onChange={(days) => setQuery("days", days === "14" ? null : days)} />
          <Choice label="Shown as" hideLabel value={table ? "table" : "chart"} options={[{ value: "chart", label: "Chart" }, { value: "table", label: "Table" }]} onChange={(how) => setTable(how === "table")} />
        </div>
      </div>
      <Shown of={read} what="ratings" lines={6}>
        {() => all.length === 0 ? (
          <Empty icon={<Star size={28} />} title="Nothing rated yet" action={<Button tone="primary" onClick={() => go("/journal/day")}>Rate today</Button>}>A number from 1 to 5 a day is enough to see where things go.</Empty>
        ) : (
          <>
            {table ? <Numbers all={all} /> : <Chart all={all} from={from} to={to} />}
            {summary.data && summary.data.items.length > 0 && (
              <div className="table-scroll" tabIndex={0} role="group" aria-label="Each dimension in this time">
                <table className="table">
                  <caption className="visually-hidden">Each dimension in this time</caption>
                  <thead><tr><th scope="col">Dimension</th><th scope="col" className="right">Mean</th><th scope="col" className="right">Lowest</th><th scope="col" className="right">Highest</th><th scope="col" className="right">Ratings</th></tr></thead>
                  <tbody>
                    {summary.data.items.map((one) => (
                      <tr key={one.dimension}><th scope="row">{words(one.dimension)}</th><td className="right">{one.mean.toFixed(1)}</td><td className="right">{one.lowest}</td><td className="right">{one.highest}</td><td className="right">{one.count}</td></tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </>
        )}
      </Shown>
    </section>
  );
}
