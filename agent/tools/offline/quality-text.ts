import type { ControlResult, ControlRun, DeviceEvent } from "../../../shared/api/quality.ts";
import type { Reading } from "../../report/report.ts";

// Control runs and events of devices as lines for the command line.

/** A record, or one that has no fp and no source yet. */
export type QualityDraft = Omit<ControlRun, "fp" | "source"> | Omit<DeviceEvent, "fp" | "source">;

/** Returns the control runs and events that were read in a message. */
export function qualityIn({ controls = [], events = [] }: Reading): QualityDraft[] {
  return [...controls, ...events];
}

/** `control QC2 of 2026-11-29T09:12:00.000Z, level 2, lot 4711: CREA 5.1 mg/dL; GLU >250 mg/dL H` */
export function qualityText(record: QualityDraft): string {
  const { lot, expires } = record;
  const ofLot = [named("lot", lot), named("expires", expires)];
  if (record.kind === "event") {
    const { event, at, subject, count, text } = record;
    return `${joined([`${event} of ${at}`, subject, ...ofLot, named("count", count)])}${text === null ? "" : `: ${text}`}`;
  }
  const { measured_at, level, material, sample_ids, results } = record;
  const name = ["control", ...sample_ids].join(" ");
  const head = joined([`${name} of ${measured_at}`, named("level", level), named("material", material), ...ofLot]);
  return `${head}: ${results.map(valueText).join("; ")}`;
}

function valueText({ analyte, text, unit, device_flag }: ControlResult): string {
  return [analyte, text, unit, device_flag].filter(Boolean).join(" ");
}

function named(name: string, value: string | number | null): string | null {
  return value === null ? null : `${name} ${value}`;
}

function joined(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null).join(", ");
}
