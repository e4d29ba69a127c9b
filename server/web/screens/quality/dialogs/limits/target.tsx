import { useState } from "preact/hooks";
import type { SeriesBody, TargetBody, TargetValues } from "../../../../../dashboard/types/quality.ts";
import { targetOfRange } from "../../../../../../shared/clinical/control/statistics.ts";
import { call } from "../../../../api.ts";
import { clinicPath } from "../../../../session.ts";
import { Field } from "../../../../ui/form/field.tsx";
import { FormDialog } from "../../../../ui/form-dialog/form-dialog.tsx";
import { targetText, typedNumber } from "../../words/numbers.ts";
import { analyteTitle, type Names } from "../../words/words.ts";
import { t } from "../texts.ts";

type Kind = "mean" | "range";
type Texts = Readonly<Record<"mean" | "sd" | "low" | "high", string>>;

/** Enters the limits of the control's sheet. A range needs the answer how many SDs it has on each side. */
export function EnterTarget({
  of: body,
  names,
  close,
  reload,
}: {
  of: SeriesBody;
  names: Names;
  close: () => void;
  reload: () => Promise<void>;
}) {
  const { series, target, printed_range: printed } = body;
  const [kind, setKind] = useState<Kind>(printed !== null && target === null ? "range" : "mean");
  const [texts, setTexts] = useState<Texts>({
    mean: target === null ? "" : String(target.mean),
    sd: target === null ? "" : String(target.sd),
    low: printed === null ? "" : String(printed.low),
    high: printed === null ? "" : String(printed.high),
  });
  const [factor, setFactor] = useState<2 | 3 | null>(null);
  const values = valuesOf(kind, texts, factor);
  const save = async ({ since }: Record<string, string>) => {
    if (values === null) return;
    const { device_id, analyte, unit, material, level, lot, expires } = series;
    const of = { device_id, analyte, unit, material, level, lot, expires };
    const sent: TargetBody = { ...of, target: values, since: since === "now" ? "now" : "lot" };
    await call("POST", `${clinicPath()}/quality/targets`, sent);
    await reload();
  };
  return (
    <FormDialog
      title={t("targetTitle", {
        ...{ analyte: analyteTitle(series.analyte, names), level: series.level, lot: series.lot },
      })}
      close={close}
      act={save}
      button={t("targetButton")}
      isReady={values !== null}
    >
      <KindChoice chosen={kind} choose={setKind} />
      <Numbers kind={kind} texts={texts} change={setTexts} />
      {kind === "range" && <FactorChoice chosen={factor} choose={setFactor} />}
      {values !== null && (
        <p role="status">
          {t("makes", { target: targetText("mean" in values ? values : targetOfRange(values, values.factor)) })}{" "}
          {series.unit}
        </p>
      )}
      <Field label={t("since")}>
        <select name="since">
          <option value="lot">{t("sinceLot")}</option>
          <option value="now">{t("sinceNow")}</option>
        </select>
      </Field>
    </FormDialog>
  );
}

/** @returns null as long as a number is missing or false, or nobody said what the range means */
function valuesOf(kind: Kind, texts: Texts, factor: 2 | 3 | null): TargetValues | null {
  const [mean, sd, low, high] = [texts.mean, texts.sd, texts.low, texts.high].map(typedNumber);
  if (kind === "mean") return mean == null || sd == null || sd <= 0 ? null : { mean, sd };
  return low == null || high == null || high <= low || factor === null ? null : { low, high, factor };
}

function Numbers({ kind, texts, change }: { kind: Kind; texts: Texts; change: (texts: Texts) => void }) {
  const faultOf = (key: keyof Texts) => {
    const value = typedNumber(texts[key]);
    if (texts[key] === "") return null;
    if (value === null) return t("number");
    if (key === "sd" && value <= 0) return t("positive");
    const low = typedNumber(texts.low);
    return key === "high" && low !== null && value <= low ? t("above") : null;
  };
  return (
    <div class="control-pair">
      {(kind === "mean" ? (["mean", "sd"] as const) : (["low", "high"] as const)).map((key) => (
        <Field key={key} label={t(key)} fault={faultOf(key)}>
          <input
            required
            inputMode="decimal"
            autocomplete="off"
            value={texts[key]}
            onInput={({ currentTarget }) => change({ ...texts, [key]: currentTarget.value })}
          />
        </Field>
      ))}
    </div>
  );
}

function KindChoice(of: Chosen<Kind>) {
  const values = [
    ["mean", t("meanAndSd")],
    ["range", t("range")],
  ] as const;
  return <Choices legend={t("sheetHas")} name="kind" of={values} {...of} />;
}

/** Sheets print 2 SD or 3 SD. Nothing is chosen before a person chooses it. */
function FactorChoice(of: Chosen<2 | 3>) {
  const values = [
    [2, t("factor2")],
    [3, t("factor3")],
  ] as const;
  return <Choices legend={t("factor")} hint={t("factorHint")} name="factor" of={values} {...of} />;
}

interface Chosen<Value> {
  readonly chosen: Value | null;
  readonly choose: (value: Value) => void;
}

function Choices<Value extends string | number>({
  legend,
  hint,
  name,
  of: values,
  chosen,
  choose,
}: {
  legend: string;
  hint?: string;
  name: string;
  of: readonly (readonly [value: Value, words: string])[];
} & Chosen<Value>) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {values.map(([value, words]) => (
        <label key={value} class="check">
          <input type="radio" name={name} required checked={value === chosen} onChange={() => choose(value)} />
          {words}
        </label>
      ))}
      {hint !== undefined && <p class="hint">{hint}</p>}
    </fieldset>
  );
}
