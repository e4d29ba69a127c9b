import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import type { EventList, ListedEvent } from "../../../dashboard/types/calendar.ts";
import { addDays, startOfDay, startOfWeek, wallTime } from "../../../dashboard/types/wall-time.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { locale, timeZone } from "../../text.ts";
import { EventRow } from "./event-row.tsx";
import { NewEvent } from "./new-event.tsx";
import { t } from "./texts.ts";
import "../../ui/list/list-bar.css";
import "./calendar.css";

type View = "day" | "week";

/** The events of a day or a week in the clinic's time zone. The view and the day are in the address. */
export function Calendar() {
  const { query } = useLocation();
  const zone = timeZone.value;
  const today = currentDay(zone);
  const view: View = query["view"] === "week" ? "week" : "day";
  const chosen = isDay(query["day"]) ? query["day"] : today;
  const first = view === "week" ? startOfWeek(chosen) : chosen;
  const days = Array.from({ length: view === "week" ? 7 : 1 }, (_, index) => addDays(first, index));
  const [start, end] = [first, addDays(first, days.length)].map((day) => new Date(startOfDay(day, zone)).toISOString());
  const list = useResource<EventList>(`/calendar?start=${start}&end=${end}`);
  const [isNew, setNew] = useState(false);
  return (
    <>
      <h1>{t("calendar")}</h1>
      <Toolbar view={view} chosen={chosen} today={today} add={() => setNew(true)} />
      <Loaded of={list}>
        {({ events, users, members }) => (
          <>
            {days.map((day) => (
              <Day
                key={day}
                day={day}
                isToday={day === today}
                events={events.filter((event) => wallTime(Date.parse(event.start_at), zone).date === day)}
                reload={list.reload}
              />
            ))}
            {isNew && (
              <NewEvent day={chosen} users={users} members={members} reload={list.reload} close={() => setNew(false)} />
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
  const address = (shown: View, day: string) => `/dashboard/calendar?view=${shown}&day=${day}`;
  const step = view === "week" ? 7 : 1;
  const link = (shown: View) => (
    <a href={address(shown, chosen)} aria-current={shown === view ? "true" : undefined}>
      {t(shown)}
    </a>
  );
  return (
    <div class="list-bar">
      <nav class="calendar-views" aria-label={t("range")}>
        {link("day")}
        {link("week")}
      </nav>
      <button type="button" onClick={() => route(address(view, addDays(chosen, -step)))}>
        {t("before")}
      </button>
      <button type="button" onClick={() => route(address(view, today))}>
        {t("today")}
      </button>
      <button type="button" onClick={() => route(address(view, addDays(chosen, step)))}>
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
}: {
  day: string;
  isToday: boolean;
  events: readonly ListedEvent[];
  reload: () => Promise<void>;
}) {
  return (
    <section class={isToday ? "calendar-day calendar-today" : "calendar-day"}>
      <h2>{dayName(day)}</h2>
      {events.length === 0 ? (
        <p class="quiet">{t("none")}</p>
      ) : (
        <ol class="calendar-events">
          {events.map((event) => (
            <EventRow key={event.fp} event={event} reload={reload} />
          ))}
        </ol>
      )}
    </section>
  );
}

function currentDay(zone: string | undefined): string {
  return wallTime(Date.now(), zone).date;
}

function isDay(text: string | undefined): text is string {
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** A calendar day is formatted in UTC, because it has no zone. */
function dayName(day: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "full", timeZone: "UTC" }).format(new Date(day));
}
