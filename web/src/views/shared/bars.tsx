// A small bar chart: a number a day. Its numbers are there as a table for those who can't see it.
import "./shared.css";

interface Bar {
  label: string;
  value: number;
  note?: string;
}
export function Bars({ bars, title, unit, height = 56 }: { bars: Bar[]; title: string; unit: (n: number) => string; height?: number }) {
  const most = Math.max(1, ...bars.map((bar) => bar.value));
  const step = 100 / Math.max(1, bars.length);
  // One day alone is a block, not a picture: the words beside it say as much.
  if (bars.filter((bar) => bar.value > 0).length < 2) return null;
  return (
    <figure className="bars">
      <figcaption className="small muted">{title}<span className="number bars-most">most {unit(most)}</span></figcaption>
      <svg viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" aria-hidden width="100%" height={height}>
        {bars.map((bar, i) => {
          const tall = bar.value === 0 ? 1 : Math.max(3, (bar.value / most) * (height - 2));
          return (
            <rect key={i} x={i * step + step * 0.15} width={step * 0.7} y={height - tall} height={tall} className={bar.value ? "bar" : "bar bar-none"}>
              <title>{`${bar.label}: ${bar.note ?? unit(bar.value)}`}</title>
            </rect>
          );
        })}
      </svg>
      <div className="bars-ends small muted" aria-hidden><span>{bars[0]?.label}</span><span>{bars[bars.length - 1]?.label}</span></div>
      <table className="visually-hidden">
        <caption>{title}</caption>
        <tbody>{bars.map((bar, i) => <tr key={i}><th scope="row">{bar.label}</th><td>{unit(bar.value)}</td></tr>)}</tbody>
      </table>
    </figure>
  );
}
