import type { Result } from "../../../../shared/api/study.ts";
import type { SetupStudy } from "../../types/setup.ts";
import { dateTime } from "../../../../server/web/text.ts";
import { ResultRow, ResultTable } from "../../../../server/web/ui/result-row/result-row.tsx";
import { t } from "./texts.ts";

/** Studies as they would be filed: the patient, the values with their units, and the flags for the animal. */
export function Studies({ studies }: { studies: readonly SetupStudy[] }) {
  return (
    <>
      {studies.map((study, index) => (
        <section key={index} class="card" aria-label={study.device_name}>
          <p>
            <strong>{study.device_name}</strong>, {dateTime(study.acquired_at)}
          </p>
          <p>
            {t("patientTyped")} {hintOf(study) || t("nothing")}
          </p>
          <p>{study.patient === null ? `${t("noPatient")} ${study.match}` : `${t("patient")} ${study.patient}`}</p>
          <Results results={study.results} />
        </section>
      ))}
    </>
  );
}

function hintOf({ hint: { identifier, name, species, owner } }: SetupStudy): string {
  return [identifier, name, species, owner].filter((part) => part !== null).join(", ");
}

function Results({ results }: { results: readonly Result[] }) {
  return (
    <ResultTable label={t("results")}>
      {results.map(({ value, value_text, comparator = "", ...result }) => {
        const text = value_text ?? (value === null ? "" : `${comparator}${value}`);
        return <ResultRow key={result.analyte} of={{ ...result, value: text }} />;
      })}
    </ResultTable>
  );
}
