import { deviceEvents } from "./device-event.ts";
import type { DeviceEventDraft } from "./report.ts";

export interface DeviceReport {
  /** Name that the device gives itself. */
  readonly device: string;
  readonly topic: "status" | "event" | "operators";
  /** JSON. */
  readonly content: string;
}

export type Lock = "LOCK" | "UNLOCK";

/** Severities of a POCT1-A event that is a fault: warning and critical. The others note what a person did. */
const FAULT = /^[WC]$/i;
/** Words that may come with a person's or an animal's name or number. */
const OF_SOMEONE = /patient|sample|specimen|operator|user|name|accession/i;

/**
 * Returns the fault of a device's event (EVS.R01). It has neither a patient nor a message, so that words about one are left out.
 * @param at time of receipt, in ms since 1970; also the event's, if it has no offset
 * @returns null for another report
 */
export function faultOf(
  { device: name, topic, content }: DeviceReport,
  device: string,
  at: number,
): DeviceEventDraft | null {
  if (topic !== "event") return null;
  const {
    at: sentAt = "",
    description = "",
    severity = "",
    number = "",
  } = JSON.parse(content) as Partial<Record<string, string>>;
  const text = OF_SOMEONE.test(description) ? "" : description;
  if (!FAULT.test(severity) || (text === "" && number === "")) return null;
  const time = /[+-]\d\d:?\d\d$/.test(sentAt) ? sentAt : "";
  const origin = { deviceName: name.split("|").slice(1).join(" ").trim() || name, people: [] };
  const context = { device, timeZone: "UTC", receivedAt: at };
  return deviceEvents(origin, [{ event: "fault", at: time, subject: number, text }], context)[0] ?? null;
}
