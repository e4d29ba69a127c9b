import type { ComponentChild } from "preact";
import type { ConnectionNews } from "../../../dashboard/types/connections.ts";
import { alertPath, alertText } from "../../../operations/alerts/texts.ts";
import {
  type AlertShown,
  type ConflictOfStudy,
  type CriticalStudy,
  type CriticalValue,
  type NewResult,
  type SilentSource,
  type TodayState,
} from "../../../dashboard/types/results/today.ts";
import type { Side } from "../../../dashboard/types/results/results.ts";
import { lazy } from "../../lazy.tsx";
import { Problem } from "../../resource.tsx";
import { may } from "../../session.ts";
import { ago, date, dateTime, language } from "../../text.ts";
import { ConnectionAnswers } from "../../ui/form-dialog/connection-answer.tsx";
import { useAction } from "../../ui/form/use-action.ts";
import { Need, NeedGroup, NeedList } from "../../ui/list/needs.tsx";
import { Flag } from "../../ui/result-row/flag.tsx";
import type { IconName } from "../../ui/status/icon.tsx";
import { filingReason } from "../../ui/words/reasons.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { Unseen, Yours } from "./followed.tsx";
import { markSeen } from "./seen.ts";
import { t } from "./texts.ts";
import { HeardText } from "../../ui/words/heard-text.tsx";

/** Most clinics' pages never load it: their controls are in order. */
const Controls = lazy(async () => (await import("./controls.tsx")).Controls);

interface NeedsProps {
  readonly state: TodayState;
  readonly reload: () => Promise<void>;
}

/** How many things need a person now. */
export function countNeeds(state: TodayState): number {
  const { unmatched, unknown_codes, critical, conflicts, silent, alerts, connections, controls } = state;
  const lists = critical.length + conflicts.length + silent.length + alerts.length + connections.length;
  return lists + controls.length + (unmatched.count > 0 ? 1 : 0) + (unknown_codes > 0 ? 1 : 0);
}

/** Lists the work that needs a person now, the critical values first. */
export function Needs({ state, reload }: NeedsProps) {
  const { unmatched, unknown_codes, critical, conflicts, silent, alerts, connections, controls } = state;
  if (countNeeds(state) === 0) return null;
  return (
    <section aria-label={t("needs")}>
      <h2 class="visually-hidden">{t("needs")}</h2>
      <NeedList>
        <Critical studies={critical} reload={reload} />
        <Alerts alerts={alerts} />
        {controls.length > 0 && <Controls controls={controls} />}
        <Counted id="to-place" title={t("toPlace")} count={unmatched.count} icon="move" tone="warn">
          {unmatched.oldest_at === null ? "" : t("oldest", { ago: ago(unmatched.oldest_at) })}
          <a class="button" href="/dashboard/to-place">
            {t("toPlaceNext")}
          </a>
        </Counted>
        <Conflicts conflicts={conflicts} reload={reload} />
        <Silent sources={silent} />
        <Connections connections={connections} reload={reload} />
        <Counted id="codes" title={t("codes")} count={unknown_codes} icon="file" tone="warn">
          {t("codesWhy")}
          <a class="button" href="/dashboard/to-place/codes">
            {t("codesNext")}
          </a>
        </Counted>
      </NeedList>
    </section>
  );
}

/** Lists the work that can wait. */
export function Later({ state, reload }: NeedsProps) {
  const { orders, keys, unseen, yours } = state;
  if (orders.not_run + orders.without_order + keys.length + unseen.length + yours.length === 0) return null;
  return (
    <section aria-labelledby="later">
      <h2 id="later">{t("later")}</h2>
      <NeedList>
        <Unseen studies={unseen} reload={reload} />
        <Yours studies={yours} />
        <Counted id="not-run" title={t("notRun", { hours: orders.not_run_hours })} count={orders.not_run} icon="tube">
          {t("notRunWhy")}
          <a class="button" href="/dashboard/orders">
            {t("notRunNext")}
          </a>
        </Counted>
        <Counted id="without-order" title={t("withoutOrder")} count={orders.without_order} icon="tube">
          {t("withoutOrderWhy")}
          <a class="button" href="/dashboard/orders#without-order">
            {t("withoutOrderNext")}
          </a>
        </Counted>
        <Keys keys={keys} />
      </NeedList>
    </section>
  );
}

/** One row for things that have a page of their own. It is hidden while there are none. */
function Counted({
  id,
  title,
  count,
  icon,
  tone = "plain",
  children: [why, action],
}: {
  id: string;
  title: string;
  count: number;
  icon: IconName;
  tone?: "warn" | "plain";
  children: readonly [why: string, action: ComponentChild];
}) {
  if (count === 0) return null;
  return (
    <NeedGroup id={id} title={title}>
      <Need
        icon={icon}
        tone={tone}
        what={
          <>
            <strong>{title}</strong> <span class="count">{count}</span>
          </>
        }
        why={why}
      >
        {action}
      </Need>
    </NeedGroup>
  );
}

function Critical({ studies, reload }: { studies: readonly CriticalStudy[]; reload: () => Promise<void> }) {
  if (studies.length === 0) return null;
  return (
    <NeedGroup id="critical" title={t("critical")}>
      {studies.map((study, index) => (
        <Need
          key={study.fp}
          icon="bad"
          tone="critical"
          what={
            <>
              <a href={linkOf(study)}>{nameOf(study)}</a>
              {study.patient !== null && `, ${studyWord(study.patient.species)}`}
              {study.values.map((result) => (
                <CriticalText key={result.analyte} of={result} side={sideOf(study, result)} />
              ))}
            </>
          }
          why={[t("notSeen", { ago: ago(study.received_at) }), study.device_name, dateTime(study.acquired_at)].join(
            " · ",
          )}
        >
          <a class={index === 0 ? "button primary" : "button"} href={linkOf(study)}>
            {t("open")}
          </a>
          <SeenButton fp={study.fp} revision={study.revision} name={nameOf(study)} reload={reload} />
        </Need>
      ))}
    </NeedGroup>
  );
}

