// POCT1-A fixtures with invented data, based on public notes of vendors. A device acknowledges the agent's control ids, which
// begin at 1 on every connection.

export interface Poct1Case {
  readonly name: string;
  readonly wire: string;
  readonly patient: "dog" | "cat" | null;
}

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

function acknowledged(controlId: number | string, of: number, name = "ACK.ack_control_id"): string {
  return encodeDocument("ACK.R01", controlId, object("ACK", field("ACK.type_cd", "AA"), field(name, of)));
}

function endOfTopic(controlId: number | string): string {
  return encodeDocument("EOT.R01", controlId, object("EOT", field("EOT.topic_cd", "OBS")));
}

function end(controlId: number | string): string {
  return encodeDocument("END.R01", controlId, object("TRM", field("TRM.reason_cd", "NRM")));
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

/** A venous blood gas of a dog with low potassium. */
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

/** Encodes an observation of that patient; by default the gases of `bloodGas`. */
export function measurement(
  controlId: number,
  { patient: number, at, sequence }: { patient: string; at: string; sequence: number },
  observations: readonly string[] = bloodGas,
): string {
  return encodeDocument("OBS.R01", controlId, service(at, patient(number, ...observations), { sequence }));
}

/** Encodes an observation of potassium, for tests that distinguish measurements by it. */
export function potassium(value: number): string {
  return obs(loinc("2823-3", "K"), String(value), "mmol/L", measured);
}

const dogsGas = (id: number) =>
  encodeDocument("OBS.R01", id, service("2026-11-21T12:55:10+03:00", patient("4711", ...bloodGas)));
const dogsPotassium = (id: number) =>
  measurement(id, { patient: "4711", at: "2026-11-21T12:55:10+03:00", sequence: 12 }, bloodGas.slice(3, 4));
const catsGas = (id: number) =>
  encodeDocument(
    "OBS.R01",
    id,
    service("2026-11-21T13:05:40+03:00", patient("4712", ...bloodGas.slice(2, 4)), { sequence: 13, role: "" }),
  );
const qcWithPatientsNumber = (id: number) =>
  encodeDocument("OBS.R02", id, service("2026-11-21T12:50:00+03:00", control("4711", ...bloodGas), { role: "LQC" }));

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

/** Siemens DCA Vantage: no ACK of a request or of an end of topic; observation times without an offset. */
const siemensDca = declared(
  hello(1, {
    vendor: "SIEM",
    model: "DCA VANTAGE",
    serial: "S012345",
    timeout: 60,
    topics: ["D_EV", "OP_LST"],
    bytesMax: 16_000,
  }),
  status(2, 1),
  encodeDocument(
    "OBS.R01",
    3,
    service(
      "2026-11-21T12:51:26",
      patient(
        "4711",
        obs(
          '<OBS.observation_id V="HbA1c" SN="SIEM" DN="HbA1c"><TRANSLTN V="4548-4" SN="LN"/></OBS.observation_id>',
          "5.4",
          "%",
          measured,
          note("Slope^1.000"),
        ),
        obs('<OBS.observation_id V="2160-0" SN="LN" DN="Creatinine"/>', "1.1", "mg/dL", measured),
      ),
    ),
  ),
  endOfTopic(4),
  encodeDocument(
    "ACK.R01",
    5,
    object("ACK", field("ACK.type_cd", "AA"), field("ACK.ack_control_id", 5), field("ACK.error_detail_cd", 300)),
  ),
);

const dca = {
  vendor: "SIEM",
  model: "DCA VANTAGE",
  serial: "S012345",
  timeout: 60,
  topics: ["D_EV", "OP_LST"],
  bytesMax: 16_000,
};

/** DCA Vantage: a urine cartridge, a glycated hemoglobin in mmol/mol with the estimated glucose, and a control. */
const siemensDcaUrine = declared(
  hello(1, dca),
  status(2, 3),
  measurement(
    3,
    { patient: "4711", at: "2026-11-21T12:41:00", sequence: 731 },
    [
      ["Alb", "41.2", "mg/L"],
      ["Crt", "105.4", "mg/dL"],
      ["Ratio", "39.1", "mg/g"],
    ].map(([name = "", value = "", unit = ""]) =>
      obs(field("OBS.observation_id", name, `SN="SIEM" DN="${name}"`), value, unit, measured),
    ),
  ),
  measurement(4, { patient: "4711", at: "2026-11-21T12:51:00", sequence: 732 }, [
    obs(loinc("59261-8", "HbA1c"), "36", "mmol/mol", measured, note("Slope^1.000")),
    obs(loinc("27353-2", "eAG"), "111", "mg/dL", calculated),
  ]),
  encodeDocument(
    "OBS.R01",
    5,
    service("2026-11-21T12:55:00", patient("CONTROL 1", obs(loinc("4548-4", "HbA1c"), "5.4", "%"))),
  ),
  endOfTopic(6),
);

function note(text: string): string {
  return object("NTE", field("NTE.text", text));
}

/** PixCell HemoScreen: each document in an MLLP frame, ACK of requests, ids in ACK.control_id, events, and the clock set. */
const hemoscreen = [
  hello("00001", {
    vendor: "PixCell",
    model: "HemoScreen",
    serial: "H-1001",
    timeout: 30,
    topics: ["D_EV"],
    directives: ["SET_TIME", "LOCK", "UNLOCK"],
  }),
  status("00002", 1, 1),
  acknowledged("00003", 3, "ACK.control_id"),
  encodeDocument(
    "OBS.R01",
    "00004",
    service(
      "2026-11-21T12:58:00",
      patient(
        "4712",
        obs(field("OBS.observation_id", "WBC"), "27.4", "10*3/uL", field("OBS.interpretation_cd", "H"), note("*")),
        obs(field("OBS.observation_id", "HGB"), "9.8", "g/dL"),
        obs(field("OBS.observation_id", "PLT"), "600", "10*3/uL", '<OBS.interpretation_cd V="&gt;"/>'),
      ),
    ),
  ),
  endOfTopic("00005"),
  acknowledged("00006", 6, "ACK.control_id"),
  deviceEvent("00007", "Door opened"),
  encodeDocument("EOT.R01", "00008", object("EOT", field("EOT.topic_cd", "EVS"))),
  acknowledged("00009", 9, "ACK.control_id"),
  acknowledged("00010", 10, "ACK.control_id"),
]
  .map((document) => `\x0b${document}\x1c\r`)
  .join("");

/** i-STAT 1: no declaration, a request per observation, and a value both measured and corrected for patient temperature. */
const iStat = [
  hello(1, { vendor: "i-STAT", model: "i-STAT 1", serial: "311234", timeout: 60 }),
  status(2, 2),
  acknowledged(3, 3),
  encodeDocument(
    "OBS.R01",
    4,
    service(
      "2026-11-21T12:40:00.125",
      patient(
        "4711",
        obs(loinc("11558-4", "pH"), "7.352", "", measured),
        obs(loinc("11558-4", "pH"), "7.331", "", calculated, note("39.4")),
        obs(loinc("2951-2", "Na"), "149", "mmol/L", measured),
      ),
      { more: object("RSN", field("RSN.apoc_prompt", "PT Temp F"), field("RSN.apoc_content", "102.9")), sequence: 41 },
    ),
  ),
  acknowledged(5, 5),
  encodeDocument(
    "OBS.R01",
    6,
    service("2026-11-21T12:45:00.500", patient("4712", obs(loinc("2951-2", "Na"), "152", "mmol/L", measured)), {
      sequence: 42,
    }),
  ),
  acknowledged(7, 7),
].join("");

/** Nova StatStrip: an accession in place of the patient, a cancelled test, notes in element text, and the clock set. */
const nova = declared(
  hello(7135, {
    vendor: "NOVABIO",
    model: "StatStrip",
    serial: "0600100736",
    timeout: 120,
    topics: ["D_EV"],
    directives: ["START_CONTINUOUS", "SET_TIME"],
    bytesMax: 32_768,
  }),
  status(7136, 1),
  encodeDocument(
    "OBS.R01",
    7137,
    service(
      "2026-11-21T12:30:06.00+03:00",
      patient(
        "UNKNOWN",
        obs(loinc("2341-6", "Glu"), "95", "mg/dL", measured, range("[70;150]", "mg/dL")),
        object("OBS", loinc("53061-8", "Ket"), '<OBS.value NULL="NI"/>', field("OBS.status_cd", "A")),
      ),
      {
        more:
          object("ORD", field("ORD.universal_service_id", "CHEM"), field("ORD.order_id", "A-2026-17")) +
          object("SPC", field("SPC.specimen_dttm", "2026-11-21T12:29:00+03:00"), field("SPC.type_cd", "BLD")) +
          '<NTE><NTE.text V="ID FLAGS">SMPL_ID=SCANNED_TEXT</NTE.text></NTE>',
      },
    ),
  ),
  endOfTopic(7138),
  acknowledged(7139, 5),
  acknowledged(7140, 6),
  end(7141),
);

/** Quidel Sofia: unsolicited results in continuous mode only, a patient number with a blank, and a result in words. */
const sofia = declared(
  hello(1, {
    vendor: "Quidel",
    model: "Sofia",
    serial: "25011234",
    timeout: 100,
    topics: ["OP_LST"],
    directives: ["START_CONTINUOUS"],
    bytesMax: 1_000,
  }),
  status(2, 0),
  acknowledged(3, 3),
  encodeDocument(
    "OBS.R01",
    4,
    service(
      "2026-11-21T13:00:00+03:00",
      patient(
        "47 11",
        object("OBS", field("OBS.observation_id", "CRP"), field("OBS.qualitative_value", "positive")),
        obs(field("OBS.observation_id", "SAA"), "&lt;5.0", "mg/L"),
      ),
    ),
  ),
  status(5, 0),
  end(6),
);

/** XML variants of devices: `V= "x"`, single quotes, another attribute order, comments, and blanks between documents. */
const oddSyntax = `\xef\xbb\xbf${hello(1, acme).replaceAll('V="', 'V= "')}\r\n\0\0  ${status(2, 1).replaceAll('"', "'")}\n${encodeDocument(
  "OBS.R01",
  3,
  "<!-- </OBS.R01> -->",
  service(
    "2026-11-21T12:55:10+03:00",
    patient(
      "4711",
      '<OBS><OBS.value U="mmol/L" V="3.2"></OBS.value><OBS.observation_id SN="LN" V="2823-3"></OBS.observation_id></OBS>',
    ),
    { more: "<NTE><NTE.text V='a > b; \"quoted\"; &lt;/SVC&gt;'/><NTE.text><![CDATA[</OBS.R01>]]></NTE.text></NTE>" },
  ),
)}\n${endOfTopic(4)}${acknowledged(5, 6)}${end(6)}`;

/** A device restarts within an observation. It resends HELLO, then the observation with a new control id. */
const rebooted = `${declared(hello(1, acme), status(2, 1))}${(XML + dogsPotassium(3)).slice(0, 400)}${declared(
  hello(1, acme),
  status(2, 1),
  dogsPotassium(3),
  endOfTopic(4),
  acknowledged(5, 9),
  end(6),
)}`;

/** Invalid XML, sent once more than the agent refuses it. The agent then accepts the next document. */
const poison = declared(
  hello(1, acme),
  status(2, 0),
  acknowledged(3, 3),
  ...[4, 5, 6, 7].map((id) => dogsPotassium(id).replace("</PT>", "</TP>")),
  catsGas(8),
  end(9),
);

/** Resends after a lost ACK: the same bytes, then another control id, then another value. */
const resent = declared(
  hello(1, acme),
  status(2, 0),
  acknowledged(3, 3),
  dogsPotassium(4),
  dogsPotassium(4),
  dogsPotassium(5).replace('"NEW"', '"RES"'),
  dogsPotassium(6).replace('V="3.2"', 'V="3.3"'),
  end(7),
);

export const poct1Fixtures: readonly Poct1Case[] = [
  { name: "dog", wire: session([dogsGas(3)]), patient: "dog" },
  { name: "continuous", wire: session([dogsGas(3)], [catsGas(6)]), patient: null },
  { name: "quality-control", wire: session([qcWithPatientsNumber(3)]), patient: "dog" },
  { name: "siemens-dca-urine", wire: siemensDcaUrine, patient: "dog" },
  { name: "siemens-dca", wire: siemensDca, patient: "dog" },
  { name: "hemoscreen", wire: hemoscreen, patient: "cat" },
  { name: "i-stat", wire: iStat, patient: "dog" },
  { name: "nova", wire: nova, patient: "cat" },
  { name: "sofia", wire: sofia, patient: "dog" },
  { name: "odd-syntax", wire: oddSyntax, patient: "dog" },
  { name: "rebooted", wire: rebooted, patient: "dog" },
  { name: "poison", wire: poison, patient: "cat" },
  { name: "resent", wire: resent, patient: "dog" },
];
