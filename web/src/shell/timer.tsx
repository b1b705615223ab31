// The clock that runs, in the header of every view.
import { Square } from "lucide-react";
import { Link } from "../router";
import { IconButton } from "../ui";
import { Clock, stopTimer, TaskName, useRunning } from "../views/journal/parts";

export default function RunningTimer() {
  const now = useRunning();
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
