import type { ControlledDevice, QualityBody, ShownSeries } from "../../../dashboard/types/quality.ts";
import { Field } from "../../ui/form/field.tsx";
import { dayText } from "../../ui/words/words.ts";
import type { Choice } from "./choice.ts";
import { t } from "./words/texts.ts";
import { analyteTitle, deviceTitle, type Names } from "./words/words.ts";

/** A clinic that runs one control a month sees no drift in 90 days. */
const SHOWN_DAYS = [90, 365, 1095] as const;
export type ShownDays = (typeof SHOWN_DAYS)[number];

/** Chooses the shown device, analyte, level and lot, which the address names, and the time. */
export function Filters({
  of: { devices, out_of_use: outOfUse },
  chosen: { device, series },
  names,
  show,
  days,
  showDays,
}: {
  of: QualityBody;
  chosen: Choice;
  names: Names;
  show: (query: Readonly<Record<string, string>>) => void;
  days: ShownDays;
  showDays: (days: ShownDays) => void;
}) {
  return (
    <search class="list-bar no-print" aria-label={t("filters")}>
      <Field label={t("device")}>
        <select value={device.device_id} onChange={({ currentTarget }) => show({ device: currentTarget.value })}>
          {devices.map((each) => (
            <option key={each.device_id} value={each.device_id}>
              {outOfUse.includes(each.device_id) ? t("outOfUse", { device: deviceTitle(each) }) : deviceTitle(each)}
            </option>
          ))}
        </select>
      </Field>
      {series !== null && (
        <>
          <SeriesChoice device={device} series={series} names={names} show={show} />
          <Field label={t("shownTime")}>
            <select
              value={days}
              onChange={({ currentTarget }) => showDays(SHOWN_DAYS[currentTarget.selectedIndex] ?? days)}
            >
              {SHOWN_DAYS.map((each) => (
                <option key={each} value={each}>
                  {t(`days-${each}`)}
                </option>
              ))}
            </select>
          </Field>
        </>
      )}
    </search>
  );
}

function SeriesChoice({
  device: { device_id: device, series: all },
  series: { analyte, level, lot },
  names,
  show,
}: {
  device: ControlledDevice;
  series: ShownSeries;
  names: Names;
  show: (query: Readonly<Record<string, string>>) => void;
}) {
  const ofAnalyte = all.filter((each) => each.analyte === analyte);
  const ofLevel = ofAnalyte.filter((each) => each.level === level);
  return (
    <>
      <Field label={t("analyte")}>
        <select value={analyte} onChange={({ currentTarget }) => show({ device, level, analyte: currentTarget.value })}>
          {distinct(all.map((each) => each.analyte)).map((each) => (
            <option key={each} value={each}>
              {analyteTitle(each, names)}
            </option>
          ))}
        </select>
      </Field>
      <div class="actions" role="group" aria-label={t("level")}>
        {distinct(ofAnalyte.map((each) => each.level)).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === level}
            onClick={() => show({ device, analyte, level: each })}
          >
            {t("levelOf", { level: each })}
          </button>
        ))}
      </div>
      <Field label={t("lot")}>
        <select
          value={lot}
          onChange={({ currentTarget }) => show({ device, analyte, level, lot: currentTarget.value })}
        >
          {ofLevel.map((each) => (
            <option key={each.id} value={each.lot}>
              {each.expires === null
                ? t("lotTitle", { lot: each.lot })
                : `${t("lotTitle", { lot: each.lot })}, ${t("until", { date: dayText(each.expires) })}`}
            </option>
          ))}
        </select>
      </Field>
    </>
  );
}

/** The values without repeats, in the order of a person: 2 before 10. */
function distinct(values: readonly string[]): string[] {
  const { compare } = new Intl.Collator("en", { numeric: true });
  return [...new Set(values)].toSorted(compare);
}
