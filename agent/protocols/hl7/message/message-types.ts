import type { Hl7Message } from "./message.ts";
import type { Segment } from "./segment.ts";

// Message types (MSH-9) that the agent acknowledges, and the types of their replies.

/** Unsolicited results and states, ORU^R40 alarms and states of equipment (chapter 13) included. */
const UNSOLICITED = ["ORU", "OUL", "OPU", "UDM", "ESU", "INU", "SSU", "LSU", "TCU", "EAN", "NMD"];
/** The other types of HL7 2.5.1 (table 0076). They carry or request data that the agent does not have. */
const NOT_TAKEN = new Set(
  (
    "ACK ADR ADT BAR CRM CSU DFT DOC DSR EAC EAR EDR EQQ ERP ESR INR LSR MCF MDM MFD MFK MFN MFQ MFR NMQ NMR OMB OMD OMG OMI OML " +
    "OMN OMP OMS ORB ORD ORF ORG ORI ORL ORM ORN ORP ORR ORS OSQ OSR PEX PGL PIN PMU PPG PPP PPR PPT PPV PRR PTR QBP QCK QCN QRY " +
    "QSB QSX QVR RAR RAS RCI RCL RDE RDR RDS RDY REF RER RGR RGV ROR RPA RPI RPL RPR RQA RQC RQI RQP RQQ RRA RRD RRE RRG RRI RSP " +
    "RTB SIU SPQ SQM SQR SRM SRR SSR SUR TBR TCR VQQ VTQ VXQ VXR VXU VXX"
  ).split(" "),
);
/** Segments with results, orders or questions. */
const CONTENT = ["OBX", "OBR", "ORC", "QRD", "QPD"];
/** Types with a reply type of their own, or whose acknowledgement has another trigger. */
const REPLY_TYPES: Readonly<Record<string, string>> = {
  "ORU^R30": "ACK^R33",
  "ORU^R31": "ACK^R33",
  "ORU^R32": "ACK^R33",
  "NMQ^N01": "NMR^N01",
  "ORM^O01": "ORR^O02",
  "QRY^Q02": "QCK^Q02",
  "QBP^Q11": "RSP^K11",
  "QBP^ZV1": "RSP^ZV2",
  // The device withdraws its query.
  "QCN^J01": "ACK^J01",
};

/** Returns type and trigger of MSH-9 as sent. Some devices write the structure alone, `ORU_R01`. */
export function typeAndTrigger(header: Segment): readonly [type: string, trigger: string] {
  const [type = "", trigger = ""] = header.components(9).map((part) => part.trim());
  const [, own = type, ofStructure = trigger] = trigger === "" ? (/^([A-Z]{3})_([A-Z]\d\d)$/i.exec(type) ?? []) : [];
  return [own, ofStructure];
}

export function typeOf({ header }: Hl7Message): string {
  return typeAndTrigger(header)[0].toUpperCase();
}

export function isUnsolicited(message: Hl7Message): boolean {
  return UNSOLICITED.includes(typeOf(message));
}

/**
 * Returns whether the message is a device's sign of life, such as ZHB^H00 every five minutes: of its own type or none, without
 * results, orders and queries. A refusal would show a person some hundred faults a day.
 */
export function isSignOfLife(message: Hl7Message): boolean {
  const type = typeOf(message);
  const isOwn = /^(?:[A-Z][A-Z0-9_]{1,19})?$/.test(type) && !NOT_TAKEN.has(type) && !UNSOLICITED.includes(type);
  // Its segments of its own type may hold results of that patient.
  const namesPatient = message.segments.some(({ name }) => name === "PID");
  return isOwn && isEmpty(message) && !namesPatient;
}

/** Returns whether the message has no results, orders and questions. */
export function isEmpty({ segments }: Hl7Message): boolean {
  return !segments.some(({ name }) => CONTENT.includes(name));
}

/** Returns the first two components of the reply's MSH-9; null for an unsupported type. */
export function replyType({ header }: Hl7Message): string | null {
  const [type, trigger] = typeAndTrigger(header);
  const special = `${type}^${trigger}`.toUpperCase();
  if (Object.hasOwn(REPLY_TYPES, special)) return REPLY_TYPES[special]!;
  if (!UNSOLICITED.includes(type.toUpperCase())) return null;
  return trigger === "" ? "ACK" : `ACK^${trigger}`;
}

/** Returns whether the message is an order query. Analyzers query with ORC-1 RF (refill request); other ORMs notify. */
export function asksForOrders({ header, segments }: Hl7Message): boolean {
  switch (typeAndTrigger(header).join("^").toUpperCase()) {
    case "QRY^Q02":
    case "QBP^Q11":
      return true;
    case "ORM^O01":
      return segments.some((orc) => orc.name === "ORC" && orc.component(1, 1).trim().toUpperCase() === "RF");
    default:
      return false;
  }
}

/** Returns whether the message responds to one of the agent's. Acknowledging it would never end. */
export function isResponse(message: Hl7Message): boolean {
  return typeOf(message) === "ACK" || message.segments.some(({ name }) => name === "MSA");
}

/** Returns whether messages of this type (MSH-9) carry results. */
export function isResultType(type: string): boolean {
  return /^(ORU|OUL|OPU)\b/i.test(type.trim());
}
