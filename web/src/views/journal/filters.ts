// What the list of tasks shows, as it stands in the address and as the server is asked.
import { journal, type Status } from "../../api/journal";
import { addDays, STATUSES } from "./words";

export const SHOWS = ["open", "closed", "all"] as const;
export const DUES = ["", "late", "today", "week"] as const;
export const ORDERS = ["due", "priority", "updated"] as const;
export interface Filters {
  show: (typeof SHOWS)[number];
  status: Status | "";
  category: string;
  label: string;
  due: (typeof DUES)[number];
  text: string;
  order: (typeof ORDERS)[number];
}
export const ALL: Filters = { show: "open", status: "", category: "", label: "", due: "", text: "", order: "due" };

const oneOf = <V extends string>(list: readonly V[], text: string | null, or: V): V => list.find((one) => one === text) ?? or;

/** What is not understood is as if it were not there. */
export function read(search: URLSearchParams): Filters {
  return {
    show: oneOf(SHOWS, search.get("show"), ALL.show),
    status: oneOf<Status | "">(STATUSES, search.get("status"), ""),
    category: search.get("category") ?? "",
    label: search.get("label") ?? "",
    due: oneOf(DUES, search.get("due"), ""),
    text: search.get("q") ?? "",
    order: oneOf(ORDERS, search.get("order"), ALL.order),
  };
}
/** Only what differs from the plain list: a short address, the same for the same list. */
export function address(filters: Filters): string {
  const search = new URLSearchParams();
  for (const name of Object.keys(ALL) as (keyof Filters)[])
    if (filters[name] !== ALL[name]) search.set(name === "text" ? "q" : name, filters[name]);
  const text = search.toString();
  return "/journal" + (text ? `?${text}` : "");
}
export const narrowed = (filters: Filters): boolean => address({ ...filters, order: ALL.order }) !== "/journal";

const PAGE = 100;
export function tasksPath(filters: Filters, today: string, after?: string): string {
  const days: Record<Filters["due"], [string?, string?]> = {
    "": [], late: [undefined, addDays(today, -1)], today: [today, today], week: [today, addDays(today, 6)],
  };
  const [dueFrom, dueTo] = days[filters.due];
  const closed = filters.status ? "any" : { open: "false", closed: "true", all: "any" }[filters.show];
  return journal.list("tasks", {
    status: filters.status, closed, categoryId: filters.category, labelId: filters.label,
    dueFrom, dueTo, q: filters.text.trim(), order: filters.order, after, limit: PAGE,
  });
}
