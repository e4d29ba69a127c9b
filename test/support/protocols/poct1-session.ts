// A POCT1-A session with invented data, based on public notes of vendors. A device acknowledges the agent's control ids, which
// start at 1 on every connection.

const XML = '<?xml version="1.0" encoding="utf-8"?>';
const SENT_AT = "2026-11-21T13:00:05+03:00";

/** Encodes a document. */
function encodeDocument(root: string, controlId: number | string, ...body: readonly string[]): string {
  const header = `${field("HDR.control_id", controlId)}${field("HDR.version_id", "POCT1")}${field("HDR.creation_dttm", SENT_AT)}`;
  return `<${root}><HDR>${header}</HDR>${body.join("")}</${root}>`;
}

function field(name: string, value: number | string, more = ""): string {
  return `<${name} V="${value}"${more === "" ? "" : ` ${more}`}/>`;
}

function object(name: string, ...fields: readonly string[]): string {
  return `<${name}>${fields.join("")}</${name}>`;
}

interface Device {
  readonly vendor: string;
  readonly model: string;
  readonly serial: string;
  readonly timeout: number;
  readonly topics?: readonly string[];
  readonly directives?: readonly string[];
  readonly bytesMax?: number;
}

function hello(controlId: number | string, { vendor, model, serial, timeout, ...offers }: Device): string {
  return encodeDocument(
    "HEL.R01",
    controlId,
    object(
      "DEV",
      field("DEV.device_id", `${vendor}^${model}^${serial}`),
      field("DEV.vendor_id", vendor),
      field("DEV.model_id", model),
      field("DEV.serial_id", serial),
      object("DCP", field("DCP.application_timeout", timeout)),
      object(
        "DSC",
        field("DSC.connection_profile_cd", "SA"),
        ...(offers.topics ?? []).map((topic) => field("DSC.topics_supported_cd", topic)),
        ...(offers.directives ?? []).map((directive) => field("DSC.directives_supported_cd", directive)),
        ...(offers.bytesMax === undefined ? [] : [field("DSC.max_message_sz", offers.bytesMax)]),
      ),
    ),
  );
}

function status(controlId: number | string, observations: number, events = 0): string {
  const quantities = [field("DST.new_observations_qty", observations), field("DST.new_events_qty", events)];
  return encodeDocument(
    "DST.R01",
    controlId,
    object("DST", field("DST.status_dttm", SENT_AT), ...quantities, field("DST.condition_cd", "R")),
  );
}

const acme: Device = {
  vendor: "ACME",
  model: "BG1",
  serial: "SN77",
  timeout: 30,
  topics: ["DTV"],
  directives: ["START_CONTINUOUS"],
  bytesMax: 8_000,
};

/** Encodes a session without measurements: the device queries a patient, reports events, or accepts lists. */
export function continuousSession({
  queriedId = null as string | null,
  by = "RPAT",
  events = [] as readonly string[],
  ...offer
}: { queriedId?: string | null; by?: "RPAT" | "RPVI" | "PVI"; events?: readonly string[] } & Pick<
  Device,
  "topics" | "bytesMax"
>): string {
  const queries = {
    RPAT: object("REQ", field("REQ.request_cd", "RPAT"), object("PT", field("PT.patient_id", queriedId ?? ""))),
    RPVI: object("REQ", field("REQ.request_cd", "RPVI"), object("PVI", field("PVI.patient_id", queriedId ?? ""))),
    PVI: object("PVI", field("PVI.patient_id", queriedId ?? "")),
  };
  return declared(
    hello(1, { ...acme, ...offer }),
    status(2, 0, events.length),
    ...(queriedId === null ? [] : [encodeDocument(by === "PVI" ? "PVI.R01" : "REQ.R01", 3, queries[by])]),
    ...events.map((event, index) => deviceEvent(10 + index, event)),
  );
}

function deviceEvent(controlId: number | string, description: string): string {
  const time = field("EVT.event_dttm", "2026-11-21T12:00:00");
  return encodeDocument(
    "EVS.R01",
    controlId,
    object("EVT", field("EVT.description", description), time, field("EVT.severity_cd", "W")),
  );
}

/** Joins documents, each with a declaration and on its own line. */
function declared(...documents: readonly string[]): string {
  return documents.map((document) => `${XML}${document}\n`).join("");
}
