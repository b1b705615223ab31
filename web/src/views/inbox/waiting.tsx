// What waits for the person, in the middle of a conversation: the item whole, to be decided here.
import type { InboxItem } from "../../api/types";
import { ItemDetail } from "./detail";
import { summary } from "./words";
import "./inbox.css";

export function WaitingItem({ item, name }: { item: InboxItem; name: string }) {
  return (
    <div className="waiting-item">
      <h2 className="visually-hidden">{name} {item.kind === "question" ? "asks you" : summary(item)}</h2>
      <ItemDetail item={item} compact />
    </div>
  );
}
