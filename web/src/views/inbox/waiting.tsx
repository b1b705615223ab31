// What waits for the person, where it came up: in the conversation.
import type { InboxItem } from "../../api/types";
import { ItemDetail } from "./detail";
import "./inbox.css";

/** The keys a, e and r mean it while nothing is being typed; of several, the first. */
export function WaitingItem({ item, first }: { item: InboxItem; first?: boolean }) {
  return <ItemDetail item={item} compact keys={first ?? false} />;
}
