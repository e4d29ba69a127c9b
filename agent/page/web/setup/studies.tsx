import type { Result } from "../../../../shared/api/study.ts";
import type { SetupStudy } from "../../types/setup.ts";
import { dateTime } from "../../../../server/web/text.ts";
import { DataTable } from "../../../../server/web/ui/data-table.tsx";
import { Flag } from "../../../../server/web/ui/flag.tsx";
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
    <DataTable label={t("results")} columns={[t("analyte"), [t("value"), "number"], t("unit"), t("range"), t("flag")]}>
      {results.map(({ analyte, value, value_text, comparator = "", unit, reference_range, flag, abnormal }) => (
        <tr key={analyte}>
          <th scope="row">{analyte}</th>
          <td class="number">{value_text ?? (value === null ? "" : `${comparator}${value}`)}</td>
          <td>{unit}</td>
          <td>{reference_range}</td>
          <td>
            <Flag flag={flag} abnormal={abnormal} />
          </td>
        </tr>
      ))}
    </DataTable>
  );
}
