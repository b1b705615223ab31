// A session of work with an agent that keeps one: what is left of it, and the few words that it understands.
import { exact } from "../../format";
import { Button } from "../../ui";
import { alarmName, Left, useAlarms } from "../shared/alarms";

export default function Session({ agentId, busy, send }: { agentId: string; busy: boolean; send: (text: string) => void }) {
  const [alarm] = useAlarms(agentId);
  const works = alarm?.name === "session";
  return (
    <div className="session" role="group" aria-label="Session">
      {alarm ? <><span className="grow cut">{alarmName(alarm)}</span> <span className="session-left" title={`Rings ${exact(alarm.at)}`}><strong><Left at={alarm.at} /></strong> left</span></> : <span className="grow muted">No session is under way.</span>}
      {!works && <Button small disabled={busy} onClick={() => send("start a pomodoro")}>Start 25 minutes</Button>}
      {works && <Button small disabled={busy} onClick={() => send("break")}>Break</Button>}
      {alarm && <Button small disabled={busy} onClick={() => send("stop")}>Stop</Button>}
    </div>
  );
}
