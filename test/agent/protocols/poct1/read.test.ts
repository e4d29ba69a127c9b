import { describe, expect, test } from "vitest";
import { genericPoct1a } from "../../../../agent/devices/generic-poct1a.ts";
import { complete, read } from "../../../../agent/study/read.ts";
import type { Report } from "../../../../agent/report/report.ts";
import { study } from "../../../../agent/study/study.ts";
import type { Patient } from "../../../../shared/api/patient.ts";
import { dog } from "../../../support/runner/fixtures.ts";
import { bytes, hello, said } from "./wire.ts";

// Reports of a HELLO and the observations after it.

const context = { device: "poc-1", timeZone: "Europe/Istanbul", receivedAt: Date.parse("2026-11-21T10:00:00Z") };
const AT = "2026-11-21T12:55:10+03:00";

const field = (name: string, value: string, more = "") => `<${name} V="${value}" ${more}/>`;

function potassium(value: string, more = "", unit = 'U="mmol/L"'): string {
  return `<OBS>${field("OBS.observation_id", "2823-3", 'SN="LN" DN="K"')}${value === "" ? "" : field("OBS.value", value, unit)}${more}</OBS>`;
}

interface Service {
  readonly role?: string | null;
  readonly at?: string;
  readonly sequence?: string;
  readonly subject?: string;
  readonly more?: string;
}

function service({
  role = "OBS",
  at = AT,
  sequence = "12",
  more = "",
  subject = patient("4711"),
}: Service = {}): string {
  const roleField = role === null ? "" : field("SVC.role_cd", role);
  const time = at === "" ? "" : field("SVC.observation_dttm", at);
  return `<SVC>${roleField}${time}${field("SVC.sequence_nbr", sequence)}${subject}${more}</SVC>`;
}

function patient(id: string, content = potassium("4.1"), more = ""): string {
  return `<PT>${field("PT.patient_id", id)}${more}${content}</PT>`;
}

function control(lot: string, content = potassium("4.1")): string {
  return `<CTC>${field("CTC.name", "Level 2")}${field("CTC.lot_number", lot)}${content}</CTC>`;
}

function message(services: string, { root = "OBS.R01", id = 3, device = hello() } = {}): Uint8Array {
  return bytes(device + said(root, id, services));
}

const reading = (services: string, options?: Parameters<typeof message>[1]) =>
  read(message(services, options), genericPoct1a, context);

function reports(services: string, options?: Parameters<typeof message>[1]): readonly Report[] {
  const made = reading(services, options);
  if (made.is !== "reports") throw new Error(`${made.is}: ${made.reason}`);
  return made.reports;
}

function report(services: string): Report {
  const [only, ...others] = reports(services);
  expect(others).toEqual([]);
  return only!;
}

/** Returns the rows as `K 4.1`, a bound as `K >4.1`. */
const rows = ({ rows: all }: Report) => all.map(({ code, comparator, value }) => `${code} ${comparator ?? ""}${value}`);

