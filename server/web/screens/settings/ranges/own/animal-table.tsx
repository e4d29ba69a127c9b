import type {
  CandidatesShown,
  OwnCandidate,
  OwnCandidates,
} from "../../../../../dashboard/types/settings/own-intervals.ts";
import { date, dateTime } from "../../../../text.ts";
import { DataTable } from "../../../../ui/list/data-table.tsx";
import { type Numbers, numbersOf } from "./numbers.ts";
import { t } from "./texts.ts";

/** The animals of a search, each with a box for a healthy one. */
export function AnimalTable({
  of,
  healthy,
  toggle,
}: {
  readonly of: CandidatesShown;
  readonly healthy: ReadonlySet<string>;
  readonly toggle: (fp: string, isOn: boolean) => void;
}) {
  const numbers = numbersOf(of);
  return (
    <DataTable
      label={t("candidates")}
      class="cards dense"
      columns={[t("healthy"), t("oneAnimal"), [t("value"), "number"], t("sampled"), t("device"), t("others")]}
    >
      {of.animals.map((animal) => (
        <AnimalRow
          key={animal.study_fp}
          animal={animal}
          {...writtenValue(animal, numbers)}
          isHealthy={healthy.has(animal.study_fp)}
          toggle={(isOn) => toggle(animal.study_fp, isOn)}
        />
      ))}
    </DataTable>
  );
}

/** Writes a value with its unit, and for the pointer as it was sent. */
export function writtenValue(
  { value }: OwnCandidate,
  numbers: Numbers,
): { readonly written: string; readonly typed: string | undefined } {
  return {
    written: `${numbers.value(value)} ${numbers.unit}`,
    typed: numbers.typed((number, unit) => `${number(value)} ${unit}`),
  };
}

/** Why animals are not in the list. */
export function Missing({ of: { left, searched_from: from } }: { of: OwnCandidates }) {
  const reasons = (["bound", "doubted", "unit", "age"] as const).filter((reason) => left[reason] > 0);
  if (reasons.length === 0 && from === null) return null;
  return (
    <p class="quiet">
      {from !== null && t("searchedFrom", { at: dateTime(from) })}{" "}
      {reasons.map((reason) => t(reason, { count: left[reason] })).join(" ")}
    </p>
  );
}

function AnimalRow({
  animal,
  written,
  typed,
  isHealthy,
  toggle,
}: {
  readonly animal: OwnCandidate;
  readonly written: string;
  readonly typed: string | undefined;
  readonly isHealthy: boolean;
  readonly toggle: (isOn: boolean) => void;
}) {
  const { name, breed, age_days: days, acquired_at: at, device_name: device, flagged, study_fp: fp } = animal;
  const years = days === null ? null : t("ageOf", { years: (days / 365.25).toFixed(days < 3653 ? 1 : 0) });
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={t("healthyOf", { name, value: written })}
          checked={isHealthy}
          onChange={({ currentTarget }) => toggle(currentTarget.checked)}
        />
      </td>
      <th scope="row">
        {name} <span class="quiet">{[breed, years].filter(Boolean).join(", ")}</span>
      </th>
      <td class="number" title={typed}>
        {written}
      </td>
      <td>
        <a href={`/dashboard/results/${fp}`}>{date(at)}</a>
      </td>
      <td>{device}</td>
      <td>{flagged.join(", ")}</td>
    </tr>
  );
}
