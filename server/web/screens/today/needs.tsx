import type { ComponentChildren } from "preact";
import type { ConnectionNews } from "../../../dashboard/types/connections.ts";
import { alertPath, alertText } from "../../../operations/alerts/texts.ts";
import {
  type AlertShown,
  type ConflictOfStudy,
  CRITICAL_HOURS,
  type CriticalStudy,
  type CriticalValue,
  type NewResult,
  type SilentSource,
  type TodayState,
} from "../../../dashboard/types/results/today.ts";
import { Problem } from "../../resource.tsx";
import { may } from "../../session.ts";
import { ago, date, dateTime, language } from "../../text.ts";
import { ConnectionAnswers } from "../../ui/form-dialog/connection-answer.tsx";
import { useAction } from "../../ui/form/use-action.ts";
import { filingReason } from "../../ui/words/reasons.ts";
import { Unseen, Yours } from "./followed.tsx";
import { markSeen } from "./seen.ts";
import { t } from "./texts.ts";
import { HeardText } from "../../ui/words/heard-text.tsx";

/** The cards of all work that waits for a person. */
export function Needs({ state, reload }: { state: TodayState; reload: () => Promise<void> }) {
  const { unmatched, unknown_codes, critical, conflicts, silent, keys, alerts, connections, orders, unseen, yours } =
    state;
  const lists = [critical, conflicts, silent, keys, alerts, connections, unseen, yours].map(({ length }) => length);
  const counts = [unmatched.count, unknown_codes, orders.not_run, orders.without_order, ...lists];
  if (counts.every((count) => count === 0)) {
    return (
      <p class="card calm" data-testid="calm">
        <span aria-hidden="true">✓</span>
        {t("nothing")}
      </p>
    );
  }
  return (
    <section aria-label={t("needs")} class="needs">
      <Critical studies={critical} reload={reload} />
      <Unseen studies={unseen} reload={reload} />
      <Yours studies={yours} />
      <Alerts alerts={alerts} />
      <Connections connections={connections} reload={reload} />
      <Need title={t("toPlace")} count={unmatched.count}>
        {unmatched.oldest_at !== null && <p class="quiet">{t("oldest", { ago: ago(unmatched.oldest_at) })}</p>}
        <a href="/dashboard/to-place">{t("toPlaceNext")}</a>
      </Need>
      <Need title={t("codes")} count={unknown_codes}>
        <p class="quiet">{t("codesWhy")}</p>
        <a href="/dashboard/to-place/codes">{t("codesNext")}</a>
      </Need>
      <Need title={t("notRun", { hours: orders.not_run_hours })} count={orders.not_run}>
        <p class="quiet">{t("notRunWhy")}</p>
        <a href="/dashboard/orders">{t("notRunNext")}</a>
      </Need>
      <Need title={t("withoutOrder")} count={orders.without_order}>
        <p class="quiet">{t("withoutOrderWhy")}</p>
        <a href="/dashboard/orders#without-order">{t("withoutOrderNext")}</a>
      </Need>
      <Conflicts conflicts={conflicts} reload={reload} />
      <Silent sources={silent} />
      <Need title={t("keys")} count={keys.length}>
        <ul>
          {keys.map(({ id, name, expires_at }) => (
            <li key={id}>
              <span class="grow">{name}</span>
              <span class="quiet">{t("keyEnds", { date: date(expires_at) })}</span>
            </li>
          ))}
        </ul>
        <a href="/dashboard/settings/keys">{t("keysNext")}</a>
      </Need>
    </section>
  );
}

/** The orders that nobody needs to look after. */
export function OpenOrders({ orders: { ordered, running } }: Pick<TodayState, "orders">) {
  const parts = [
    ordered > 0 && t("ordered", { count: ordered }),
    running > 0 && t("running", { count: running }),
  ].filter((part) => part !== false);
  if (parts.length === 0) return null;
  return (
    <p>
      <a href="/dashboard/orders">{t("openOrders", { parts: parts.join(", ") })}</a>
    </p>
  );
}

/** A card with a count. It is hidden while the count is 0. */
function Need({
  title,
  count,
  isUrgent = false,
  children,
}: {
  title: string;
  count: number;
  isUrgent?: boolean;
  children: ComponentChildren;
}) {
  if (count === 0) return null;
  return (
    <section class={isUrgent ? "card urgent" : "card"}>
      <h2>
        <span class="count">{count}</span>
        {title}
      </h2>
      {children}
    </section>
  );
}

function Critical({ studies, reload }: { studies: readonly CriticalStudy[]; reload: () => Promise<void> }) {
  return (
    <Need title={t("critical")} count={studies.length} isUrgent>
      <p class="quiet">{t("criticalWhy", { hours: CRITICAL_HOURS })}</p>
      <ul>
        {studies.map((study) => (
          <li key={study.fp}>
            <span class="grow">
              <a href={`/dashboard/results/${study.fp}`}>{nameOf(study)}</a>{" "}
              <span class="quiet">
                {study.device_name}, {dateTime(study.acquired_at)}
              </span>
              <span class="value-list">
                {study.values.map((value) => (
                  <CriticalText key={value.analyte} of={value} />
                ))}
              </span>
            </span>
            <SeenButton fp={study.fp} revision={study.revision} name={nameOf(study)} reload={reload} />
          </li>
        ))}
      </ul>
    </Need>
  );
}