describe("only observations with root, subject and role of a patient become a study", () => {
  const ROLES = ["OBS", "LQC", "CAL", "PRF", "EQC", null, "XYZ"] as const;
  const combinations = ["OBS.R01", "OBS.R02"].flatMap((root) =>
    ["PT", "CTC"].flatMap((subject) => ROLES.map((role) => ({ root, subject, role }))),
  );

  const NOT_OF_A_PATIENT = expect.stringMatching(/^not of a patient: /) as string;

  test.each(combinations)("$root $subject $role", ({ root, subject, role }) => {
    // The lot of the control equals a patient's number.
    const content = subject === "PT" ? patient("4711") : control("4711");
    const made = reading(service({ role, subject: content }), { root });
    const isPatients = root === "OBS.R01" && subject === "PT" && (role === "OBS" || role === null);
    expect(made).toMatchObject(
      isPatients
        ? { is: "reports", reports: [{ identifier: "4711" }] }
        : { is: "not-for-patients", reason: NOT_OF_A_PATIENT },
    );
  });

  test("two of the 28 combinations are a patient's", () => {
    expect(combinations).toHaveLength(28);
  });

  test("a service with both subjects is a control, and one without belongs to nobody", () => {
    expect(reading(service({ subject: patient("4711") + control("L-1") }))).toMatchObject({
      is: "not-for-patients",
      reason: "not of a patient: control material, lot L-1",
    });
    expect(reading(service({ subject: potassium("4.1") }))).toEqual({
      is: "quarantined",
      reason: "results without a patient (PT) and a control (CTC): whose are they?",
    });
    expect(reading(service({ subject: "" }))).toEqual({ is: "not-for-patients", reason: "no results" });
  });

  test("results without a patient stay in their message, and those of the other patients are read", () => {
    const made = reading(service({ subject: potassium("4.1") }) + service({ subject: patient("4711") }));
    expect(made).toMatchObject({
      is: "reports",
      reports: [{ identifier: "4711" }],
      notes: ["results without a patient (PT) and a control (CTC): whose are they?"],
    });
    expect(reading(service({ subject: potassium("4.1") }) + service({ subject: control("L-1") })).is).toBe(
      "quarantined",
    );
  });

  test("two roles, or control material at any depth, make a control", () => {
    expect(reading(service({ more: field("SVC.role_cd", "LQC") })).is).toBe("not-for-patients");
    expect(reading(service({ subject: patient("4711", potassium("4.1") + control("L-1")) })).is).toBe(
      "not-for-patients",
    );
  });

  test("observations without a service are quarantined", () => {
    expect(reading("").is).toBe("quarantined");
  });

  test("controls among patients are omitted with a note", () => {
    const made = reading(service() + service({ role: "LQC", subject: control("4711"), sequence: "13" }));
    expect(made).toMatchObject({
      is: "reports",
      reports: [{ identifier: "4711" }],
      notes: ["not of a patient: role LQC, control material, lot 4711"],
    });
  });
});

describe("identity", () => {
  test("several services are several studies", () => {
    const second = service({ sequence: "13", at: "2026-11-21T12:59:00+03:00", subject: patient("4712") });
    expect(reports(service() + second).map(({ identifier }) => identifier)).toEqual(["4711", "4712"]);
  });

  test("the order of a service with two patients names neither, a patient's own order names its patient", () => {
    const order = (id: string) => `<ORD>${field("ORD.order_id", id)}</ORD>`;
    const numbers = (subject: string, more = "") =>
      reports(service({ subject, more })).map(({ otherIdentifiers }) => otherIdentifiers);
    const two = patient("4711") + patient("", potassium("5.1"));
    expect(numbers(two, order("V1"))).toEqual([[], []]);
    expect(numbers(patient("4711", potassium("4.1") + order("V1")) + patient("", potassium("5.1")))).toEqual([
      ["V1"],
      [],
    ]);
    expect(numbers(patient("4711"), order("V1"))).toEqual([["V1"]]);
  });

  test("a resend in another session keeps the study, and so does another value", () => {
    const [first] = reports(service());
    const [again] = reports(service(), { id: 77, device: hello({ id: 70 }) });
    const [corrected] = reports(service({ subject: patient("4711", potassium("4.2")) }), { id: 78 });
    expect(again!.dedupe_key).toBe(first!.dedupe_key);
    expect(corrected!.dedupe_key).toBe(first!.dedupe_key);
  });

  test.each([
    ["patient", { subject: patient("4712") }],
    ["time", { at: "2026-11-21T12:55:11+03:00" }],
    ["sequence number", { sequence: "13" }],
  ])("another %s gives another study", (_, other) => {
    expect(report(service(other)).dedupe_key).not.toBe(report(service()).dedupe_key);
  });

  test("another device on the connection gives another study", () => {
    const [one] = reports(service());
    const [other] = reports(service(), { device: hello().replaceAll("SN77", "SN78") });
    expect(other!.dedupe_key).not.toBe(one!.dedupe_key);
  });

  test("without a time the results identify the study", () => {
    const untimed = (value: string) => report(service({ at: "", subject: patient("4711", potassium(value)) }));
    expect(untimed("4.1").dedupe_key).not.toBe(untimed("4.2").dedupe_key);
    expect(untimed("4.1").acquired_at).toBe("2026-11-21T10:00:00.000Z"); // the time of receipt, never the header's
  });

  test.each(["", "UNKNOWN", "unknown"])("patient_id %o is not an identifier", (id) => {
    expect(report(service({ subject: patient(id) })).identifier).toBe(null);
  });

  test("blanks around an id are ignored; an order id may be an accession", () => {
    const order = `<ORD>${field("ORD.order_id", "A-17")}</ORD><SPC>${field("SPC.specimen_id", "S-9")}</SPC>`;
    expect(report(service({ subject: patient(" 4711 "), more: order }))).toMatchObject({
      identifier: "4711",
      otherIdentifiers: ["S-9", "A-17"],
    });
  });
});

