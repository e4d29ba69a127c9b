import type { SetupStudy } from "../../types/setup.ts";
import { dateTime } from "../../../../server/web/text.ts";
import { ReasonText } from "../messages/reason.tsx";
import { LocalResults } from "../messages/local-results.tsx";
import { t } from "./texts.ts";

/** Studies as they would be filed: the patient, the values with their units, and the flags for the animal. */
export function Studies({ studies }: { studies: readonly SetupStudy[] }) {
  // A file may have several studies.
  const nameOf = (name: string, index: number) => (studies.length === 1 ? name : `${name} ${index + 1}`);
  return (
    <>
      {studies.map((study, index) => (
        <section key={index} class="card" aria-label={nameOf(study.device_name, index)}>
          <p>
            <strong>{study.device_name}</strong>, {dateTime(study.acquired_at)}
          </p>
          <p>
            {t("patientTyped")} {hintOf(study) || t("nothing")}
          </p>
          <p>
            {study.patient === null ? (
              <>
                {t("noPatient")} <ReasonText of={{ reason: study.match }} />
              </>
            ) : (
              `${t("patient")} ${study.patient}`
            )}
          </p>
          <LocalResults label={nameOf(t("results"), index)} results={study.results} />
        </section>
      ))}
    </>
  );
}

function hintOf({ hint: { identifier, name, species, owner } }: SetupStudy): string {
  return [identifier, name, species, owner].filter((part) => part !== null).join(", ");
}
