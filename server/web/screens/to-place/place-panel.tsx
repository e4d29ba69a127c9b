import type { UnmatchedStep, UnmatchedDetails } from "../../../dashboard/types/results/unmatched.ts";
import { Loaded, Problem } from "../../resource.tsx";
import { may } from "../../session.ts";
import { dateTime } from "../../text.ts";
import { PatientChoice } from "./patient-choice.tsx";
import { Preview } from "./preview.tsx";
import { t } from "./texts.ts";
import type { Desk } from "./use-desk.ts";

/** The right side: the patients that it may be of, what filing would do, or where the study is now. */
export function PlacePanel({ desk, study, reject }: { desk: Desk; study: UnmatchedDetails; reject: () => void }) {
  const { action, chosen, preview } = desk;
  const waits = study.patient === null && study.rejected_reason === null;
  return (
    <section class="card" aria-labelledby="desk-whose">
      <h2 id="desk-whose">{t("whose")}</h2>
      {waits ? <PatientChoice desk={desk} study={study} /> : <Placed desk={desk} study={study} />}
      {waits && chosen !== undefined && (
        <Loaded of={preview}>{(data) => <Preview key={data.patient.fp} desk={desk} preview={data} />}</Loaded>
      )}
      {action.error !== undefined && <Problem error={action.error} />}
      {waits && may("staff") && (
        <p class="actions">
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

/** Shows where a placed study is, and offers the undo. */
function Placed({ desk: { undo, action }, study }: { desk: Desk; study: UnmatchedDetails }) {
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
    <details class="desk-history">
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
    default:
      return t("pushed");
  }
}
