import type { ListedEvent } from "../../../dashboard/types/calendar.ts";
import { wallTime } from "../../../dashboard/types/wall-time.ts";
import { timeZone } from "../../text.ts";
import { dayName, shortDay, statusName, typeName } from "./texts.ts";

/** An event in one line; `isWhole` adds its day, its type and its state. */
export function EventLine({ event, isWhole = false }: { event: ListedEvent; isWhole?: boolean }) {
  const [start, end] = [event.start_at, event.end_at].map((at) => wallTime(Date.parse(at), timeZone.value));
  const facts = [
    event.patient?.name,
    event.assigned_user,
    ...(isWhole ? [typeName(event.type), statusName(event.status)] : []),
  ];
  return (
    <>
      {isWhole && `${dayName(start?.date ?? "")}, `}
      {start?.time}–{end !== undefined && start?.date !== end.date && `${shortDay(end.date)} `}
      {end?.time} <strong>{event.title}</strong>
      <span class="quiet">{facts.filter(Boolean).map((fact) => ` · ${fact}`)}</span>
    </>
  );
}
