// Words in the whole journal: tasks, checklists, times, notes, days.
import { useEffect, useState } from "react";
import { Search as SearchIcon } from "lucide-react";
import { paths } from "../../api/client";
import { useGet } from "../../api/store";
import type { SearchResult } from "../../api/types";
import { Link, setQuery, useQuery } from "../../router";
import { Empty, Input, Shown, Time } from "../../ui";
import { resultPath } from "../shared/place";

const SOON_MS = 200;
const KINDS: Partial<Record<SearchResult["kind"], string>> = {
  task: "task", checklist: "checklist", checklistItem: "item of a checklist", timeEntry: "logged time", dayPlan: "day", entry: "entry",
};

export default function Search() {
  const asked = useQuery().get("q") ?? "";
  const [typed, setTyped] = useState(asked);
  useEffect(() => {
    if (typed.trim() === asked) return;
    const timer = setTimeout(() => setQuery("q", typed.trim() || null), SOON_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const read = useGet<{ results: SearchResult[] }>(asked ? paths.search(asked, { scope: "journal", limit: 100 }) : null);
  return (
    <section aria-label="Search" className="stack journal-wide">
      <Input label="Words in the journal" type="search" value={typed} autoFocus placeholder="fence, leg day, tax" onChange={(event) => setTyped(event.target.value)} />
      {asked && (
        <Shown of={read} what="what was found" lines={5}>
          {({ results }) => results.length === 0 ? <Empty icon={<SearchIcon size={28} />} title="Nothing found">Other words, or fewer of them, may find more.</Empty> : (
            <ul className="entry-list">
              {results.map((result, i) => (
                <li key={i}>
                  <Link to={resultPath(result)} className="entry-row found-row">
                    <span className="muted small">{result.at && <Time at={result.at} />}</span>
                    <span className="entry-text"><strong className="cut">{result.title || result.snippet}</strong>{result.title && <span className="muted small cut">{result.snippet}</span>}</span>
                    <span className="muted small">{KINDS[result.kind] ?? result.kind}</span>
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </Shown>
      )}
    </section>
  );
}
