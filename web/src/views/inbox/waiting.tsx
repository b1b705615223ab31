// What waits for the person, in the middle of a conversation: the item whole, to be decided here.
import type { InboxItem } from "../../api/types";
import { ItemDetail } from "./detail";
import { summary } from "./words";
import "./inbox.css";

/** keys: whether a, e, r mean this one. */
export function WaitingItem({ item, name, keys }: { item: InboxItem; name: string; keys: boolean }) {
  return (
    <div className="waiting-item" tabIndex={-1}>
      <h2 className="visually-hidden">{name} {item.kind === "question" ? "asks you" : summary(item)}</h2>
      <ItemDetail item={item} compact keys={keys} />
    </div>
  );
}
