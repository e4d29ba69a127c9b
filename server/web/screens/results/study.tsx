import { useRoute } from "preact-iso";
import { useEffect } from "preact/hooks";
import { commentText, notReportedText } from "../../../dashboard/types/results/sample-indices.ts";
import type { StudyPage } from "../../../dashboard/types/results/results.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { clinic, clinicPath } from "../../session.ts";
import { dateTime, language } from "../../text.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { word } from "../../ui/words/words.ts";
import { filingReason } from "../../ui/words/reasons.ts";
import { markSeen } from "../today/seen.ts";
import { Facts } from "../../ui/status/facts.tsx";
import { Previews } from "./pictures/previews.tsx";
import { ViewerLink } from "./pictures/viewer-link.tsx";
import { ControlNotice } from "./follow-up/control-notice.tsx";
import { FollowUpCard, useFollowUp } from "./follow-up/follow-up-card.tsx";
import { isCritical, SeenNotice } from "./follow-up/seen-notice.tsx";
import { ShareButton } from "../sharing/share-button.tsx";
import { SharedLinks } from "../sharing/shared-links.tsx";
import { queryText } from "./query.ts";
import { PlaceNotices, TypedActions, WrongAnimal } from "./study-place.tsx";
import { Remark } from "./remark.tsx";
import { Conflicts, Revisions, TimeLine } from "./study-history.tsx";
import { StudyTable } from "./study-table.tsx";
import { t } from "./study-texts.ts";
import { zoneName } from "./use-results.ts";
import "./results.css";
import "./study.css";

/** One study: results with flags, changes and timeline. It prints as a report. */
export function Study() {
  const { fp = "" } = useRoute().params;
  const study = useResource<StudyPage>(`/results/${encodeURIComponent(fp)}`);
  return <Loaded of={study}>{(data) => <Whole study={data} reload={study.reload} />}</Loaded>;
}

function Whole({ study, reload }: { study: StudyPage; reload: () => Promise<void> }) {
  const followUp = useFollowUp(study.fp);
  // An error is ignored: the study then only stays marked as unseen.
  useEffect(() => {
    if (!isCritical(study)) void markSeen(study.fp, study.revision).catch(() => undefined);
  }, [study.fp, study.revision]);
  return (
    <article class="study">
      <Head study={study} reload={reload} />
      <PlaceNotices study={study} reload={reload} />
      {study.place.kind === "unmatched" && (
        <p class="note">
          {t("unplacedWhy", { reason: study.place.reason === null ? "" : filingReason(study.place.reason) })}{" "}
          <a class="no-print" href={`/dashboard/to-place/${study.fp}`}>
            {t("placeIt")}
          </a>
        </p>
      )}
      {study.place.kind === "rejected" && <p class="note">{t("rejectedWhy", { reason: study.place.reason ?? "" })}</p>}
      {study.conflicts.length > 0 && (
        <p class="note no-print">
          <a href="#conflicts">{t("hasConflicts", { count: study.conflicts.length })}</a>
        </p>
      )}
      <div class="split">
        <div>
          <SeenNotice study={study} followUp={followUp} />
          <ControlNotice study={study} reload={reload} />
          <div class="card flush">
            <StudyTable study={study} />
          </div>
          <NotReported study={study} />
          <Remark study={study} reload={reload} />
          <Previews fp={study.fp} />
          <div class="no-print">
            <SharedLinks study={study} />
            <Revisions study={study} />
            <Conflicts study={study} />
            <Notes of={study.notes} />
          </div>
        </div>
        <aside aria-label={t("about")}>
          <Sample study={study} />
          <FollowUpCard study={study} followUp={followUp} />
          <TimeLine study={study} />
        </aside>
      </div>
    </article>
  );
}

/** The results that the analyzer sent without a value. */
function NotReported({ study: { not_reported } }: { study: StudyPage }) {
  if (not_reported.length === 0) return null;
  return (
    <section aria-labelledby="not-reported">
      <h2 id="not-reported">{t("notReported")}</h2>
      <ul class="notes">
        {not_reported.map((gap, index) => (
          <li key={index}>
            <b>{gap.analyte}</b>: {notReportedText(gap, language.value)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The agent's notes on the study, in English. */
function Notes({ of }: { of: StudyPage["notes"] }) {
  if (of.length === 0) return null;
  return (
    <details>
      <summary>{t("notes")}</summary>
      <ul class="notes" lang="en">
        {of.map((note, index) => (
          <li key={index}>{note}</li>
        ))}
      </ul>
    </details>
  );
}

function Head({ study, reload }: { study: StudyPage; reload: () => Promise<void> }) {
  const { patient, hint } = study;
  const files = `/clinic/v1${clinicPath()}/results/${study.fp}`;
  const report = `${files}/report.pdf${queryText({ language: language.value, zone: zoneName() })}`;
  return (
    <>
      <p class="print-only">{clinic.value?.name}</p>
      <div class="page-head">
        <div>
          <h1>
            {patient === null ? (
              [t("unplaced"), hint?.name].filter(Boolean).join(": ")
            ) : (
              <a href={`/dashboard/patients/${patient.fp}`}>{patient.name}</a>
            )}{" "}
            <span class="kind">{studyWord(study.modality)}</span>
          </h1>
          <p>{animalText(study)}</p>
        </div>
        <p class="actions no-print">
          <button type="button" onClick={() => window.print()}>
            {t("print")}
          </button>
          <a class="button" href={report} download>
            {t("pdf")}
          </a>
          <a class="button" href={`${files}/results.csv?language=${language.value}`} download>
            {t("csv")}
          </a>
          {patient !== null && (
            <a class="button" href={`/dashboard/results?patient=${patient.fp}`}>
              {t("ofPatient")}
            </a>
          )}
          <ViewerLink study={study} />
          <TypedActions study={study} reload={reload} />
          <ShareButton study={study} zone={zoneName()} reload={reload} />
          <WrongAnimal study={study} reload={reload} />
        </p>
      </div>
    </>
  );
}

/** The animal of the study in words; without one, the animal that the device names. */
function animalText({ patient, hint }: StudyPage): string {
  const facts =
    patient === null
      ? [hint?.species, hint?.breed, hint?.sex, hint?.owner, hint?.identifier]
      : [studyWord(patient.species), patient.breed, word(patient.sex ?? ""), patient.date_of_birth];
  const text = facts.filter(Boolean).join(", ");
  return patient === null && text !== "" ? `${t("deviceSays")}: ${text}` : text;
}

/** Where the values come from: sample, device and order, and the analyzer's remarks, such as indices of hemolysis. */
function Sample({ study }: { study: StudyPage }) {
  const { source, comments } = study;
  const facts: readonly [string, string | null][] = [
    [t("sample"), study.sample_ids.join(", ")],
    [t("measured"), dateTime(study.acquired_at)],
    [t("received"), dateTime(study.received_at)],
    [t("device"), [study.device_name, source === null ? "" : `(${source.device_id})`].join(" ").trim()],
    [t("order"), study.order === null ? null : (study.order.placer_number ?? study.order.fp)],
    [t("revision"), study.revision > 1 ? String(study.revision) : null],
    [t("zone"), zoneName()],
  ];
  return (
    <section class="card" aria-labelledby="sample">
      <h2 id="sample">{t("sampleCard")}</h2>
      <Facts of={facts} inColumn />
      {comments.length > 0 && (
        <>
          <h3>{t("comments")}</h3>
          <ul class="notes">
            {comments.map((comment, index) => (
              <li key={index}>{commentText(comment, language.value)}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