function sideOf({ outside }: CriticalStudy, { analyte }: CriticalValue): Side | null {
  return outside.find((one) => one.analyte === analyte)?.side ?? null;
}

function CriticalText({
  of: { analyte, value, unit, reference_range },
  side,
}: {
  of: CriticalValue;
  side: Side | null;
}) {
  return (
    <>
      {" · "}
      <strong>
        {analyte} {value} {unit}
      </strong>{" "}
      <Flag flag="critical" side={side} /> <span class="quiet">({reference_range})</span>
    </>
  );
}

function Conflicts({ conflicts, reload }: { conflicts: readonly ConflictOfStudy[]; reload: () => Promise<void> }) {
  if (conflicts.length === 0) return null;
  return (
    <NeedGroup id="conflicts" title={t("conflicts")}>
      {conflicts.map(({ fp, study, reason, at }) => (
        <Need
          key={`${fp} ${at}`}
          icon="move"
          tone="warn"
          what={
            <>
              {study === null ? <code>{fp}</code> : <a href={linkOf(study)}>{nameOf(study)}</a>} ·{" "}
              {filingReason(reason)}
            </>
          }
          why={`${t("conflictsWhy")} ${dateTime(at)}`}
        >
          <SeenButton
            fp={fp}
            // Without an open study only the conflict can be marked as seen.
            revision={study?.revision ?? Number.MAX_SAFE_INTEGER}
            name={study === null ? fp : nameOf(study)}
            reload={reload}
          />
        </Need>
      ))}
    </NeedGroup>
  );
}

/** The open alerts. The server closes an alert once its condition ends. */
function Alerts({ alerts }: { alerts: readonly AlertShown[] }) {
  if (alerts.length === 0) return null;
  return (
    <NeedGroup id="alerts" title={t("alerts")}>
      {alerts.map(({ key, kind, subject, count, since, path, ...why }) => {
        const alert = { kind, subject, count, ...(path !== null && { path }) };
        const { title, advice } = alertText(alert, language.value);
        return (
          <Need
            key={key}
            icon="bad"
            tone="warn"
            what={<a href={`/dashboard${alertPath(alert)}`}>{title}</a>}
            why={
              <>
                {advice}
                {why.reason !== null && (
                  <>
                    {" "}
                    (<HeardText of={why} />)
                  </>
                )}{" "}
                · {t("alertSince", { ago: ago(since) })}
              </>
            }
          />
        );
      })}
    </NeedGroup>
  );
}

/** Other clinics that request a patient of this one, or that see it. */
function Connections({ connections, reload }: { connections: readonly ConnectionNews[]; reload: () => Promise<void> }) {
  if (connections.length === 0) return null;
  return (
    <NeedGroup id="connections" title={t("connections")}>
      {connections.map(({ patient, clinic, is_waiting, at }) => (
        <Need
          key={`${patient.fp} ${clinic.fp}`}
          icon="plus"
          tone="info"
          what={
            <>
              <a href={`/dashboard/patients/${patient.fp}`}>{patient.name}</a>{" "}
              {t(is_waiting ? "asks" : "sees", { clinic: clinic.name })}
            </>
          }
          why={`${t("connectionsWhy")} ${dateTime(at)}`}
        >
          {may("staff") && (
            <ConnectionAnswers
              fp={patient.fp}
              patient={patient.name}
              clinic={clinic}
              answers={is_waiting ? ["confirm", "refuse"] : ["seen", "end"]}
              reload={reload}
            />
          )}
        </Need>
      ))}
    </NeedGroup>
  );
}

function Silent({ sources }: { sources: readonly SilentSource[] }) {
  if (sources.length === 0) return null;
  return (
    <NeedGroup id="silent" title={t("silent")}>
      {sources.map(({ kind, name, last_at, ...why }) => (
        <Need
          key={`${kind} ${name}`}
          icon="device"
          tone="warn"
          what={<strong>{t(kind, { name })}</strong>}
          why={
            <>
              {why.reason !== null && (
                <>
                  <HeardText of={why} /> ·{" "}
                </>
              )}
              {last_at === null ? t("never") : t("lastSign", { ago: ago(last_at) })}
            </>
          }
        >
          <a class="button" href="/dashboard/devices" aria-label={t("silentNextOf", { name })}>
            {t("silentNext")}
          </a>
        </Need>
      ))}
    </NeedGroup>
  );
}

function Keys({ keys }: Pick<TodayState, "keys">) {
  if (keys.length === 0) return null;
  return (
    <NeedGroup id="keys" title={t("keys")}>
      {keys.map(({ id, name, expires_at }) => (
        <Need
          key={id}
          icon="key"
          what={
            <>
              {t("key")} <strong>{name}</strong>
            </>
          }
          why={t("keyEnds", { date: date(expires_at) })}
        >
          <a class="button" href="/dashboard/settings/keys" aria-label={t("keysNextOf", { name })}>
            {t("keysNext")}
          </a>
        </Need>
      ))}
    </NeedGroup>
  );
}

interface Seen {
  readonly fp: string;
  readonly revision: number;
  readonly name: string;
  readonly reload: () => Promise<void>;
}

function SeenButton({ fp, revision, name, reload }: Seen) {
  const { run, retry, error, isRunning } = useAction();
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
      {error !== undefined && <Problem error={error} retry={retry} />}
    </>
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
