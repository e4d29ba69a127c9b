import type { RangesInUse } from "../../../../dashboard/types/settings/ranges.ts";
import type { ClinicRange } from "../../../../../shared/clinical/clinic-ranges.ts";
import { useState } from "preact/hooks";
import { Empty, Loaded, useResource } from "../../../resource.tsx";
import { clinicPath, may } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { SettingsFrame } from "../frame.tsx";
import { ImportForm } from "./import-form.tsx";
import { CriticalLimits } from "./critical-limits.tsx";
import { OwnIntervals } from "./own/own-intervals.tsx";
import { type OpenRow, RowForm } from "./row-form.tsx";
import { RangeTable, rangeWords } from "./range-table.tsx";
import { t } from "./texts.ts";
import "./ranges.css";

/** Maximum number of shown rows. The filter finds the others. */
const SHOWN_MAX = 200;

export function Ranges() {
  return (
    <SettingsFrame part="ranges">
      <RangesOfClinic />
    </SettingsFrame>
  );
}

function RangesOfClinic() {
  const ranges = useResource<RangesInUse>("/ranges");
  return (
    <>
      <p class="quiet">
        {t("intro")} <a href="/dashboard/help/flags">{t("help")}</a>
      </p>
      <Loaded of={ranges}>
        {(inUse) => (
          <>
            {may("admin") && <ImportForm key={inUse.version} inUse={inUse} done={() => void ranges.reload()} />}
            <InUse ranges={inUse} reload={ranges.reload} />
            <OwnIntervals reloadRanges={ranges.reload} />
            <CriticalLimits reloadRanges={ranges.reload} />
          </>
        )}
      </Loaded>
    </>
  );
}

function InUse({ ranges, reload }: { ranges: RangesInUse; reload: () => Promise<void> }) {
  const { version, low_quality, rows, shown } = ranges;
  const [filter, setFilter] = useState("");
  const [open, setOpen] = useState<OpenRow | null>(null);
  const buttons = (row: ClinicRange) => (
    <>
      <button type="button" aria-label={`${t("edit")} ${row.id}`} onClick={() => setOpen({ row, isRemoval: false })}>
        {t("edit")}
      </button>
      <button
        type="button"
        class="danger"
        aria-label={`${t("remove")} ${row.id}`}
        onClick={() => setOpen({ row, isRemoval: true })}
      >
        {t("remove")}
      </button>
    </>
  );
  const words = filter.toLowerCase().split(/\s+/);
  const found = rows.filter((row) => {
    const text = rangeWords(row).toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <section>
      <div class="between">
        <h2>{t("inUse")}</h2>
        {may("admin") && (
          <button type="button" onClick={() => setOpen({ row: null, isRemoval: false })}>
            {t("newRow")}
          </button>
        )}
      </div>
      {open !== null && <RowForm of={open} inUse={ranges} reload={reload} close={() => setOpen(null)} />}
      {version === null || rows.length === 0 ? (
        <Empty title={t("none")}>{t(may("admin") ? "noneNext" : "noneReader")}</Empty>
      ) : (
        <>
          <p class="quiet">
            {t("version", { version, count: rows.length })} {low_quality && t("lowQualityOn")}{" "}
            <a href={`/clinic/v1${clinicPath()}/ranges/file`} download="ranges.ndjson">
              {t("download")}
            </a>
          </p>
          <Field label={t("filter")}>
            <input
              type="search"
              class="range-filter"
              value={filter}
              onInput={({ currentTarget }) => setFilter(currentTarget.value)}
              autocomplete="off"
            />
          </Field>
          {found.length === 0 ? (
            <Empty title={t("noneFound")} />
          ) : (
            <RangeTable
              rows={found.slice(0, SHOWN_MAX)}
              label={t("inUse")}
              shown={shown}
              actions={may("admin") ? buttons : undefined}
            />
          )}
          {found.length > SHOWN_MAX && <p class="quiet">{t("more", { shown: SHOWN_MAX, count: found.length })}</p>}
        </>
      )}
    </section>
  );
}
