// How much happened on each of the last days. Loaded after the first look, with runs enough for two weeks.
import { useMemo } from "react";
import { paths } from "../../api/client";
import { useGet } from "../../api/store";
import type { Run } from "../../api/types";
import { plural } from "../../format";
import { Bars } from "../shared/bars";
import { daysKnown, perDay } from "../shared/runs";

const READ = 200;
const DAYS = 14;

export default function Days() {
  const runs = useGet<{ runs: Run[] }>(paths.runs({ limit: READ })).data?.runs;
  const days = useMemo(() => runs && perDay(runs, (run) => run.createdAt, () => 1, daysKnown(runs, READ, DAYS)), [runs]);
  return days ? <Bars title="Runs a day" bars={days} unit={(n) => plural(n, "run")} /> : null;
}
