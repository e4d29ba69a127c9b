import type { ResultChange } from "../../../../shared/clinical/compare/compare.ts";
import { translations } from "../../text.ts";
import { differenceWord, notComparable } from "../../ui/words/change-words.ts";
import { signed } from "../../ui/words/signed.ts";

const ARROWS = { up: "↑", down: "↓", same: "=" } as const;

/** The change of a value since the one before it, or in a word why the two do not compare. Bold if chance does not explain it. */
export function ChangeMark({ of: change }: { of: ResultChange }) {
  if ("code" in change) {
    return (
      <small class="since" title={notComparable(change.code)}>
        <span aria-hidden="true">≠ {differenceWord(change.code)}</span>
        <span class="visually-hidden">{notComparable(change.code)}</span>
      </small>
    );
  }
  const { absolute, direction, rcv } = change;
  const isBig = rcv?.exceeded === true;
  return (
    <small class={isBig ? "since big" : "since"} title={isBig ? rcv.source : undefined}>
      <span aria-hidden="true">
        {ARROWS[direction]} {direction === "same" ? "" : signed(absolute)}
      </span>
      <span class="visually-hidden">
        {direction === "same" ? t("same") : t("changed", { change: signed(absolute) })}
        {isBig && ` ${t("beyond", { rcv: `${rcv.rcv} ${rcv.unit}` })}`}
      </span>
    </small>
  );
}

const t = translations({
  same: ["unchanged", "değişmedi"],
  changed: ["change {change}", "değişim {change}"],
  beyond: ["more than the published {rcv}", "yayımlanmış {rcv} değerinden fazla"],
});
