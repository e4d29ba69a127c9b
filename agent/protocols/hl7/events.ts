import { type FoundEvent, lotRow } from "../../report/device-event.ts";
import { given } from "../field-text.ts";
import type { Hl7Message } from "./message/message.ts";
import type { Segment } from "./message/segment.ts";
import { title, valueOf } from "./observation.ts";

// Reports of a device on itself: alarms (ORU^R40), states and stock of equipment (HL7 2.5.1 chapter 13), and the lots of reagents
// beside results. README.md of the protocols lists which of them a device was seen to send.

/** EQU-5 and NDS-3 (table 0367) of a fault: warning, serious, critical. N is normal. */
const ALERT_LEVEL = /^[WSC]$/i;
/** EQU-3 (table 0365) with an event of its own. */
const STATES: Readonly<Record<string, FoundEvent["event"]>> = { MA: "maintenance", PU: "start" };
/** INV-3 (table 0384): control material, water and waste are not reagents. Controls have their own records. */
const NOT_REAGENTS = /^(?:CO|PW|LW|SW|SC|LI)$/i;
/** `Device Information,Date of manufacture=20160908,LotNo=011,SerialNo=12220,Kind=FLine23`: the lot of a test cassette. */
const CASSETTE = /^Device Information,(?:.*,)?LotNo=([^,]*)/i;
/** OBX-3 of the slide's row after its result: `2345-7\T\MDT^GLU^LN`, with `lot,yyyy/mm,marks,emergency,...` in OBX-5. */
const SLIDE = /&MDT$/;
/** A device without a lot sends zeros. */
const NO_LOT = /^0*$/;

export function eventsOf({ header, segments }: Hl7Message): FoundEvent[] {
  const [type = "", trigger = ""] = header.components(9).map((part) => given(part).toUpperCase());
  const sentAt = given(header.component(7, 1));
  if (trigger === "R40") return alarms(segments, sentAt);
  switch (type) {
    case "EAN":
      return segments.filter(({ name }) => name === "NDS").flatMap((segment) => notification(segment, sentAt));
    case "ESU":
      return segments.filter(({ name }) => name === "EQU").flatMap((segment) => state(segment, sentAt));
    case "INU":
      return segments.filter(({ name }) => name === "INV").flatMap((segment) => stock(segment, sentAt));
    default:
      return reagents(segments, sentAt);
  }
}

/** Returns the patient's texts: every part of every PID, each typed by a person or the practice. */
export function peopleOf({ segments }: Hl7Message): string[] {
  const patients = segments.filter(({ name }) => name === "PID");
  return patients.flatMap((pid) => pid.text.slice(3).split(/[|^~&]/)).map((part) => given(part));
}

/** Returns the alarms in words. Those of a message with a patient may be about the animal, as those of a monitor. */
function alarms(segments: readonly Segment[], sentAt: string): FoundEvent[] {
  if (segments.some(({ name }) => name === "PID")) return [];
  return segments
    .filter((obx) => obx.name === "OBX" && /\p{L}{2}/u.test(valueOf(obx)))
    .map((obx) => ({ event: "fault", at: timeOf(obx, 14, sentAt), subject: title(obx), text: valueOf(obx) }));
}

function notification(nds: Segment, sentAt: string): FoundEvent[] {
  if (!ALERT_LEVEL.test(given(nds.component(3, 1)))) return [];
  const [code = "", words = ""] = nds.components(4).map(given);
  return [{ event: "fault", at: timeOf(nds, 2, sentAt), subject: code || words, text: words }];
}

function state(equ: Segment, sentAt: string): FoundEvent[] {
  const at = timeOf(equ, 2, sentAt);
  const [code = "", words = ""] = equ.components(3).map(given);
  const event = STATES[code.toUpperCase()];
  const level = given(equ.component(5, 1));
  return [
    ...(event === undefined ? [] : [{ event, at, text: words }]),
    ...(ALERT_LEVEL.test(level)
      ? [{ event: "fault" as const, at, subject: code || level, text: words || given(equ.component(5, 2)) }]
      : []),
  ];
}

/** INV: the substance, its lot and expiry, and the amount that is left. */
function stock(inv: Segment, at: string): FoundEvent[] {
  if (NOT_REAGENTS.test(given(inv.component(3, 1)))) return [];
  const [code = "", name = ""] = inv.components(1).map(given);
  const subject = name || code;
  const lot = given(inv.field(16));
  const left = given(inv.field(9)) || given(inv.field(8));
  const count = /^\d+(?:\.\d+)?$/.test(left) ? Number(left) : null;
  return [
    ...(NO_LOT.test(lot)
      ? []
      : [{ event: "reagent" as const, at, subject, lot, expires: given(inv.component(12, 1)) }]),
    ...(count === null || subject === ""
      ? []
      : [{ event: "counter" as const, at, subject, count, text: given(inv.component(11, 1)) }]),
  ];
}

/** Reads the lots beside results: SID, the slide's row, the row and the note of a lot. The test of an SID is its result's. */
function reagents(segments: readonly Segment[], sentAt: string): FoundEvent[] {
  const found: FoundEvent[] = [];
  let [test, at] = ["", sentAt];
  for (const segment of segments) {
    if (segment.name === "OBR") [test, at] = [titleOfOrder(segment), timeOf(segment, 7, sentAt)];
    if (segment.name === "OBX") {
      const row = lotRow(title(segment));
      const [lot = "", expires = ""] = valueOf(segment)
        .split(",")
        .map((part) => part.trim());
      test = title(segment);
      at = timeOf(segment, 19, at);
      if (SLIDE.test(segment.component(3, 1))) found.push({ event: "reagent", at, subject: test, lot, expires });
      else if (row !== null) found.push({ event: "reagent", at, subject: row, lot: valueOf(segment) });
    }
    if (segment.name === "SID") found.push({ event: "reagent", at, subject: test, lot: given(segment.field(2)) });
    if (segment.name === "NTE") {
      const [, lot] = CASSETTE.exec(given(segment.field(3))) ?? [];
      if (lot !== undefined) found.push({ event: "reagent", at, subject: test, lot });
    }
  }
  return found.filter(({ lot = "" }) => !NO_LOT.test(lot));
}

function titleOfOrder(obr: Segment): string {
  const [code = "", name = ""] = obr.components(4).map(given);
  return name || code;
}

function timeOf(segment: Segment, field: number, otherwise: string): string {
  return given(segment.component(field, 1)) || otherwise;
}
