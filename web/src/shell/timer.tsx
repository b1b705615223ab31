// The clock that runs, or the alarm that comes, in the header of every view.
import { useState } from "react";
import { Bell, Square } from "lucide-react";
import { waking } from "../api/wakes";
import { Link } from "../router";
import { attempt, IconButton, say } from "../ui";
import { write } from "../api/journal";
import { Clock, stopTimer, TaskName, useRunning } from "../views/journal/parts";
import { alarmName, Left, useAlarms, type Alarm } from "../views/shared/alarms";
import { agentPlace } from "../views/shared/place";
import { useRinging } from "./ring";

/** Until the person has said yes or no: rings of the system are theirs to allow. */
function Allow() {
  const [asked, setAsked] = useState(globalThis.Notification?.permission ?? "denied");
  if (asked !== "default") return null;
  return <IconButton label="Ring outside of this window, too" onClick={() => void Notification.requestPermission().then(setAsked)}><Bell size={14} /></IconButton>;
}

function Coming({ alarm, timed }: { alarm: Alarm; timed: boolean }) {
  const end = async (): Promise<void> => {
    const ok = await attempt("Not ended", async () => {
      await waking.removeTimer(alarm.agentId, alarm.id);
      if (timed) await write.stopTimer();
    });
    if (ok) say(timed ? "It is ended; the time is logged." : "It is ended.");
  };
  return (
    <div className="clock" role="group" aria-label={`${alarmName(alarm)}, until it rings`}>
      <Link to={agentPlace(alarm.agentId, alarm.threadId)} className="clock-link"><span className="clock-name cut">{alarm.note || alarmName(alarm)}</span><Left at={alarm.at} /></Link>
      <Allow />
      <IconButton label={`End: ${alarmName(alarm)}`} onClick={() => void end()}><Square size={13} fill="currentColor" /></IconButton>
    </div>
  );
}

export default function RunningTimer() {
  const now = useRunning();
  const alarms = useAlarms();
  useRinging(alarms);
  const [next] = alarms;
  if (next) return <Coming alarm={next} timed={!!now && next.name === "session"} />;
  if (!now) return null;
  const name = now.taskId ? <TaskName id={now.taskId} /> : now.description || "Time";
  return (
    <div className="clock" role="group" aria-label="The clock runs">
      <Link to={now.taskId ? `/journal/tasks/${encodeURIComponent(now.taskId)}` : "/journal/time"} className="clock-link">
        <span className="clock-name cut">{name}</span><Clock since={now.startedAt} />
      </Link>
      <IconButton label="Stop the clock" onClick={() => void stopTimer()}><Square size={13} fill="currentColor" /></IconButton>
    </div>
  );
}
