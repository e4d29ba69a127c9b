import { useState } from "preact/hooks";
import type { UnitChoice, UnitSystem } from "../../../../shared/clinical/units/unit-choice.ts";
import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import type { TypedAnalyte } from "../../../dashboard/types/results/manual-study.ts";
import { useResource } from "../../resource.tsx";
import { language, translations } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";

const SYSTEMS: readonly UnitSystem[] = ["conventional", "si"];

/** The units of the clinic: a system, and single analytes that it reads in another unit. The form sends them as `units`. */
export function UnitsField({ of }: { of: UnitChoice }) {
  const [{ system, exceptions }, setUnits] = useState(of);
  const catalogue = useResource<TypedAnalyte[]>("/manual-study/analytes");
  const choices = (catalogue.data ?? []).filter(({ units }) => units.length > 1);
  const setException = (code: string, unit: string | undefined) =>
    setUnits({
      system,
      exceptions: Object.fromEntries(
        Object.entries({ ...exceptions, [code]: unit }).flatMap(([each, its]) =>
          its === undefined ? [] : [[each, its]],
        ),
      ),
    });
  const left = choices.filter(({ code }) => exceptions[code] === undefined);
  return (
    <fieldset class="units-field">
      <legend>{t("units")}</legend>
      <input type="hidden" name="units" value={JSON.stringify({ system, exceptions })} />
      <Field label={t("system")} hint={t("systemHint")}>
        <select
          value={system ?? ""}
          onChange={({ currentTarget }) =>
            setUnits({ system: (currentTarget.value || null) as UnitSystem | null, exceptions })
          }
        >
          <option value="">{t("asSent")}</option>
          {SYSTEMS.map((each) => (
            <option key={each} value={each}>
              {t(each)}
            </option>
          ))}
        </select>
      </Field>
      {choices
        .filter(({ code }) => exceptions[code] !== undefined)
        .map((analyte) => (
          <Exception
            key={analyte.code}
            of={analyte}
            unit={exceptions[analyte.code] ?? ""}
            change={(unit) => setException(analyte.code, unit)}
          />
        ))}
      {left.length > 0 && (
        <Field label={t("except")}>
          <select
            value=""
            onChange={({ currentTarget }) => {
              const analyte = left.find(({ code }) => code === currentTarget.value);
              if (analyte !== undefined) setException(analyte.code, analyte.units[1]);
            }}
          >
            <option value="">{t("choose")}</option>
            {left.map((analyte) => (
              <option key={analyte.code} value={analyte.code}>
                {nameOf(analyte)}
              </option>
            ))}
          </select>
        </Field>
      )}
    </fieldset>
  );
}

/** `change` gets undefined to remove it. */
function Exception({
  of,
  unit,
  change,
}: {
  of: TypedAnalyte;
  unit: string;
  change: (unit: string | undefined) => void;
}) {
  return (
    <div class="units-exception">
      <Field label={nameOf(of)}>
        <select value={unit} onChange={({ currentTarget }) => change(currentTarget.value)}>
          {of.units.map((each) => (
            <option key={each} value={each}>
              {unitText(each) || t("noUnit")}
            </option>
          ))}
        </select>
      </Field>
      <button type="button" onClick={() => change(undefined)}>
        {t("remove")}
        <span class="visually-hidden"> {nameOf(of)}</span>
      </button>
    </div>
  );
}

function nameOf({ code, name, name_tr }: TypedAnalyte): string {
  return `${code}, ${language.value === "tr" ? name_tr : name}`;
}

const t = translations({
  units: ["Units of results", "Sonuçların birimleri"],
  system: ["System", "Sistem"],
  systemHint: [
    "Pages, reports and files show every result in it. The value that was sent stays beside it.",
    "Sayfalar, raporlar ve dosyalar her sonucu bu birimle gösterir. Gönderilen değer yanında kalır.",
  ],
  asSent: ["As sent by each device", "Her cihazın gönderdiği gibi"],
  conventional: ["Conventional (mg/dL)", "Geleneksel (mg/dL)"],
  si: ["SI (mmol/L)", "SI (mmol/L)"],
  except: ["Another unit for", "Başka birimle gösterilecek analit"],
  choose: ["Choose an analyte", "Analit seçin"],
  noUnit: ["no unit", "birimsiz"],
  remove: ["Remove", "Kaldır"],
});