describe("times", () => {
  test.each([
    ["with an offset", "2026-11-21T12:55:10-05:00", "2026-11-21T17:55:10.000Z"],
    ["with an offset and a fraction", "2026-11-21T12:55:10.25+03:00", "2026-11-21T09:55:10.000Z"],
    ["without offset: the device's zone", "2026-11-21T12:55:10", "2026-11-21T09:55:10.000Z"],
    ["without offset, with a fraction", "2026-11-21T12:55:10.123456", "2026-11-21T09:55:10.000Z"],
    ["in UTC", "2026-11-21T09:55:10Z", "2026-11-21T09:55:10.000Z"],
  ])("%s", (_, at, acquired_at) => {
    expect(report(service({ at })).acquired_at).toBe(acquired_at);
  });

  test.each(["1999-12-31T23:00:00Z", "2026-11-22T10:00:01Z"])("%s has a note on the clock", (at) => {
    const time = new Date(at).toISOString();
    expect(report(service({ at })).notes).toContain(`the device's clock is suspect: ${time}`);
  });

  test("an invalid time is noted, and the specimen's time replaces it", () => {
    const made = report(service({ at: "yesterday", more: `<SPC>${field("SPC.specimen_dttm", AT)}</SPC>` }));
    expect(made.acquired_at).toBe("2026-11-21T09:55:10.000Z");
    expect(made.notes).toContain('"yesterday" is no time');
  });
});