function CriticalText({ of: { analyte, value, unit, reference_range } }: { of: CriticalValue }) {
  return (
    <span>
      {analyte}{" "}
      <strong class="flag-critical">
        {value} {unit}
      </strong>{" "}
      <span class="quiet">({reference_range})</span>
    </span>
  );
}

function Conflicts({ conflicts, reload }: { conflicts: readonly ConflictOfStudy[]; reload: () => Promise<void> }) {
  return (
    <Need title={t("conflicts")} count={conflicts.length}>
      <p class="quiet">{t("conflictsWhy")}</p>
      <ul>
        {conflicts.map(({ fp, study, reason, at }) => (
          <li key={`${fp} ${at}`}>
            <span class="grow">
              {study === null ? <code>{fp}</code> : <a href={linkOf(study)}>{nameOf(study)}</a>}{" "}
              <span class="quiet">{dateTime(at)}</span>
              <br />
              {filingReason(reason)}
            </span>
            <SeenButton
              fp={fp}
              // Without an open study only the conflict can be marked as seen.
              revision={study?.revision ?? Number.MAX_SAFE_INTEGER}
              name={study === null ? fp : nameOf(study)}
              reload={reload}
            />
          </li>
        ))}
      </ul>
    </Need>
  );
}

/** The open alerts. The server closes an alert once its condition ends. */
function Alerts({ alerts }: { alerts: readonly AlertShown[] }) {
  return (
    <Need title={t("alerts")} count={alerts.length}>
      <p class="quiet">{t("alertsWhy")}</p>
      <ul>
        {alerts.map(({ key, kind, subject, count, since, path, ...why }) => {
          const alert = { kind, subject, count, ...(path !== null && { path }) };
          const { title, advice } = alertText(alert, language.value);
          return (
            <li key={key}>
              <span class="grow">
                <a href={`/dashboard${alertPath(alert)}`}>{title}</a>
                <br />
                {advice}
                {why.reason !== null && (
                  <span class="quiet">
                    {" "}
                    (<HeardText of={why} />)
                  </span>
                )}
              </span>
              <span class="quiet">{t("alertSince", { ago: ago(since) })}</span>
            </li>
          );
        })}
      </ul>
    </Need>
  );
}

/** Other clinics that request a patient of this one, or that see it. */
function Connections({ connections, reload }: { connections: readonly ConnectionNews[]; reload: () => Promise<void> }) {
  return (
    <Need title={t("connections")} count={connections.length}>
      <p class="quiet">{t("connectionsWhy")}</p>
      <ul>
        {connections.map(({ patient, clinic, is_waiting, at }) => (
          <li key={`${patient.fp} ${clinic.fp}`}>
            <span class="grow">
              <a href={`/dashboard/patients/${patient.fp}`}>{patient.name}</a>{" "}
              {t(is_waiting ? "asks" : "sees", { clinic: clinic.name })} <span class="quiet">{dateTime(at)}</span>
            </span>
            {may("staff") && (
              <ConnectionAnswers
                fp={patient.fp}
                patient={patient.name}
                clinic={clinic}
                answers={is_waiting ? ["confirm", "refuse"] : ["seen", "end"]}
                reload={reload}
              />
            )}
          </li>
        ))}
      </ul>
    </Need>
  );
}

interface Seen {
  readonly fp: string;
  readonly revision: number;
  readonly name: string;
  readonly reload: () => Promise<void>;
}

function SeenButton({ fp, revision, name, reload }: Seen) {
  const { run, error, isRunning } = useAction();
  if (!may("staff")) return null;
  const see = async () => {
    await markSeen(fp, revision);
    await reload();
  };
  return (
    <>
      <button type="button" disabled={isRunning} aria-label={t("seenOf", { name })} onClick={() => void run(see)}>
        {t("seen")}
      </button>
      {error !== undefined && <Problem error={error} />}
    </>
  );
}

function Silent({ sources }: { sources: readonly SilentSource[] }) {
  return (
    <Need title={t("silent")} count={sources.length}>
      <ul>
        {sources.map(({ kind, name, last_at, ...why }) => (
          <li key={`${kind} ${name}`}>
            <span class="grow">
              {t(kind, { name })}
              {why.reason !== null && (
                <>
                  <br />
                  <span class="quiet">
                    <HeardText of={why} />
                  </span>
                </>
              )}
            </span>
            <span class="quiet">{last_at === null ? t("never") : t("lastSign", { ago: ago(last_at) })}</span>
          </li>
        ))}
      </ul>
      <a href="/dashboard/devices">{t("silentNext")}</a>
    </Need>
  );
}

/** The patient's name; for an unmatched study the texts of the device. */
export function nameOf({ patient, said }: NewResult): string {
  return patient?.name ?? said ?? t("unnamed");
}

/** The address of a result, or of its place in the queue of unmatched studies. */
export function linkOf({ fp, patient }: NewResult): string {
  return patient === null ? `/dashboard/to-place/${fp}` : `/dashboard/results/${fp}`;
}
