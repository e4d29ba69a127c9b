import type { Dialect } from "./dialect.ts";
import { DocumentSplitter } from "./xml/document-splitter.ts";
import { all, type Element, element, field, find, parseXml, quantity, value, values } from "./xml/xml.ts";

// POCT1-A messages: reads the device's documents and encodes the agent's.

/** Identity and capabilities of a device. Fields that it leaves out are "". */
export interface Hello {
  readonly vendor: string;
  readonly model: string;
  readonly serial: string;
  /** Unique name of the device: vendor, model and serial number, or the device id. */
  readonly name: string;
  /** null if missing or implausible. */
  readonly applicationTimeoutMs: number | null;
  readonly directives: readonly string[];
  readonly topics: readonly string[];
  /** Max bytes of a message to the device; null if unknown. */
  readonly bytesMax: number | null;
}

export interface Status {
  /** Device clock, as sent. */
  readonly createdAt: string;
  /** Number of new observations, and of new events. */
  readonly observations: number;
  readonly events: number;
  /** `R`: ready. */
  readonly condition: string;
  /** Time of the device's last operator list, as sent; "" if unknown. */
  readonly operatorsAt: string;
}

interface DeviceEvent {
  readonly at: string;
  readonly description: string;
  /** N: note, W: warning, C: critical. */
  readonly severity: string;
  /** The device's number of the event. Absent without one. */
  readonly number?: string;
}

/** Message of a device; `root` holds the complete document. */
export type Message = {
  readonly root: Element;
  /** As sent; "" if missing. */
  readonly controlId: string;
} & (
  | { readonly is: "hello"; readonly hello: Hello }
  | { readonly is: "status"; readonly status: Status }
  | { readonly is: "observations" }
  | { readonly is: "events"; readonly events: readonly DeviceEvent[] }
  | { readonly is: "query"; readonly answer: "PTL.R01" | "PVR.R01"; readonly patient: string }
  | { readonly is: "end of topic"; readonly topic: string; readonly requestId: string }
  | { readonly is: "keep alive" }
  | { readonly is: "acknowledgement"; readonly accepted: boolean; readonly of: string; readonly note: string }
  | { readonly is: "escape"; readonly of: string; readonly detail: string }
  | { readonly is: "terminate" }
  | { readonly is: "other" }
);

/** Unreadable document. A control id before the fault allows a reply. */
export interface UnreadableDocument {
  readonly is: "unreadable";
  readonly problem: string;
  readonly controlId: string | null;
}

/** Message of the agent without its header, which is added on sending. */
export interface Part {
  readonly root: string;
  /** XML. */
  readonly body: string;
}

/** Message of the agent (data manager). */
export type ManagerMessage =
  | ({ readonly is: "part" } & Part)
  | { readonly is: "ACK"; readonly accepted: boolean; readonly of: string; readonly note?: string }
  | { readonly is: "REQ"; readonly code: "ROBS" | "RDEV" }
  | { readonly is: "DTV"; readonly command: string; readonly time?: string }
  | { readonly is: "KPA" }
  | { readonly is: "END"; readonly reason: "NRM" | "UNK" };

export function readMessage(document: Uint8Array): Message | UnreadableDocument {
  const parsed = parseXml(document);
  if (parsed.problem !== null) return { is: "unreadable", problem: parsed.problem, controlId: parsed.controlId };
  const { root } = parsed;
  const controlId = value(root, "HDR.control_id");
  switch (root.name) {
    case "HEL.R01":
      return { is: "hello", root, controlId, hello: readHello(root) };
    case "DST.R01":
      return { is: "status", root, controlId, status: readStatus(root) };
    case "EVS.R01":
      return { is: "events", root, controlId, events: all(root, "EVT").map(readEvent) };
    case "EOT.R01": {
      const [topic, requestId] = [value(root, "EOT.topic_cd"), value(root, "EOT.eot_control_id")];
      return { is: "end of topic", root, controlId, topic, requestId };
    }
    case "KPA.R01":
      return { is: "keep alive", root, controlId };
    case "ACK.R01":
      return {
        is: "acknowledgement",
        root,
        controlId,
        accepted: /^(?:AA)?$/.test(value(root, "ACK.type_cd") || value(root, "ACK.type_id")),
        of: value(root, "ACK.ack_control_id") || value(root, "ACK.control_id"),
        note: value(root, "ACK.note_txt") || value(root, "ACK.error_msg"),
      };
    case "ESC.R01":
      return {
        is: "escape",
        root,
        controlId,
        of: value(root, "ESC.esc_control_id"),
        detail: value(root, "ESC.detail_cd"),
      };
    case "END.R01":
      return { is: "terminate", root, controlId };
    case "REQ.R01":
    case "PVI.R01": {
      const asksForList = value(root, "REQ.request_cd") === "RPAT";
      const isQuery = asksForList || value(root, "REQ.request_cd") === "RPVI" || root.name === "PVI.R01";
      const patient = value(root, "PT.patient_id") || value(root, "PVI.patient_id");
      if (!isQuery) return { is: "other", root, controlId };
      return { is: "query", root, controlId, answer: asksForList ? "PTL.R01" : "PVR.R01", patient };
    }
    default:
      return { is: root.name.startsWith("OBS.") ? "observations" : "other", root, controlId };
  }
}

