import type { UnmatchedStep, UnmatchedDetails } from "../../../dashboard/types/results/unmatched.ts";
import { Loaded, Problem } from "../../resource.tsx";
import { may } from "../../session.ts";
import { dateTime } from "../../text.ts";
import { PatientChoice } from "./patient-choice.tsx";
import { Preview } from "./preview.tsx";
import { t } from "./texts.ts";
import type { Unmatched } from "./use-unmatched.ts";

/** The right side: the candidates and the effect of filing, or the patient of a placed study. */
export function PlacePanel({
  unmatched,
  study,
  reject,
  add,
}: {
  unmatched: Unmatched;
  study: UnmatchedDetails;
  reject: () => void;
  add: () => void;
}) {
  const { action, chosen, preview } = unmatched;
  const waits = study.patient === null && study.rejected_reason === null;
  return (
    <section class="card" aria-labelledby="unmatched-whose">
      <h2 id="unmatched-whose">{t("whose")}</h2>
      {waits ? (
        <PatientChoice unmatched={unmatched} study={study} add={add} />
      ) : (
        <Placed unmatched={unmatched} study={study} />
      )}
      {waits && chosen !== undefined && (
        <Loaded of={preview}>{(data) => <Preview key={data.patient.fp} unmatched={unmatched} preview={data} />}</Loaded>
      )}
      {action.error !== undefined && <Problem error={action.error} retry={action.retry} />}
      {waits && may("staff") && (
        <p class="actions unmatched-reject">
          <button type="button" class="danger" onClick={reject}>
            {t("reject")}
          </button>
        </p>
      )}
      {waits && !may("staff") && <p class="quiet">{t("readerOnly")}</p>}
      <History steps={study.history} />
    </section>
  );
}

/** Shows the patient of a placed study, and the button that undoes it. */
function Placed({ unmatched: { undo, action }, study }: { unmatched: Unmatched; study: UnmatchedDetails }) {
  const { fp, patient, rejected_reason } = study;
  return (
    <>
      {patient !== null && (
        <p>
          {t("filedTo", { name: patient.name })} <a href={`/dashboard/results/${fp}`}>{t("seeResult")}</a>
        </p>
      )}
      {rejected_reason !== null && <p>{t("isRejected", { reason: rejected_reason })}</p>}
      {study.can_undo && may("staff") && (
        <p class="actions">
          <button type="button" disabled={action.isRunning} onClick={() => void undo()}>
            {t("undo")}
          </button>
        </p>
      )}
    </>
  );
}

function History({ steps }: { steps: readonly UnmatchedStep[] }) {
  return (
    <details class="unmatched-history">
      <summary>{t("history")}</summary>
      <ol>
        {steps.map((step) => (
          <li key={step.revision}>
            <time dateTime={step.at}>{dateTime(step.at)}</time> {stepText(step)}
            {step.by !== null && <span class="quiet"> {t("by", { name: step.by })}</span>}
          </li>
        ))}
      </ol>
    </details>
  );
}

function stepText({ cause, patient, rejected_reason }: UnmatchedStep): string {
  const name = patient?.name ?? t("anotherPatient");
  switch (cause) {
    case "assigned":
      return t("assigned", { name });
    case "assigned despite species":
      return t("despite", { name });
    case "undone":
      return t("undone");
    case "rejected":
      return t("rejectedStep", { reason: rejected_reason ?? "" });
    case "entered":
      return t("entered");
    case "imported":
      return t("imported");
    case "corrected":
      return t("corrected");
    case "withdrawn":
      return t("withdrawn");
    case "moved":
      return t("moved", { name });
    case "taken back":
      return t("takenBack");
    case "flagged again":
      return t("flaggedAgain");
    case "order attached":
      return t("orderAttached");
    case "patient deleted":
      return t("patientDeleted");
    case "patient restored":
      return t("patientRestored", { name });
    case "merged":
      return t("merged", { name });
    default:
      return t("pushed");
  }
}
