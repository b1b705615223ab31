// Rings when an alarm is over: in the page, in its title, as a sound, and as a notification of the system where
// the person allowed that. Of several windows one makes the noise.
import { useEffect, useRef } from "react";
import { go } from "../router";
import { say } from "../ui";
import { alarmName, left, type Alarm } from "../views/shared/alarms";
import { agentPlace } from "../views/shared/place";

const PREFIX = /^\([^)]*\) /;
const OLD_MS = 12 * 3_600_000; // rung that long ago is not remembered
const put = (prefix: string): void => {
  const title = document.title.replace(PREFIX, "");
  document.title = prefix ? `(${prefix}) ${title}` : title;
};

/** True for one window only. */
function first(key: string): boolean {
  try {
    const rung = JSON.parse(localStorage.getItem("rung") ?? "{}") as Record<string, number>;
    if (rung[key]) return false;
    const kept = Object.entries(rung).filter(([, at]) => Date.now() - at < OLD_MS);
    localStorage.setItem("rung", JSON.stringify({ ...Object.fromEntries(kept), [key]: Date.now() }));
  } catch {
    // Then every window rings.
  }
  return true;
}
/** Two notes; silent where the browser wants a hand on the page first. */
function sound(): void {
  try {
    const audio = new AudioContext();
    for (const [i, pitch] of [659, 880].entries()) {
      const note = audio.createOscillator();
      const volume = audio.createGain();
      const begin = audio.currentTime + i * 0.25;
      note.frequency.value = pitch;
      volume.gain.setValueAtTime(0.2, begin);
      volume.gain.exponentialRampToValueAtTime(0.001, begin + 0.6);
      note.connect(volume).connect(audio.destination);
      note.start(begin);
      note.stop(begin + 0.6);
    }
    setTimeout(() => void audio.close(), 2000);
  } catch {
    // The words are there.
  }
}
function ring(alarm: Alarm): void {
  const words = `${alarmName(alarm)} is over.`;
  const open = (): void => go(agentPlace(alarm.agentId, alarm.threadId));
  say(words, open, "Open");
  put("rings");
  const calm = (): void => {
    put("");
    for (const type of ["focus", "pointerdown", "keydown"]) removeEventListener(type, calm);
  };
  for (const type of ["focus", "pointerdown", "keydown"]) addEventListener(type, calm);
  if (!first(`${alarm.id} ${alarm.at}`)) return;
  sound();
  if (globalThis.Notification?.permission !== "granted") return;
  try {
    const note = new Notification(words, { tag: alarm.id });
    note.onclick = () => {
      window.focus();
      open();
    };
  } catch {
    // Some browsers want a worker for this.
  }
}

/** Looks every second: the title counts, and what is over rings once. */
export function useRinging(alarms: readonly Alarm[]): void {
  const waits = useRef(new Map<string, Alarm>());
  const now = useRef(alarms);
  now.current = alarms;
  useEffect(() => {
    const look = (): void => {
      for (const alarm of now.current) if (alarm.at > Date.now()) waits.current.set(alarm.id, alarm);
      for (const [id, alarm] of waits.current) {
        const here = now.current.some((one) => one.id === id && one.at === alarm.at);
        const over = alarm.at <= Date.now();
        if (over) ring(alarm);
        if (over || !here) waits.current.delete(id); // taken back: no ring
      }
      const [next] = now.current;
      if (next && next.at > Date.now()) put(left(next.at));
      else if (!/^\(rings\)/.test(document.title)) put("");
    };
    look();
    const timer = setInterval(look, 1000);
    return () => {
      clearInterval(timer);
      put("");
    };
  }, []);
}
