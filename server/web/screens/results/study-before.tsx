import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import type { Change } from "../../../../shared/clinical/compare/compare.ts";
import type { ResultBefore } from "../../../dashboard/types/results/results.ts";
import { translations } from "../../text.ts";
import { controlFailed } from "../../ui/result-row/control-mark.tsx";
import { convertedFrom } from "../../ui/result-row/sent-text.ts";
import { signed } from "../../ui/words/signed.ts";
import { dayOf, plainDate } from "../../ui/words/words.ts";

/** The result before, with the change since then or the reason why the two do not compare. */
export function Before({ of }: { of: ResultBefore }) {
  const { fp, device_name, acquired_at, analyte, value, unit, sent, change, control_failed } = of;
  return (
    <>
      <span title={convertedFrom({ unit, sent })}>{[analyte, value, unit].filter(Boolean).join(" ")}</span>{" "}
      <a class="quiet" href={`/dashboard/results/${fp}`}>
        {plainDate(dayOf(acquired_at))}
      </a>
      {control_failed === true && <span class="change">{controlFailed()}</span>}
      {change !== null &&
        ("code" in change ? (
          <span class="change">{t(change.code, { device: device_name })}</span>
        ) : (
          <ChangeText of={change} />
        ))}
    </>
  );
}

function ChangeText({ of: { absolute, percent, rcv } }: { of: Change }) {
  const share = percent === null ? "" : ` (${signed(Math.round(percent))} %)`;
  return (
    <>
      <span class={`change ${rcv?.exceeded === true ? "big" : ""}`.trimEnd()}>
        {signed(absolute)}
        {share}
      </span>
      {rcv !== null && (
        <span class="change" title={rcv.source}>
          {t(rcv.exceeded ? "beyond" : "within", { rcv: `${rcv.rcv} ${unitText(rcv.unit)}` })}
          <span class="visually-hidden"> {rcv.source}</span>
        </span>
      )}
    </>
  );
}

const t = translations({
  comparator: ["not comparable: a bound", "karşılaştırılamaz: değer bir sınır"],
  unit: ["not comparable: another unit", "karşılaştırılamaz: başka birim"],
  device: ["not comparable: measured on {device}", "karşılaştırılamaz: {device} ile ölçüldü"],
  age: ["not comparable: growing animal", "karşılaştırılamaz: hayvan büyüme çağındaydı"],
  interval: ["not comparable: another interval", "karşılaştırılamaz: başka referans aralığı"],
  beyond: ["more than the published {rcv}", "yayımlanmış {rcv} değerinden fazla"],
  within: ["may be chance: published limit {rcv}", "rastlantı olabilir: yayımlanmış sınır {rcv}"],
});
