import type { AssignBody, FollowedStudy } from "../../../dashboard/types/results/follow-up.ts";
import { UNSEEN_DAYS } from "../../../dashboard/types/results/follow-up.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath, may, session } from "../../session.ts";
import { ago, translations } from "../../text.ts";
import { Flag } from "../../ui/result-row/flag.tsx";
import { useAction } from "../../ui/form/use-action.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { markSeen } from "./seen.ts";

interface Props {
  readonly studies: readonly FollowedStudy[];
  readonly reload: () => Promise<void>;
}

/** The abnormal results that nobody has looked at for a day. */
export function Unseen({ studies, reload }: Props) {
  if (studies.length === 0) return null;
  return (
    <section class="card wide" aria-labelledby="unseen">
      <h2 id="unseen">
        <span class="count">{studies.length}</span>
        {t("unseen")}
      </h2>
      <p class="quiet">{t("unseenWhy", { days: UNSEEN_DAYS })}</p>
      <ul>
        {studies.map((study) => (
          <Study key={study.fp} study={study}>
            <UnseenActions study={study} reload={reload} />
          </Study>
        ))}
      </ul>
    </section>
  );
}

/** The open follow-ups of the user. */
export function Yours({ studies }: Pick<Props, "studies">) {
  if (studies.length === 0) return null;
  return (
    <section class="card wide" aria-labelledby="yours">
      <h2 id="yours">
        <span class="count">{studies.length}</span>
        {t("yours")}
      </h2>
      <ul>
        {studies.map((study) => (
          <Study key={study.fp} study={study} />
        ))}
      </ul>
      <a href="/dashboard/results?follow=mine">{t("allYours")}</a>
    </section>
  );
}

function Study({ study, children }: { study: FollowedStudy; children?: preact.ComponentChildren }) {
  const { fp, patient, device_name, received_at, outside, outside_total, responsible } = study;
  return (
    <li>
      <span class="grow">
        <a href={`/dashboard/results/${fp}`}>{nameOf(study)}</a>
        {patient !== null && `, ${studyWord(patient.species)}`}{" "}
        <span class="quiet">
          {device_name}, {t("came", { ago: ago(received_at) })}
        </span>
        <span class="value-list">
          {outside.map(({ analyte, text, flag, side }, index) => (
            <span key={index}>
              {analyte} {text} <Flag flag={flag} side={side} abnormal={flag === null} />
            </span>
          ))}
          {outside_total > outside.length && (
            <span class="quiet">{t("others", { count: outside_total - outside.length })}</span>
          )}
        </span>
        {responsible !== null && (
          <span class="quiet">{t("for", { name: responsible.name, ago: ago(responsible.since) })}</span>
        )}
      </span>
      {children}
    </li>
  );
}

function UnseenActions({ study, reload }: { study: FollowedStudy; reload: () => Promise<void> }) {
  const { run, retry, error, isRunning } = useAction();
  if (!may("staff")) return null;
  const name = nameOf(study);
  const act = (action: () => Promise<unknown>) => void run(() => action().then(reload));
  const take = () => {
    const user = session.value?.state === "signed in" ? session.value.user.id : null;
    const body: AssignBody = { member: user };
    return call("POST", `${clinicPath()}/results/${study.fp}/follow-up/assign`, body);
  };
  return (
    <>
      <button type="button" disabled={isRunning} aria-label={t("takeOf", { name })} onClick={() => act(take)}>
        {t("take")}
      </button>
      <button
        type="button"
        disabled={isRunning}
        aria-label={t("seenOf", { name })}
        onClick={() => act(() => markSeen(study.fp, study.revision))}
      >
        {t("seen")}
      </button>
      {error !== undefined && <Problem error={error} retry={retry} />}
    </>
  );
}

function nameOf({ patient }: FollowedStudy): string {
  return patient?.name ?? t("unplaced");
}

const t = translations({
  unseen: ["Nobody has looked at it for a day", "Bir gündür kimse bakmadı"],
  unseenWhy: [
    "Abnormal and positive results of the last {days} days. Who takes one has a day for it.",
    "Son {days} günün anormal ve pozitif sonuçları. Üstlenen kişinin bir günü vardır.",
  ],
  yours: ["Yours", "Size ait"],
  allYours: ["Show them in the results", "Sonuçlarda göster"],
  came: ["came {ago}", "{ago} geldi"],
  for: ["for {name}, {ago}", "sorumlu: {name}, {ago}"],
  take: ["I take it", "Ben ilgileniyorum"],
  takeOf: ["I take it: {name}", "Ben ilgileniyorum: {name}"],
  seen: ["I have seen it", "Gördüm"],
  seenOf: ["I have seen it: {name}", "Gördüm: {name}"],
  others: ["and {count} more", "ve {count} tane daha"],
  unplaced: ["Not placed", "Yerleştirilmedi"],
});
