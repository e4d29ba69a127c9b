// The bytes of our own POCT1-A fixtures: after the messages of guides and vendors' public notes, with invented data. What a
// device acknowledges are our control ids, which begin at 1 with every connection.

export interface Poct1Case {
  readonly name: string;
  readonly wire: string;
  readonly animal: "dog" | "cat" | null;
}

const XML = '<?xml version="1.0" encoding="utf-8"?>';
const SENT_AT = "2026-11-21T13:00:05+03:00";

/** A message: its control id, then its body. */
function said(root: string, controlId: number | string, ...body: readonly string[]): string {
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
  return said(
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
  return said(
    "DST.R01",
    controlId,
    object("DST", field("DST.status_dttm", SENT_AT), ...quantities, field("DST.condition_cd", "R")),
  );
}

function acknowledged(controlId: number | string, of: number, name = "ACK.ack_control_id"): string {
  return said("ACK.R01", controlId, object("ACK", field("ACK.type_cd", "AA"), field(name, of)));
}

function endOfTopic(controlId: number | string): string {
  return said("EOT.R01", controlId, object("EOT", field("EOT.topic_cd", "OBS")));
}

function end(controlId: number | string): string {
  return said("END.R01", controlId, object("TRM", field("TRM.reason_cd", "NRM")));
}

function obs(id: string, value: string, unit = "", ...more: readonly string[]): string {
  const measured = field("OBS.value", value, unit === "" ? "" : `U="${unit}"`);
  return object("OBS", id, measured, ...more);
}

function loinc(code: string, name: string): string {
  return field("OBS.observation_id", code, `SN="LN" DN="${name}"`);
}

const range = (limits: string, unit = "") =>
  `<OBS.normal_lo-hi_limit V="${limits}"${unit === "" ? "" : ` U="${unit}"`}/>`;
const measured = field("OBS.method_cd", "M");
const calculated = field("OBS.method_cd", "C");
const low = field("OBS.interpretation_cd", "L");

/** A venous blood gas of a dog that lost a little potassium. */
const bloodGas = [
  obs(field("OBS.observation_id", "pH", 'SN="ACME"'), "7.31", "", measured, low, range("[7.35;7.46]")),
  obs(field("OBS.observation_id", "pCO2", 'SN="ACME"'), "38.2", "mmHg", measured, range("[35;38]", "mmHg")),
  obs(loinc("2951-2", "Na"), "148", "mmol/L", measured),
  obs(loinc("2823-3", "K"), "3.2", "mmol/L", measured, low, range("[3.9;5.1]", "mmol/L")),
  obs(field("OBS.observation_id", "HCO3", 'SN="ACME"'), "19.0", "mmol/L", calculated),
];

function service(time: string, subject: string, { role = "OBS", sequence = 12, more = "" } = {}): string {
  return object(
    "SVC",
    role === "" ? "" : field("SVC.role_cd", role),
    field("SVC.observation_dttm", time),
    field("SVC.reason_cd", "NEW"),
    field("SVC.sequence_nbr", sequence),
    subject,
    more,
  );
}

function patient(id: string, ...observations: readonly string[]): string {
  return object("PT", field("PT.patient_id", id), ...observations);
}

function control(lot: string, ...observations: readonly string[]): string {
  const level = field("CTC.level_cd", "2", 'DN="Level 2"');
  return object("CTC", field("CTC.name", "Level 2"), field("CTC.lot_number", lot), level, ...observations);
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

/** What a device measured of that patient: by default the gases of `bloodGas`. */
export function measurement(
  controlId: number,
  { patient: number, at, sequence }: { patient: string; at: string; sequence: number },
  observations: readonly string[] = bloodGas,
): string {
  return said("OBS.R01", controlId, service(at, patient(number, ...observations), { sequence }));
}

/** One potassium, for tests that tell measurements apart by it. */
export function potassium(value: number): string {
  return obs(loinc("2823-3", "K"), String(value), "mmol/L", measured);
}

const dogsGas = (id: number) => said("OBS.R01", id, service("2026-11-21T12:55:10+03:00", patient("4711", ...bloodGas)));
const catsGas = (id: number) =>
  said(
    "OBS.R01",
    id,
    service("2026-11-21T13:05:40+03:00", patient("4712", ...bloodGas.slice(2, 4)), { sequence: 13, role: "" }),
  );
const qcWithPatientsNumber = (id: number) =>
  said("OBS.R02", id, service("2026-11-21T12:50:00+03:00", control("4711", ...bloodGas), { role: "LQC" }));

/** HELLO, status, stored observations with the ids from 3, continuous mode, then `later`, then END. */
export function session(stored: readonly string[], later: readonly string[] = []): string {
  const ids = { end: 7 + stored.length, directive: 4 + stored.length + 1 };
  const documents = [
    hello(1, acme),
    status(2, stored.length),
    ...stored,
    endOfTopic(3 + stored.length),
    acknowledged(4 + stored.length, ids.directive),
    ...later,
    end(ids.end + later.length),
  ];
  return `${documents.map((document) => XML + document).join("\n")}\n`;
}

export const poct1Fixtures: readonly Poct1Case[] = [
  { name: "dog", wire: session([dogsGas(3)]), animal: "dog" },
  { name: "continuous", wire: session([dogsGas(3)], [catsGas(6)]), animal: null },
  { name: "quality-control", wire: session([qcWithPatientsNumber(3)]), animal: "dog" },
];
