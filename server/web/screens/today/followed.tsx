import type { ComponentChildren } from "preact";
import type { AssignBody, FollowedStudy } from "../../../dashboard/types/results/follow-up.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath, may, session } from "../../session.ts";
import { ago, translations } from "../../text.ts";
import { Need, NeedGroup } from "../../ui/list/needs.tsx";
import { OutsideValues } from "../../ui/result-row/outside-values.tsx";
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
    <NeedGroup id="unseen" title={t("unseen")}>
      {studies.map((study) => (
        <Study key={study.fp} study={study} state={t("unseen")}>
          <UnseenActions study={study} reload={reload} />
        </Study>
      ))}
    </NeedGroup>
  );
}

/** The open follow-ups of the user. */
export function Yours({ studies }: Pick<Props, "studies">) {
  if (studies.length === 0) return null;
  return (
    <NeedGroup id="yours" title={t("yours")}>
      {studies.map((study) => (
        <Study key={study.fp} study={study} state={t("yours")}>
          <a class="button" href="/dashboard/results?follow=mine">
            {t("allYours")}
          </a>
        </Study>
      ))}
    </NeedGroup>
  );
}

function Study({ study, state, children }: { study: FollowedStudy; state: string; children: ComponentChildren }) {
  const { fp, patient, device_name, received_at, outside, outside_total, responsible } = study;
  const why = [
    ...(responsible === null ? [] : [t("for", { name: responsible.name, ago: ago(responsible.since) })]),
    `${device_name}, ${t("came", { ago: ago(received_at) })}`,
  ];
  return (
    <Need
      icon="wait"
      what={
        <>
          <a href={`/dashboard/results/${fp}`}>{nameOf(study)}</a>
          {patient !== null && `, ${studyWord(patient.species)}`} · {state}{" "}
          <OutsideValues {...{ outside, outside_total }} />
        </>
      }
      why={why.join(" · ")}
    >
      {children}
    </Need>
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
  yours: ["Yours", "Size ait"],
  allYours: ["Show all of yours", "Size ait olanların tümü"],
  came: ["came {ago}", "{ago} geldi"],
  for: ["for {name}, {ago}", "sorumlu: {name}, {ago}"],
  take: ["I take it", "Ben ilgileniyorum"],
  takeOf: ["I take it: {name}", "Ben ilgileniyorum: {name}"],
  seen: ["I have seen it", "Gördüm"],
  seenOf: ["I have seen it: {name}", "Gördüm: {name}"],
  unplaced: ["Not placed", "Yerleştirilmedi"],
});
