// This browser has no cookie (any more): how to get one.
import icon from "../icon.svg";
import { Button } from "../ui";
import "../ui/letter.css";

export function LoggedOut() {
  return (
    <main className="letter">
      <img src={icon} alt="" width="48" height="48" />
      <h1>This browser is not logged in</h1>
      <p>Only you may speak with your agents, so the page opens with a one-time link. The server prints it when it starts:</p>
      <p><code className="command">dormouse serve --open</code></p>
      <p>While it runs, ask it for another link and open it here:</p>
      <p><code className="command">curl -X POST --unix-socket DATA/dormouse.sock http://dormouse/api/v1/login-codes</code></p>
      <p className="muted">The link is good once and for an hour. This browser then stays logged in for 30 days.</p>
      <Button onClick={() => location.reload()}>I have opened the link: reload</Button>
    </main>
  );
}
