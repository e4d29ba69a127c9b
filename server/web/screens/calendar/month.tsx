import type { ListedEvent } from "../../../dashboard/types/calendar.ts";
import { timeZone } from "../../text.ts";
import { dayName, monthName, t, weekdayName } from "./texts.ts";
import { partOfDay, spanOf } from "./times.ts";

const TITLES_MAX = 3;

/** The days by which an arrow key moves the focus. */
const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

/** The events of a month, by day. Each day leads to its own view, and arrow keys move between days. */
export function Month({
  days,
  month,
  today,
  events,
}: {
  /** Whole weeks. */
  days: readonly string[];
  /** The month such as `2026-11`. */
  month: string;
  today: string;
  events: readonly ListedEvent[];
}) {
  const byDay = new Map(days.map((day): [string, ListedEvent[]] => [day, []]));
  for (const event of events) {
    if (event.status === "CANCELLED") continue;
    for (const [day, ofDay] of byDay) if (partOfDay(spanOf(event), day, timeZone.value) !== null) ofDay.push(event);
  }
  const weeks = Array.from({ length: days.length / 7 }, (_, week) => days.slice(week * 7, week * 7 + 7));
  return (
    <section aria-labelledby="calendar-month">
      <h2 id="calendar-month">{monthName(month)}</h2>
      <table class="calendar-month" aria-labelledby="calendar-month">
        <thead>
          <tr>
            {weeks[0]?.map((day) => (
              <th key={day} scope="col">
                {weekdayName(day)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td key={day} class={day.startsWith(month) ? undefined : "calendar-other"}>
                  <Day day={day} isToday={day === today} events={byDay.get(day) ?? []} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Day({ day, isToday, events }: { day: string; isToday: boolean; events: readonly ListedEvent[] }) {
  const first = events.slice(0, TITLES_MAX);
  const count = events.length;
  return (
    <a
      href={`/dashboard/calendar?view=day&day=${day}`}
      aria-current={isToday ? "date" : undefined}
      onKeyDown={moveFocus}
    >
      <span class="calendar-date">
        <span aria-hidden="true">{Number(day.slice(8))}</span>
        <span class="visually-hidden">{dayName(day)}</span>
      </span>
      {count > 0 && (
        <span class="calendar-count">
          <span aria-hidden="true">{count}</span>
          <span class="visually-hidden">{t("events", { count })}</span>
        </span>
      )}
      {first.map((event) => (
        <span key={event.fp} class="calendar-first">
          <span class="quiet">{startOn(event, day)}</span> {event.title}
        </span>
      ))}
      {count > TITLES_MAX && <span class="calendar-first quiet">{t("more", { count: count - TITLES_MAX })}</span>}
    </a>
  );
}

/** The time at which an event starts on a day, or an arrow for one that goes on. */
function startOn(event: ListedEvent, day: string) {
  const from = partOfDay(spanOf(event), day, timeZone.value)?.from;
  if (from != null) return from;
  return (
    <>
      <span aria-hidden="true">→</span>
      <span class="visually-hidden">{t("goesOn")}</span>
    </>
  );
}

function moveFocus(event: KeyboardEvent & { currentTarget: HTMLAnchorElement }): void {
  const { key, currentTarget: day } = event;
  const step = steps[key];
  const days = Array.from(day.closest("table")?.querySelectorAll("a") ?? []);
  const next = step === undefined ? undefined : days[days.indexOf(day) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
