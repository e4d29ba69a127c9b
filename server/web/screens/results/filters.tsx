import type { DeviceNames, ResultFilters } from "../../../dashboard/types/results/results.ts";
import { MODALITIES } from "../../../dashboard/types/results/study-words.ts";
import { useResource } from "../../resource.tsx";
import { Field } from "../../ui/form/field.tsx";
import { SearchField } from "../../ui/form/search-field.tsx";
import { type FilterName } from "./query.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { t } from "./texts.ts";

/** The filters above the list. Each change immediately changes the address. */
export function Filters({
  filters,
  patientName,
  change,
}: {
  filters: ResultFilters;
  patientName: string | undefined;
  change: (name: FilterName, value: string) => void;
}) {
  const devices = useResource<DeviceNames>("/results-devices").data?.items ?? [];
  const listed =
    filters.device === undefined || devices.includes(filters.device) ? devices : [filters.device, ...devices];
  return (
    <search class="filters no-print" aria-label={t("filters")}>
      <SearchField
        label={t("search")}
        hint={t("searchHint")}
        value={filters.q ?? ""}
        change={(value) => change("q", value)}
      />
      <Choice label={t("modality")} name="modality" filters={filters} change={change}>
        <option value="">{t("all")}</option>
        {MODALITIES.map((modality) => (
          <option key={modality} value={modality}>
            {studyWord(modality)}
          </option>
        ))}
      </Choice>
      <Choice label={t("device")} name="device" filters={filters} change={change}>
        <option value="">{t("all")}</option>
        {listed.map((device) => (
          <option key={device} value={device}>
            {device}
          </option>
        ))}
      </Choice>
      {(["from", "to"] as const).map((name) => (
        <Field key={name} label={t(name)}>
          <input
            type="date"
            value={filters[name] ?? ""}
            onChange={({ currentTarget }) => change(name, currentTarget.value)}
          />
        </Field>
      ))}
      <Chips filters={filters} change={change} />
      {filters.patient !== undefined && (
        <p class="patient-filter">
          {t("onlyPatient", { name: patientName ?? "…" })}{" "}
          <button type="button" onClick={() => change("patient", "")}>
            {t("allPatients")}
          </button>
        </p>
      )}
    </search>
  );
}

/** The filters that are used most, one click each. */
const chips = [
  { name: "flag", value: "critical" },
  { name: "flag", value: "outside" },
  { name: "follow", value: "mine" },
  { name: "follow", value: "open" },
] as const;

function Chips({ filters, change }: { filters: ResultFilters; change: (name: FilterName, value: string) => void }) {
  return (
    <div class="chips" role="group" aria-label={t("quick")}>
      {chips.map(({ name, value }) => {
        const isOn = filters[name] === value;
        return (
          <button
            key={value}
            type="button"
            class="chip"
            aria-pressed={isOn}
            onClick={() => change(name, isOn ? "" : value)}
          >
            {t(value)}
          </button>
        );
      })}
    </div>
  );
}

function Choice({
  label,
  name,
  filters,
  change,
  children,
}: {
  label: string;
  name: "modality" | "device";
  filters: ResultFilters;
  change: (name: FilterName, value: string) => void;
  children: preact.ComponentChildren;
}) {
  return (
    <Field label={label}>
      <select value={filters[name] ?? ""} onChange={({ currentTarget }) => change(name, currentTarget.value)}>
        {children}
      </select>
    </Field>
  );
}
