// A timer of an agent: simple choices, or the rule itself, and when it would fire next.
import { useEffect, useState } from "react";
import { sentence } from "../../api/client";
import { journal, type Day } from "../../api/journal";
import { useGet } from "../../api/store";
import { waking, type Missed, type Occurrence, type Timer } from "../../api/wakes";
import { useConnection } from "../../shell/connection";
import { attempt, Button, cx, Dialog, Input, say, Select, TextArea } from "../../ui";
import { DAYS, dayName, draft, inWords, rule, whenOf, wrong, type How, type WeekDay, type When } from "./rrule";

const SOON_MS = 250;
const HOWS: { value: How; label: string }[] = [
  { value: "daily", label: "Every day" }, { value: "weekdays", label: "Monday to Friday" }, { value: "weekly", label: "Every week" }, { value: "monthly", label: "Every month" },
  { value: "once", label: "Once" }, { value: "every", label: "Every few minutes or hours" }, { value: "rule", label: "Another rule (RRULE)" },
];
/** Those that the browser knows; a rule may be kept by the clocks of any of them. */
const zones = (): string[] => Intl.supportedValuesOf?.("timeZone") ?? [];
const here = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Another choice keeps what it can of the one before. */
export function turned(when: When, how: How): When {
  const time = "time" in when ? when.time : "07:00";
  switch (how) {
    case "daily": case "weekdays": return { how, time };
    case "weekly": return { how, time, days: when.how === "weekdays" ? DAYS.slice(0, 5) : ["MO"] };
    case "monthly": return { how, time, day: 1 };
    case "once": {
      const soon = new Date(Date.now() + 3_600_000 - new Date().getTimezoneOffset() * 60_000);
      return { how, at: soon.toISOString().slice(0, 16) };
    }
    case "every": return { how, minutes: 60 };
    case "rule": return { how, rule: rule(when) ?? "FREQ=DAILY;BYHOUR=7", start: "" };
  }
}

function useNext(when: When, zone: string): { list: Occurrence[]; error: string } {
  const [next, setNext] = useState<{ list: Occurrence[]; error: string }>({ list: [], error: "" });
  const text = wrong(when) ? null : rule(when);
  const start = when.how === "rule" ? when.start : "";
  const there = useConnection(); // asked again when the server is back
  useEffect(() => {
    if (text === null) return setNext({ list: [], error: "" });
    let late = false;
    const timer = setTimeout(() => {
      waking.occurrences(text, { ...(start ? { start } : {}), ...(zone ? { zone } : {}) }).then(
        ({ occurrences }) => !late && setNext({ list: occurrences, error: "" }),
        (error: unknown) => !late && setNext({ list: [], error: sentence(error) }),
      );
    }, SOON_MS);
    return () => {
      late = true;
      clearTimeout(timer);
    };
  }, [text, start, zone, there]);
  return next;
}
const shown = (one: Occurrence): string => {
  const [day = "", time = ""] = one.local.split("T");
  return `${new Date(`${day}T12:00:00Z`).toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })}, ${time.slice(0, 5)}`;
};

function Fields({ when, onChange }: { when: When; onChange: (when: When) => void }) {
  const time = "time" in when && <Input label="At" type="time" value={when.time} onChange={(event) => onChange({ ...when, time: event.target.value })} />;
  const toggle = (day: WeekDay): void => {
    if (when.how === "weekly") onChange({ ...when, days: when.days.includes(day) ? when.days.filter((one) => one !== day) : [...when.days, day] });
  };
  return (
    <>
      {when.how === "weekly" && (
        <fieldset className="choice">
          <legend className="field-label">On</legend>
          <div className="row days">
            {DAYS.map((day) => (
              <label key={day} className={cx("day-chip", when.days.includes(day) && "day-on")}><input type="checkbox" checked={when.days.includes(day)} aria-label={dayName(day)} onChange={() => toggle(day)} /><span aria-hidden>{dayName(day).slice(0, 2)}</span></label>
            ))}
          </div>
        </fieldset>
      )}
      {when.how === "monthly" && (
        <Select label="On the" value={String(when.day)} onChange={(event) => onChange({ ...when, day: Number(event.target.value) })}>
          {Array.from({ length: 31 }, (_, i) => <option key={i} value={i + 1}>{i + 1}.</option>)}
          <option value="-1">last day</option>
        </Select>
      )}
      {time}
      {when.how === "once" && <Input label="When" type="datetime-local" value={when.at} onChange={(event) => onChange({ ...when, at: event.target.value })} />}
      {when.how === "every" && <Input label="Minutes between" type="number" min={1} step={1} value={String(when.minutes)} onChange={(event) => onChange({ ...when, minutes: Number(event.target.value) })} />}
      {when.how === "rule" && (
        <>
          <Input label="Rule" className="mono" value={when.rule} spellCheck={false} maxLength={500} placeholder="FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=7" hint="As calendars write it (RFC 5545)." onChange={(event) => onChange({ ...when, rule: event.target.value })} />
          <Input label="From" type="datetime-local" value={when.start.slice(0, 16)} onChange={(event) => onChange({ ...when, start: event.target.value })} />
        </>
      )}
    </>
  );
}

