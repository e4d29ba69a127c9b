import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import type { EventList, ListedEvent } from "../../../dashboard/types/calendar.ts";
import { addDays, startOfDay, startOfWeek, wallTime } from "../../../dashboard/types/wall-time.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { timeZone } from "../../text.ts";
import { EventRow } from "./event-row.tsx";
import { EventForm } from "./event-form.tsx";
import { Month } from "./month.tsx";
import { dayName, t } from "./texts.ts";
import { addMonths, daysOfMonth, partOfDay, spanOf } from "./times.ts";
import { MovingRows } from "../../ui/list/moving-rows.tsx";
import "../../ui/list/list-bar.css";
import "./calendar.css";

const views = ["day", "week", "month"] as const;
type View = (typeof views)[number];

const address = (view: View, day: string) => `/dashboard/calendar?view=${view}&day=${day}`;

/** The events of a day, a week or a month in the clinic's time zone. The view and the day are in the address. */
export function Calendar() {
  const { query, route } = useLocation();
  const zone = timeZone.value;
  const today = currentDay(zone);
  const view = views.find((known) => known === query["view"]) ?? "day";
  const chosen = isDay(query["day"]) ? query["day"] : today;
  const days = daysOf(view, chosen);
  const [start, end] = [days[0] ?? chosen, addDays(days.at(-1) ?? chosen, 1)].map((day) =>
    new Date(startOfDay(day, zone)).toISOString(),
  );
  const list = useResource<EventList>(`/calendar?start=${start}&end=${end}`);
  /** The fp of the event that is edited, or `new`. */
  const [open, setOpen] = useState<string | null>(null);
  /** Shows the day of a saved event. */
  const show = (at: number) => {
    const { date } = wallTime(at, zone);
    if (!days.includes(date)) route(address(view, date));
  };
  return (
    <>
      <h1>{t("calendar")}</h1>
      <Toolbar view={view} chosen={chosen} today={today} add={() => setOpen("new")} />
      <Loaded of={list}>
        {({ events, users, members }) => (
          <>
            {view === "month" ? (
              <Month days={days} month={chosen.slice(0, 7)} today={today} events={events} />
            ) : (
              <MovingRows>
                {days.map((day) => (
                  <Day
                    key={day}
                    day={day}
                    isToday={day === today}
                    events={events.filter((event) => partOfDay(spanOf(event), day, zone) !== null)}
                    reload={list.reload}
                    edit={setOpen}
                  />
                ))}
              </MovingRows>
            )}
            {open !== null && (
              <EventForm
                day={chosen}
                event={events.find(({ fp }) => fp === open) ?? null}
                users={users}
                members={members}
                reload={list.reload}
                saved={show}
                close={() => setOpen(null)}
              />
            )}
          </>
        )}
      </Loaded>
      <p class="quiet">{t("zone", { zone: zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone })}</p>
    </>
  );
}

function Toolbar({ view, chosen, today, add }: { view: View; chosen: string; today: string; add: () => void }) {
  const { route } = useLocation();
  const turn = (by: 1 | -1) =>
    route(address(view, view === "month" ? addMonths(chosen, by) : addDays(chosen, view === "week" ? 7 * by : by)));
  return (
    <div class="list-bar">
      <nav class="calendar-views" aria-label={t("range")}>
        {views.map((shown) => (
          <a key={shown} href={address(shown, chosen)} aria-current={shown === view ? "true" : undefined}>
            {t(shown)}
          </a>
        ))}
      </nav>
      <button type="button" onClick={() => turn(-1)}>
        {t("before")}
      </button>
      <button type="button" onClick={() => route(address(view, today))}>
        {t("today")}
      </button>
      <button type="button" onClick={() => turn(1)}>
        {t("after")}
      </button>
      <input
        type="date"
        aria-label={t("date")}
        value={chosen}
        onChange={({ currentTarget: { value } }) => isDay(value) && route(address(view, value))}
      />
      {may("staff") && (
        <button type="button" class="primary" onClick={add}>
          {t("newEvent")}
        </button>
      )}
    </div>
  );
}

function Day({
  day,
  isToday,
  events,
  reload,
  edit,
}: {
  day: string;
  isToday: boolean;
  events: readonly ListedEvent[];
  reload: () => Promise<void>;
  edit: (fp: string) => void;
}) {
  return (
    <section class={isToday ? "calendar-day calendar-today" : "calendar-day"}>
      <h2>{dayName(day)}</h2>
      {events.length === 0 ? (
        <p class="quiet">{t("none")}</p>
      ) : (
        <ol class="calendar-events">
          {events.map((event) => (
            <EventRow key={event.fp} event={event} day={day} reload={reload} edit={() => edit(event.fp)} />
          ))}
        </ol>
      )}
    </section>
  );
}

function daysOf(view: View, chosen: string): string[] {
  if (view === "month") return daysOfMonth(chosen);
  if (view === "day") return [chosen];
  const first = startOfWeek(chosen);
  return Array.from({ length: 7 }, (_, index) => addDays(first, index));
}

function currentDay(zone: string | undefined): string {
  return wallTime(Date.now(), zone).date;
}

function isDay(text: string | undefined): text is string {
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}
