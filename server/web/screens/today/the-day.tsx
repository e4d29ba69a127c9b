import type { EventList, ListedEvent } from "../../../dashboard/types/calendar.ts";
import { type DevicesBody, needsPerson } from "../../../dashboard/types/devices/devices.ts";
import type { TodayState } from "../../../dashboard/types/results/today.ts";
import { addDays, startOfDay, wallTime } from "../../../dashboard/types/wall-time.ts";
import { useResource } from "../../resource.tsx";
import { timeZone } from "../../text.ts";
import { State } from "../../ui/status/status-card.tsx";
import { clockTime, dayOf, plainDate } from "../../ui/words/words.ts";
import { t } from "./texts.ts";

/** Visits in the card. */
const VISITS_MAX = 5;

/** Shows the day's course: orders under way, the devices, and the next visits. */
export function TheDay({ orders, silent }: Pick<TodayState, "orders" | "silent">) {
  return (
    <aside aria-label={t("theDay")}>
      <Orders orders={orders} />
      <Devices silent={silent} />
      <Visits />
    </aside>
  );
}

function Orders({ orders: { ordered, running } }: Pick<TodayState, "orders">) {
  if (ordered + running === 0) return null;
  return (
    <section class="card">
      <div class="between">
        <h2>{t("orders")}</h2>
        <a href="/dashboard/orders">{t("allOrders")}</a>
      </div>
      <ul class="plain-list">
        {ordered > 0 && <li>{t("ordered", { count: ordered })}</li>}
        {running > 0 && <li>{t("running", { count: running })}</li>}
      </ul>
    </section>
  );
}

function Devices({ silent }: Pick<TodayState, "silent">) {
  const { data } = useResource<DevicesBody>("/devices");
  if (data === undefined) return null;
  const running = data.agents.filter(({ is }) => is === "running").flatMap(({ devices }) => devices);
  const working = running.filter(({ state }) => !needsPerson(state)).length;
  if (silent.length + working === 0) return null;
  return (
    <section class="card">
      <div class="between">
        <h2>{t("devices")}</h2>
        <a href="/dashboard/devices">{t("allDevices")}</a>
      </div>
      <ul class="plain-list day-rows">
        {silent.map(({ kind, name }) => (
          <li key={`${kind} ${name}`}>
            {name} <State tone="bad">{t("needsYou")}</State>
          </li>
        ))}
        {working > 0 && (
          <li>
            {t("working", { count: working })} <State tone="good">{t("ready")}</State>
          </li>
        )}
      </ul>
    </section>
  );
}

function boundsOfToday(zone: string | undefined): string[] {
  const day = wallTime(Date.now(), zone).date;
  return [day, addDays(day, 1)].map((date) => new Date(startOfDay(date, zone)).toISOString());
}

/** Whether a visit is neither over nor settled. */
function isComing({ end_at, next_statuses }: ListedEvent): boolean {
  return Date.parse(end_at) > Date.now() && next_statuses.length > 0;
}

function Visits() {
  const zone = timeZone.value;
  const [start, end] = boundsOfToday(zone);
  const { data } = useResource<EventList>(`/calendar?start=${start}&end=${end}`);
  const coming = data?.events.filter(isComing);
  if (coming === undefined || coming.length === 0) return null;
  return (
    <section class="card">
      <div class="between">
        <h2>{t("visits")}</h2>
        <a href="/dashboard/calendar">{t("calendar")}</a>
      </div>
      <ul class="plain-list day-rows">
        {coming.slice(0, VISITS_MAX).map(({ fp, start_at, title, patient, assigned_user }) => (
          <li key={fp}>
            <span>
              <strong class="number">
                {start !== undefined && start_at < start ? plainDate(dayOf(start_at)) : clockTime(start_at)}
              </strong>{" "}
              {patient === null ? title : `${patient.name}, ${title}`}
            </span>
            <span class="quiet">{assigned_user}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
