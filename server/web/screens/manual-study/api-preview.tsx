import type { Result } from "../../../../shared/api/study.ts";
import type { ManualPreview } from "../../../dashboard/types/results/manual-study.ts";
import { Facts } from "../../ui/status/facts.tsx";
import { t } from "./texts.ts";

type Column = Exclude<keyof Result, "code_source" | "comment">;

const ALWAYS: readonly Column[] = ["analyte", "value", "unit", "reference_range", "flag"];
const SOMETIMES: readonly Column[] = ["comparator", "value_text"];

/** The study as the API will serve it, folded away from those who only type. */
export function ApiPreview({ study, fp }: { study: ManualPreview["study"]; fp: string | null }) {
  const { results, ...head } = study;
  const columns = [...ALWAYS, ...SOMETIMES.filter((column) => results.some((result) => result[column] !== undefined))];
  return (
    <details class="api-preview">
      <summary>{t("developers")}</summary>
      <h2>{t("asApi")}</h2>
      <Facts
        of={[
          ["fp", fp === null ? t("fpLater") : <code key="fp">{JSON.stringify(fp)}</code>],
          ...Object.entries(head).map(
            ([name, value]) => [name, <code key={name}>{JSON.stringify(value)}</code>] as const,
          ),
        ]}
      />
      <div class="table-frame" tabIndex={0} role="region" aria-label="results">
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col" class={column === "value" ? "number" : undefined}>
                  <code>{column}</code>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {results.map((result) => (
              <tr key={result.analyte}>
                {columns.map((column) => (
                  <td key={column} class={column === "value" ? "number" : undefined}>
                    {result[column] === undefined ? "" : <code>{JSON.stringify(result[column])}</code>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {results.length === 0 && <p class="quiet no-rows">{t("noResults")}</p>}
      </div>
    </details>
  );
}
