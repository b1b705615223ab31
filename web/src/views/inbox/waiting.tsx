// What waits for the person, small enough for a conversation.
import type { InboxItem } from "../../api/types";
import { Link } from "../../router";

export function WaitingItem({ item }: { item: InboxItem }) {
  return <div className="card"><Link to={`/inbox/${item.id}`}>{item.title}</Link></div>;
}