export function TimerForm({ agent, timer, onClose }: { agent: string; timer: Timer | null; onClose: () => void }) {
  const [when, setWhen] = useState<When>(timer ? whenOf(timer) : { how: "daily", time: "07:00" });
  // A name that only says when is not one: it follows what is chosen.
  const [name, setName] = useState(timer && timer.name !== inWords(whenOf(timer)) ? timer.name : "");
  const [zone, setZone] = useState(timer?.zone ?? "");
  const [missed, setMissed] = useState<Missed>(timer?.missed ?? "once");
  const [prompt, setPrompt] = useState(timer?.prompt ?? "");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const next = useNext(when, zone);
  const home = useGet<Day>(journal.day("today")).data?.zone;
  const problem = wrong(when);
  const save = async (): Promise<void> => {
    setBusy(true);
    setError("");
    const fields = { ...draft(when), name: name.trim() || inWords(when).slice(0, 80), zone: zone || null, missed, prompt: prompt.trim() };
    try {
      await (timer ? waking.changeTimer(agent, timer.id, fields) : waking.addTimer(agent, fields));
      say(timer ? "The timer is changed." : `It wakes ${inWords(when)}.`);
      onClose();
    } catch (failure) {
      setError(sentence(failure));
    } finally {
      setBusy(false);
    }
  };
  const remove = async (): Promise<void> => {
    if (!timer || !(await attempt("Not removed", () => waking.removeTimer(agent, timer.id)))) return;
    onClose();
    const { name: was, kind, rrule = null, start = null, zone: place = null, intervalSeconds = null, missed: policy, prompt: words, active } = timer;
    say("The timer is removed.", () => waking.addTimer(agent, { name: was, kind, rrule, start, zone: place, intervalSeconds, missed: policy, prompt: words, active }));
  };
  return (
    <Dialog title={timer ? "Timer" : "New timer"} guarded onClose={onClose}
      footer={<>{timer && <Button tone="danger" onClick={() => void remove()}>Remove</Button>}<span className="grow" /><Button onClick={onClose}>Close</Button><Button tone="primary" busy={busy} disabled={!!problem || !!next.error} onClick={() => void save()}>Save</Button></>}>
      <form className="stack" onSubmit={(event) => { event.preventDefault(); if (!problem && !next.error) void save(); }}>
        <Select label="It wakes" value={when.how} data-autofocus onChange={(event) => setWhen(turned(when, event.target.value as How))}>
          {HOWS.map(({ value, label }) => <option key={value} value={value}>{label}</option>)}
        </Select>
        <Fields when={when} onChange={setWhen} />
        <div role="status" className="small">
          {problem || next.error ? <p className="danger">{problem ?? next.error}</p>
            : next.list.length > 0 ? (
              <>
                <p className="muted">Next: {inWords(when)}</p>
                <ol className="next-times">{next.list.map((one) => <li key={one.at} className="number">{shown(one)}{one.clocks && <span className="warn"> ({one.clocks === "gap" ? "clocks skip this hour: the next minute" : "clocks show this twice: the first"})</span>}</li>)}</ol>
              </>
            ) : <p className="muted">{inWords(when)}</p>}
        </div>
        <TextArea label="What it is told" rows={3} value={prompt} placeholder="Plan my day." hint="It reads this when it wakes." onChange={(event) => setPrompt(event.target.value)} />
        <Select label="When it was asleep or the machine was off" value={missed} onChange={(event) => setMissed(event.target.value as Missed)}>
          <option value="once">catch up once</option>
          <option value="skip">skip what was missed</option>
          <option value="all">catch up on each time</option>
        </Select>
        <Select label="Clocks of" value={zone} onChange={(event) => setZone(event.target.value)}>
          <option value="">where Dormouse runs{home ? ` (${home})` : ""}</option>
          {[...new Set([here(), "UTC", zone, ...zones()].filter(Boolean))].map((one) => <option key={one} value={one}>{one}</option>)}
        </Select>
        <Input label="Name" value={name} maxLength={80} placeholder={inWords(when)} onChange={(event) => setName(event.target.value)} />
        {error && <p className="danger" role="alert">{error}</p>}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
