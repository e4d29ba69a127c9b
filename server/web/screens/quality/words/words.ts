import type {
  ControlledDevice,
  ShownDeviceEvent,
  ShownPoint,
  ShownSeries,
  Target,
} from "../../../../dashboard/types/quality.ts";
import type { Rule } from "../../../../../shared/clinical/control/types.ts";
import type { TypedAnalyte } from "../../../../dashboard/types/results/manual-study.ts";
import { date, dateTime } from "../../../text.ts";
import type { Tone } from "../../../ui/status/status-card.tsx";
import { analyteName, dayText } from "../../../ui/words/words.ts";
import { signed, zoneOf } from "./numbers.ts";
import { t } from "./texts.ts";

// Control values, states and events in words.

/** The analytes of the catalogue by their codes. */
export type Names = ReadonlyMap<string, TypedAnalyte>;

/** `GLU, Glucose`; a device's own code has no name. */
export function analyteTitle(code: string, names: Names): string {
  const known = names.get(code);
  const name = known === undefined ? null : analyteName(known);
  return name === null ? code : `${code}, ${name}`;
}

export function deviceTitle({ device_id, name }: Pick<ControlledDevice, "device_id" | "name">): string {
  return name === device_id || name === "" ? device_id : `${device_id}, ${name}`;
}

interface Shown {
  readonly tone: Tone;
  readonly words: string;
}

/** The state of a series, as a nurse reads it. */
export function stateOf({ state, unexplained, last_at, target }: ShownSeries): Shown {
  if (state === "failed") return { tone: "bad", words: t("failed") };
  if (unexplained > 0) return { tone: "warn", words: t("notExplained", { count: unexplained }) };
  if (state === "warning") return { tone: "warn", words: t("littleOff") };
  if (state === "ok") return { tone: "good", words: t("passed") };
  if (last_at === null) return { tone: "plain", words: t("never") };
  return { tone: "plain", words: target === null ? t("noLimits") : t("noneSince", { date: date(last_at) }) };
}

/** One run in words, for the line below the chart, the table and screen readers. */
export function pointText(point: ShownPoint, unit: string | null): string {
  return [
    `${dateTime(point.at)}: ${[point.text, unit].filter(Boolean).join(" ")}`,
    point.z === null ? null : t("zOf", { z: signed(point.z) }),
    ...verdictWords(point),
  ]
    .filter((part) => part !== null)
    .join(" · ");
}

/** The page's words about a run: where it lies, the rules that it broke, and whether it counts. */
export function verdictWords({ excluded, verdict, rules, z, value }: ShownPoint): string[] {
  if (excluded !== null) return [t("handling", { reason: excluded.reason })];
  if (verdict === null) return [t(value === null ? "notANumber" : "notJudged")];
  const broken = rules.length === 0 ? "" : ` (${toldRules(rules).join(", ")})`;
  if (verdict === "reject") return [`${t("rejected")}${broken}`];
  if (verdict === "warn") return [`${t("warned")}${broken}`];
  return [t(z === null ? "accepted" : zoneOf(z))];
}

/** The rules without 1-2s where another one is broken: what is far off is also a little off, and nobody needs to read it twice. */
export function toldRules(rules: readonly Rule[]): Rule[] {
  return rules.filter((rule) => rule !== "1-2s" || rules.length === 1);
}

/** How the limits came about, in a sentence. */
export function basisText({ basis, at, by, runs }: Target): string {
  if (basis === "sheet") return by === null ? t("fromSheet") : t("fromSheetBy", { by, date: date(at) });
  if (basis === "device") return t("fromDevice");
  if (basis === "own") return t("ownLimits", { date: date(at), count: runs ?? 0, by: by ?? "–" });
  return t("provisional", { count: runs ?? 0 });
}

/** An event of the device or the control: what it was, and its lot. */
export function eventText({ event, subject, lot, expires, text, by }: ShownDeviceEvent): string {
  return [
    t(`event-${event}`),
    subject,
    lot === null ? null : t("lotOf", { lot }),
    expires === null ? null : t("until", { date: dayText(expires) }),
    text,
    by === null ? t("byDevice") : by,
  ]
    .filter((part) => part !== null && part !== "")
    .join(" · ");
}
