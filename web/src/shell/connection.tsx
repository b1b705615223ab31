// Whether the server is there; said only when it is not.
import { useSyncExternalStore } from "react";
import { activity } from "../api/activity";
import { Button } from "../ui";

export const useConnection = () => useSyncExternalStore(activity.subscribe, () => activity.state);

export function OfflineBanner() {
  if (useConnection() !== "offline") return null;
  return (
    <div className="banner banner-warn" role="status">
      <span><strong>The server does not answer.</strong> What you see may be old; it is tried again by itself.</span>
      <Button small onClick={() => activity.now()}>Try now</Button>
    </div>
  );
}