describe("values", () => {
  const values = (...observations: string[]) => report(service({ subject: patient("4711", observations.join("")) }));

  test.each([
    ["<1.0", "", "K <1"],
    [">600", "", "K >600"],
    ["600", field("OBS.interpretation_cd", "&gt;"), "K >600"],
    ["1.5", field("OBS.interpretation_cd", "&lt;"), "K <1.5"],
    ["4.1e0", "", "K 4.1"],
  ])("%s %s", (value, more, row) => {
    expect(rows(values(potassium(value.replace("<", "&lt;"), more)))).toEqual([row]);
  });

  test.each([
    ["nothing", potassium(""), "K has no value: no value"],
    ["a null flavour", potassium("", '<OBS.value NULL="NI"/>'), "K has no value: no value"],
    ["dashes", potassium("----"), 'K has no value: "----" is not a number'],
    [
      "a discarded one",
      potassium("4.1", field("OBS.status_cd", "D")),
      "2823-3 has no final value: discarded (OBS.status_cd is D)",
    ],
    [
      "a rejected one",
      potassium("4.1", field("OBS.status_cd", "R")),
      "2823-3 has no final value: rejected (OBS.status_cd is R)",
    ],
  ])("%s gives no row and is listed", (_, observation, reason) => {
    const made = values(potassium("3.9"), observation);
    expect(rows(made)).toEqual(["K 3.9"]);
    expect(made.leftOut).toEqual([reason]);
  });

  test.each([
    ["a word of a measured analyte", potassium("", field("OBS.qualitative_value", "POS")), "POS"],
    ["a number that is called a quality", potassium("", field("OBS.qualitative_value", "1")), "1"],
    ["a comma, which is not a decimal point here", potassium("4,1"), "4,1"],
  ])("%s is a row of the device's code", (_, observation, text) => {
    expect(values(observation).rows).toMatchObject([{ code: "2823-3", codeSource: "device", value: null, text }]);
  });

  test("a quality with a number is a comment", () => {
    const made = values(potassium("4.1", field("OBS.qualitative_value", "POS")));
    expect([rows(made), made.comments]).toEqual([["K 4.1"], ["2823-3: POS"]]);
  });

  test.each([
    ["*", "", "the device marks the value with *"],
    ["*", "Low volume", "Low volume"],
    ["Sample clotted", "", "Sample clotted"],
  ])("the notes %s %s doubt the value", (first, second, comment) => {
    const notes = [first, second].filter(Boolean).map((text) => `<NTE>${field("NTE.text", text)}</NTE>`);
    expect(values(potassium("4.1", notes.join(""))).rows).toMatchObject([{ value: 4.1, comment }]);
  });

  test("a strip's word gives its rank", () => {
    const nitrite = `<OBS>${field("OBS.observation_id", "NIT")}${field("OBS.qualitative_value", "neg")}</OBS>`;
    expect(values(nitrite).rows).toMatchObject([{ code: "UNIT", value: 0, ordinal: true, text: "neg" }]);
  });

  test("ketones do not turn a blood's glucose into a urine's", () => {
    const glucose = `<OBS>${field("OBS.observation_id", "GLU")}${field("OBS.value", "95", 'U="mg/dL"')}</OBS>`;
    const ketones = `<OBS>${field("OBS.observation_id", "KET")}${field("OBS.qualitative_value", "neg")}</OBS>`;
    const both = (type: string) =>
      report(
        service({ subject: patient("4711", glucose + ketones), more: `<SPC>${field("SPC.type_cd", type)}</SPC>` }),
      );
    expect(rows(both("BLD"))).toEqual(["GLU 95", "KET null"]);
    expect(both("BLD").unmapped).toEqual(["KET"]); // KET of the catalogue is a urine pad
    expect(rows(both("UR"))).toEqual(["GLU 95", "UKET 0"]);
    expect(both("UR").unmapped).toEqual(["GLU"]); // neither the pad's nor the blood's glucose
  });

  test("a repeated code gives two rows in the device's order", () => {
    const corrected = potassium("4.3", `<NTE>${field("NTE.text", "38.9")}</NTE>`);
    const made = values(potassium("4.1"), corrected);
    expect(rows(made)).toEqual(["K 4.1", "K 4.3"]);
    expect(made.notes).toContain("2823-3 stands more than once: all of its values are kept, in the device's order");
    expect(made.comments).toContain("2823-3: 38.9");
  });

  test("a calculated or typed value, and an override, are noted", () => {
    const made = report(
      service({
        subject: patient("4711", potassium("4.1", field("OBS.method_cd", "C"))),
        more: field("SVC.status_cd", "OVR"),
      }),
    );
    expect(made.notes).toEqual(["the measurement has status OVR", "2823-3 is calculated"]);
  });

  test("a device's code is matched by its translation or name, and an unknown one listed", () => {
    const translated = `<OBS><OBS.observation_id V="77" SN="ACME"><TRANSLTN V="2951-2"/></OBS.observation_id>${field("OBS.value", "148", 'U="mmol/L"')}</OBS>`;
    const unknown = `<OBS>${field("OBS.observation_id", "ZZZ")}${field("OBS.value", "1")}</OBS>`;
    const made = values(translated, unknown);
    expect(rows(made)).toEqual(["NA 148", "ZZZ 1"]);
    expect(made.unmapped).toEqual(["ZZZ"]);
  });
});

