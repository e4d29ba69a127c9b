import type { OutsideValue } from "../../../dashboard/types/results/results.ts";
import { translations } from "../../text.ts";
import { Flag } from "./flag.tsx";
import "./outside-values.css";

/** The values outside their intervals in one line, each with its flag, and how many more there are. */
export function OutsideValues({ outside, outside_total }: { outside: readonly OutsideValue[]; outside_total: number }) {
  return (
    <span class="outside">
      {outside.map(({ analyte, text, flag, side }, index) => (
        <span key={index}>
          {analyte} {text} <Flag flag={flag} side={side} abnormal={flag === null} />
        </span>
      ))}
      {outside_total > outside.length && (
        <span class="quiet">{t("others", { count: outside_total - outside.length })}</span>
      )}
    </span>
  );
}

const t = translations({
  others: ["and {count} more", "ve {count} tane daha"],
});