/** Reads the control id from the start of a document. @returns null if it is not in it */
export function controlIdOf(beginning: Uint8Array): string | null {
  return parseXml(beginning).controlId;
}

/** Encodes a document. `createdAt`: with its offset, because a device may know only its own zone. */
export function encodeMessage(
  message: ManagerMessage,
  controlId: number,
  createdAt: string,
  dialect: Dialect,
): Uint8Array {
  const header = element(
    "HDR",
    field("HDR.message_type", rootOf(message)),
    field("HDR.control_id", String(controlId)),
    field("HDR.version_id", "POCT1"),
    field("HDR.creation_dttm", createdAt),
  );
  const declaration = dialect.xmlDeclaration ? '<?xml version="1.0" encoding="utf-8"?>' : "";
  return utf8Encoder.encode(declaration + element(rootOf(message), header, ...bodyOf(message, dialect)));
}

/** Encodes parts for Link.send(). */
export function encodeParts(parts: readonly Part[]): Uint8Array {
  return utf8Encoder.encode(parts.map(({ root, body }) => element(root, body)).join(""));
}

export function decodeParts(bytes: Uint8Array): Part[] {
  return new DocumentSplitter().receive(bytes).flatMap((found) => {
    const [, root, body] = found.is === "document" ? (PART.exec(utf8Decoder.decode(found.bytes)) ?? []) : [];
    return root === undefined || body === undefined ? [] : [{ root, body }];
  });
}

const PART = /^<([\w.]+)>([^]*)<\/\1>$/;

function rootOf(message: ManagerMessage): string {
  if (message.is === "part") return message.root;
  return message.is === "DTV" && message.time !== undefined ? "DTV.R02" : `${message.is}.R01`;
}

function bodyOf(message: ManagerMessage, { ackField }: Dialect): string[] {
  switch (message.is) {
    case "part":
      return [message.body];
    case "ACK": {
      const { accepted, of, note } = message;
      const fields = [field("ACK.type_cd", accepted ? "AA" : "AE"), field(ackField, of)];
      return [element("ACK", ...fields, ...(note === undefined ? [] : [field("ACK.note_txt", note)]))];
    }
    case "REQ":
      return [element("REQ", field("REQ.request_cd", message.code))];
    case "DTV": {
      const directive = element("DTV", field("DTV.command_cd", message.command));
      // TM is a sibling of the directive, not its child.
      return message.time === undefined ? [directive] : [directive, element("TM", field("TM.dttm", message.time))];
    }
    case "KPA":
      return [];
    case "END":
      return [element("TRM", field("TRM.reason_cd", message.reason))];
  }
}

function readHello(root: Element): Hello {
  // Fallback for devices without these fields: `VENDOR^Model^Serial`.
  const [vendor = "", model = "", serial = ""] = value(root, "DEV.device_id").split("^");
  const seconds = quantity(root, "DCP.application_timeout");
  const identity = {
    vendor: value(root, "DEV.vendor_id") || value(root, "DEV.manufacturer_name") || vendor,
    model: value(root, "DEV.model_id") || value(root, "DEV.device_name") || model,
    serial: value(root, "DEV.serial_id") || serial,
  };
  return {
    ...identity,
    name: identity.serial === "" ? value(root, "DEV.device_id") : Object.values(identity).join("|"),
    applicationTimeoutMs: seconds >= 1 && seconds <= 600 ? seconds * 1000 : null,
    directives: values(root, "DSC.directives_supported_cd"),
    topics: values(root, "DSC.topics_supported_cd"),
    bytesMax: quantity(root, "DSC.max_message_sz") || null,
  };
}

function readStatus(root: Element): Status {
  return {
    createdAt: value(root, "HDR.creation_dttm"),
    observations: quantity(root, "DST.new_observations_qty"),
    events: quantity(root, "DST.new_events_qty"),
    condition: value(root, "DST.condition_cd"),
    operatorsAt: value(root, "DST.operators_update_dttm"),
  };
}

function readEvent(event: Element): DeviceEvent {
  const number = value(event, "EVT.number");
  return {
    ...(number === "" ? {} : { number }),
    at: value(event, "EVT.event_dttm"),
    description: value(event, "EVT.description") || (find(event, "EVT.description")?.text.trim() ?? ""),
    severity: value(event, "EVT.severity_cd"),
  };
}

const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder("utf-8", { fatal: true });