describe("device ranges and flags", () => {
  const limits = (text: string, unit = "mmol/L") => field("OBS.normal_lo-hi_limit", text, `U="${unit}"`);
  const flagged = (more: string) => report(service({ subject: patient("4711", potassium("5.2", more)) }));

  test("the device's range and flag stay separate from the clinic's", () => {
    const made = flagged(limits("[3.9;5.1]") + field("OBS.interpretation_cd", "H"));
    expect(made.rows).toMatchObject([{ device_flag: "H", device_range: { text: "3.9-5.1", species: null } }]);
    expect(made.species).toBe(null);
    const source = { device_id: "poc-1", message_id: "1" };
    const [row] = study(made, dog, source).body.results;
    expect(row).toMatchObject({ reference_range: "4.10-5.40", flag: "normal" });
    const cat: Patient = { ...dog, species: "cat" };
    expect(study(made, cat, source).body.results[0]?.reference_range).not.toBe("4.10-5.40");
    expect(study(made, null, source).body.results[0]).toMatchObject({ reference_range: null, flag: null });
  });

  test("a range in another unit or with commas is noted; critical limits are noted", () => {
    const other = flagged(limits("[152;199]", "mg/L"));
    expect(other.rows[0]!.device_range).toBe(null);
    expect(other.notes).toContain("2823-3: the device's range [152;199] mg/L is not in the value's unit");
    expect(flagged(limits("[3,9;5,1]")).rows[0]!.device_range).toBe(null);
    expect(flagged(field("OBS.critical_lo-hi_limit", "[2.5;6.5]")).notes).toContain(
      "2823-3: the device's critical range is [2.5;6.5]",
    );
  });

  test("a HemoScreen's one-character note is a flag", () => {
    expect(flagged(`<NTE>${field("NTE.text", "*")}</NTE>`).rows[0]!.device_flag).toBe("*");
  });
});

test("a result whose name is cut within a character of UTF-8 is read, with a note", () => {
  const name = field("PT.name", "Pa\xc5");
  const document = service({ subject: patient("4711", potassium("4.1"), name) });
  const made = read(Buffer.from(hello() + said("OBS.R01", 3, document), "latin1"), genericPoct1a, context);
  expect(made).toMatchObject({
    is: "reports",
    reports: [{ identifier: "4711", rows: [{ code: "K", value: 4.1 }] }],
    notes: ["texts are windows-1252, which the document does not declare"],
  });
});

test("patient data become hints without a species", () => {
  const more =
    `<PT.name V="Luna Yilmaz"><FAM V="Yilmaz"/><GIV V="Luna"/></PT.name>` +
    field("PT.birth_date", "2019-05-04") +
    field("PT.gender_cd", "F") +
    field("PT.weight", "17.4", 'U="kg"');
  expect(report(service({ subject: patient("4711", undefined, more) })).patient_hint).toEqual({
    identifier: "4711",
    name: "Luna",
    species: null,
    breed: null,
    sex: "F",
    owner: "Yilmaz",
    date_of_birth: "2019-05-04",
    weight_kg: 17.4,
  });
});

describe("cut documents", () => {
  const whole = message(service());
  const cutAt = (text: string) => {
    const end = Buffer.from(whole).indexOf(text) + text.length;
    return { bytes: whole.subarray(0, end) };
  };
  const completedBy = (resent: Uint8Array, part: { bytes: Uint8Array }) =>
    complete(resent, [part], genericPoct1a).completed.length === 1;

  test("the same observation under a new control id completes a cut document", () => {
    const cut = cutAt('<OBS.value V="4');
    expect(completedBy(message(service(), { id: 99 }), cut)).toBe(true);
    expect(completedBy(message(service({ sequence: "13" }), { id: 99 }), cut)).toBe(false);
    expect(completedBy(message(service(), { device: hello().replaceAll("SN77", "SN78") }), cut)).toBe(false);
  });

  test("a cut before the time is never completed", () => {
    expect(completedBy(message(service(), { id: 99 }), cutAt('<SVC.role_cd V="OBS"'))).toBe(false);
  });
});

test.each([
  ["without HELLO", bytes(said("OBS.R01", 3, service())), "no HELLO before the document: unknown device"],
  ["that is not XML", bytes(`${hello()}<OBS.R01><A></B></OBS.R01>`), /unexpected close tag|mismatch/i],
])("a message %s is quarantined", (_, wire, reason) => {
  const made = read(wire, genericPoct1a, context);
  expect(made).toMatchObject({ is: "quarantined", reason: expect.stringMatching(reason) as string });
});
