import { expect, test } from "vitest";
import type {
  ControlQuestion,
  MadeRecord,
  QualityBody,
  SeriesBody,
  ShownSeries,
  TargetFile,
} from "../../../../server/dashboard/types/quality.ts";
import type { ControlRun } from "../../../../shared/api/quality.ts";
import type { Entity } from "../../../../server/import/lines.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, patient, startServer, study } from "../../../server/harness.ts";
import { controlRun, deviceEvent, pushQuality, result } from "../../../server/quality.ts";
import { controlReport } from "../../../../server/dashboard/report/control-report.ts";
import { makeUser, type Refused } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

async function start(...entities: Entity[]) {
  const server = await startServer(clinic(ours), clinic(theirs), entities);
  const key = await server.makeKey(ours, ["clinic.lab.ingest"]);
  const [admin, staff, reader] = [
    await makeUser(server, "admin", ours),
    await makeUser(server, "staff", ours),
    await makeUser(server, "reader", ours),
  ];
  const overview = async () => (await reader.call<QualityBody>("GET", "/quality")).body;
  const allSeries = async () => (await overview()).devices.flatMap(({ series }) => series);
  const read = async (id: string, days = "?from=2026-01-01&to=2026-11-30") =>
    (await reader.call<SeriesBody>("GET", `/quality/series/${id}${days}`)).body;
  const only = async () => read((await allSeries())[0]?.id ?? "");
  return {
    server,
    key,
    admin,
    staff,
    reader,
    overview,
    allSeries,
    read,
    only,
    push: pushQuality.bind(null, server, key),
  };
}

const day = (index: number, time = "05:10") =>
  new Date(Date.parse(`2026-10-01T${time}:00.000Z`) + index * 86_400_000).toISOString();

/** Values around 92 with an SD of about 2, which break no rule. */
const steady = [92, 93, 91, 94, 90, 92.5, 91.5, 93.5, 90.5, 92, 91, 93, 92, 94, 90, 91, 93, 92.5, 91.5, 92];

function runsOf(values: readonly number[], changes: Partial<ControlRun> = {}, from = 0): ControlRun[] {
  return values.map((value, index) =>
    controlRun({ measured_at: day(from + index), results: [result(value)], ...changes }),
  );
}

const sheet = {
  ...{ device_id: "chem-1", analyte: "GLU", unit: "mg/dL", material: "Multiqual", level: "1", lot: "C2207" },
  ...{ expires: "2027-03-31", target: { mean: 92, sd: 2 }, since: "lot" },
};

test("a value beyond 3 SD fails its series until the control passes again, and a person writes what was done", async () => {
  const { push, admin, staff, allSeries, only, overview } = await start();
  await push(...runsOf([92, 93, 99]));
  expect((await allSeries())[0]).toMatchObject({ state: "none", runs: 3 });
  expect((await admin.call("POST", "/quality/targets", sheet)).status).toBe(200);
  const [series] = await allSeries();
  expect(series).toEqual({
    ...{ id: series?.id ?? "", device_id: "chem-1", analyte: "GLU", unit: "mg/dL", material: "Multiqual", level: "1" },
    ...{
      lot: "C2207",
      expires: "2027-03-31",
      state: "failed",
      since: day(2),
      runs: 3,
      last_at: day(2),
      unexplained: 1,
      target: { mean: 92, sd: 2 },
    },
  } satisfies ShownSeries);
  const body = await only();
  expect(body.target).toMatchObject({ mean: 92, sd: 2, basis: "sheet", by: admin.name });
  expect(body.points.map(({ text, z, verdict, rules }) => [text, z, verdict, rules])).toEqual([
    ["92", 0, "accept", []],
    ["93", 0.5, "accept", []],
    ["99", 3.5, "reject", ["1-2s", "1-3s"]],
  ]);
  const broken = body.violations.find(({ rule }) => rule === "1-3s");
  expect(broken).toMatchObject({ at: day(2), verdict: "reject", side: "high", points: ["99"], explained: null });
  expect(broken).toMatchObject({ scope: "level", change: null });
  const words = { violation: broken?.id, text: "Control not mixed, repeated: 92", seen: null };
  const explain = async (written: object) =>
    (await staff.call("POST", `/quality/series/${series?.id}/explanations`, written)).status;
  expect(await explain(words)).toBe(200);
  // One that a colleague wrote meanwhile stays.
  expect(await explain({ ...words, text: "Lot changed" })).toBe(409);
  const explained = (await only()).violations.find(({ rule }) => rule === "1-3s")?.explained;
  expect(explained).toMatchObject({ by: staff.name, text: words.text });
  expect(await explain({ ...words, seen: explained?.at })).toBe(200);
  expect((await allSeries())[0]).toMatchObject({ state: "failed", unexplained: 0 });
  await push(...runsOf([92], {}, 3));
  expect((await allSeries())[0]).toMatchObject({ state: "ok" });
  expect((await overview()).devices[0]).toMatchObject({ name: "Abaxis VetScan VS2", state: "ok", last_at: day(3) });
});

test("the first 20 runs give a provisional target, which an admin accepts and which then stays", async () => {
  const { push, admin, only, allSeries } = await start();
  await push(...runsOf(steady.slice(1), {}, 1));
  expect(await only()).toMatchObject({ target: null, proposal: null, statistics: { runs: 19 } });
  await push(...runsOf(steady.slice(0, 1)));
  const { target, proposal, series } = await only();
  expect(target).toMatchObject({ basis: "provisional", runs: 20, by: null, mean: proposal?.mean });
  expect(proposal).toMatchObject({ runs: 20, outliers: [] });
  const accept = async (body: object) => admin.call("POST", `/quality/series/${series.id}/accept`, body);
  expect((await accept({ mean: 92, sd: 1 })).status).toBe(409);
  expect((await accept({ mean: proposal?.mean, sd: proposal?.sd })).status).toBe(200);
  expect((await only()).target).toMatchObject({ basis: "own", runs: 20, by: admin.name, mean: proposal?.mean });
  await push(...runsOf([97, 97, 97], {}, 20));
  expect((await only()).target?.mean).toBe(proposal?.mean);
  expect((await allSeries())[0]?.state).toBe("failed");
});

test("an outlier of the first runs is proposed, and counts until a person excludes it with a reason and after it is taken back", async () => {
  const { push, staff, reader, only } = await start();
  await push(...runsOf([...steady.slice(0, 10), 150, ...steady.slice(11)]));
  const before = await only();
  const outlier = before.points[10]?.id ?? "";
  expect(before.proposal?.outliers).toEqual([outlier]);
  const url = `/quality/values/${outlier}/exclusion`;
  expect((await reader.call("POST", url, { reason: "spilled" })).status).toBe(403);
  expect((await staff.call("POST", url, { reason: " " })).status).toBe(400);
  expect((await staff.call("POST", url, { reason: "spilled" })).status).toBe(200);
  const excluded = await only();
  expect(excluded).toMatchObject({ proposal: null, target: null, statistics: { runs: 19 } });
  expect(excluded.points[10]).toMatchObject({
    z: null,
    verdict: null,
    excluded: { by: staff.name, reason: "spilled" },
  });
  expect((await staff.call("DELETE", url)).status).toBe(200);
  expect((await only()).proposal).toEqual(before.proposal);
});

test("a device's printed mean and SD are the target, and its later ones change nothing", async () => {
  const { push, only } = await start();
  const printed = (value: number, mean: number) => [result(value, { target: { mean, sd: 2, low: 88, high: 96 } })];
  await push(controlRun({ measured_at: day(1), results: printed(93, 93) }));
  await push(controlRun({ measured_at: day(0), results: printed(91, 92) }));
  expect(await only()).toMatchObject({
    target: { mean: 92, sd: 2, basis: "device", by: null },
    printed_range: { low: 88, high: 96 },
  });
});

test("runs without level or lot open one question, whose answer names the stored and later runs until a new lot", async () => {
  const { push, staff, overview, allSeries } = await start();
  const unnamed = { material: null, level: null, lot: null, expires: null, sample_ids: ["QC1"] };
  await push(...runsOf([92, 93, 91, 92], unnamed));
  const { questions, devices } = await overview();
  expect(devices).toEqual([]);
  expect(questions).toEqual([
    {
      ...{
        device_id: "chem-1",
        device_name: "Abaxis VetScan VS2",
        sample: "QC1",
        material: null,
        level: null,
        lot: null,
      },
      ...{ runs: 4, last_at: day(3) },
    } satisfies ControlQuestion,
  ]);
  const answer = {
    ...{ device_id: "chem-1", sample: "QC1", sent_level: null, from: null, material: "Multiqual", level: "1" },
    ...{ lot: "A", expires: null },
  };
  expect((await staff.call("POST", "/quality/answers", answer)).status).toBe(200);
  await push(...runsOf([93], unnamed, 4));
  expect((await overview()).questions).toEqual([]);
  const shown = async () => (await allSeries()).map(({ lot, runs }) => [lot, runs]);
  expect(await shown()).toEqual([["A", 5]]);
  const next = { ...answer, from: day(3).slice(0, 10), lot: "B" };
  expect((await staff.call("POST", "/quality/answers", next)).status).toBe(200);
  expect(await shown()).toEqual([
    ["A", 3],
    ["B", 2],
  ]);
  await push(...runsOf([91, 92], unnamed, 5));
  expect(await shown()).toEqual([
    ["A", 3],
    ["B", 4],
  ]);
  await staff.call("POST", "/quality/answers", { ...answer, lot: "A1" });
  expect(await shown()).toEqual([
    ["B", 4],
    ["A1", 3],
  ]);
  expect((await staff.call("POST", "/quality/answers", { ...answer, sample: "QC9" })).status).toBe(404);
});

test("a new lot is a new segment, its neighbour overlaps, and the event of the lot is on the axis", async () => {
  const { push, admin, allSeries, read } = await start();
  await push(...runsOf([92, 97, 92]), ...runsOf([97.5, 92], { lot: "C3000" }, 2));
  await admin.call("POST", "/quality/targets", sheet);
  await admin.call("POST", "/quality/targets", { ...sheet, lot: "C3000" });
  const series = await allSeries();
  const next = await read(series.find(({ lot }) => lot === "C3000")?.id ?? "");
  expect(next.neighbours.map(({ lot, points }) => [lot, points.map(({ z }) => z)])).toEqual([["C2207", [0, 2.5, 0]]]);
  expect(next.events).toMatchObject([{ event: "lot", lot: "C3000", at: day(2), by: null }]);
  expect(next.violations.map(({ rule }) => rule)).toEqual(["1-2s"]);
});

test("a range needs its factor, and a table of targets is stored whole or refused with the faults of its lines", async () => {
  const { admin, staff, allSeries } = await start();
  const range = { ...sheet, target: { low: 88, high: 96, factor: 2 } };
  expect((await admin.call("POST", "/quality/targets", { ...range, target: { low: 88, high: 96 } })).status).toBe(400);
  expect((await admin.call("POST", "/quality/targets", range)).status).toBe(200);
  const file = async (text: string, preview = false) =>
    (await admin.call<TargetFile>("POST", "/quality/targets/file", { device_id: "chem-1", text, preview })).body;
  const header = "analyte;unit;level;lot;mean;sd;low;high;factor;expires\n";
  const good = `${header}GLU;mg/dL;2;L2;250;5,5;;;;2027-03-31\nALT;U/L;1;L1;;;40;60;2;\n`;
  const targets = [
    { line: 2, analyte: "GLU", unit: "mg/dL", level: "2", lot: "L2", mean: 250, sd: 5.5 },
    { line: 3, analyte: "ALT", unit: "U/L", level: "1", lot: "L1", mean: 50, sd: 5 },
  ];
  expect(await file(good, true)).toEqual({ targets, faults: [], stored: false });
  expect(await file(good)).toEqual({ targets, faults: [], stored: true });
  expect((await allSeries()).map(({ analyte, level, lot }) => `${analyte} ${level} ${lot}`)).toEqual([
    "ALT 1 L1",
    "GLU 1 C2207",
    "GLU 2 L2",
  ]);
  const bad = `${header}GLU;mg/dL;2;L2;x;5;;;;\nNOPE;;1;L1;5;1;;;;\nALT;U/L;1;L1;;;40;60;;\nALT;U/L;;L1;5;0;;;;2027-02-30\n`;
  expect((await file(bad)).faults.map(({ line, column, code }) => `${line} ${column} ${code}`)).toEqual([
    "2 mean not_a_number",
    "3 analyte unknown_analyte",
    "4 factor factor",
    "5 level missing",
    "5 sd not_positive",
    "5 expires day",
  ]);
  expect((await file("analyte,mean\n")).faults.map(({ column }) => column)).toEqual(["level", "lot"]);
  expect((await staff.call("POST", "/quality/targets", range)).status).toBe(403);
});

const typedControl = {
  ...{ entry_id: "0123456789abcdef0123456789abcdef", device_id: "chem-1", measured_at: "2026-11-21T09:00:00.000Z" },
  ...{ material: "Multiqual", level: "1", lot: "C2207", expires: null, comment: "after cleaning" },
  results: [{ analyte: "GLU", text: "93,5", unit: "mg/dl" }],
};
const typedEvent = {
  ...{ entry_id: "0123456789abcdef0123456789abcdef", device_id: "chem-1", at: day(0, "04:30"), event: "calibration" },
  ...{ subject: "GLU", lot: null, expires: null, text: null },
};

test("a typed control joins the series of its device, and a value that is no number is refused", async () => {
  const { push, server, staff, allSeries, only } = await start();
  await push(...runsOf([92]));
  const typed = typedControl;
  const { status, body } = await staff.call<MadeRecord>("POST", "/quality/controls", typed);
  expect([status, body.id.slice(0, 8)]).toEqual([200, "control_"]);
  expect((await allSeries()).map(({ runs }) => runs)).toEqual([2]);
  expect((await only()).points.at(-1)).toMatchObject({ value: 93.5, typed_by: staff.name, comment: "after cleaning" });
  const wrong = async (changes: object) => {
    const refused = await staff.call<Refused>("POST", "/quality/controls", { ...typed, ...changes });
    return [refused.status, refused.body.error.details];
  };
  const noNumber = (text: string) => [400, { code: "CONTROL.NO_NUMBER", values: ["GLU", text] }];
  for (const text of ["high", "--"]) {
    expect(await wrong({ results: [{ analyte: "GLU", text, unit: "mg/dL" }] })).toEqual(noNumber(text));
  }
  expect(await wrong({ results: [{ analyte: "XYZ", text: "5", unit: null }] })).toEqual([400, undefined]);
  const future = new Date(server.clock.now + 3_600_000).toISOString();
  expect(await wrong({ measured_at: future })).toEqual([400, { code: "TIME.FUTURE", values: [] }]);
});

test("a typed control or event that is sent twice is stored once, and one that was changed in between is a second one", async () => {
  const { push, server, staff, only } = await start();
  await push(...runsOf([92]));
  const [second] = typedControl.results;
  const send = async (body: object, by = staff) =>
    (await by.call<MadeRecord>("POST", `/quality/${"event" in body ? "events" : "controls"}`, body)).body.id;
  for (const [body, changed] of [
    [typedControl, { ...typedControl, results: [{ ...second, text: "94" }] }],
    [typedEvent, { ...typedEvent, subject: "ALT" }],
  ] as const) {
    const [id, again] = await Promise.all([send(body), send(body)]);
    const others = [
      await send(changed),
      await send({ ...body, entry_id: "f".repeat(32) }),
      await send(body, await makeUser(server, "staff", ours)),
    ];
    expect([again, await send(body)]).toEqual([id, id]);
    expect(new Set([id, ...others]).size).toBe(4);
  }
  const { points, events } = await only();
  expect(points.map(({ value }) => value)).toEqual([92, 93.5, 93.5, 93.5, 94]);
  expect(events.map(({ subject }) => `${subject}`).toSorted()).toEqual(["ALT", "GLU", "GLU", "GLU"]);
});

test("a schedule says when the next control is due, and an overdue one leaves no state", async () => {
  const { push, server, admin, overview } = await start();
  server.clock.now = Date.parse(day(54, "12:00"));
  await admin.call("PUT", "/quality/schedule", { device_id: "chem-2", every_days: 7 });
  expect((await overview()).devices).toMatchObject([
    { device_id: "chem-2", last_at: null, state: "none", schedule: { every_days: 7, due_at: day(54, "12:00") } },
  ]);
  await admin.call("PUT", "/quality/schedule", { device_id: "chem-1", every_days: 1 });
  await push(...runsOf([92, 92], {}, 53));
  await admin.call("POST", "/quality/targets", sheet);
  expect((await overview()).devices[0]).toMatchObject({
    state: "ok",
    schedule: { every_days: 1, due_at: day(55, "00:00") },
  });
  server.clock.now = Date.parse(day(56, "00:01"));
  const later = await makeUser(server, "reader", ours);
  const { devices } = (await later.call<QualityBody>("GET", "/quality")).body;
  expect(devices[0]?.series[0]).toMatchObject({ state: "none", since: day(54) });
});

test("an admin's rules for an analyte are in force with name and time, and null brings the server's back", async () => {
  const { push, admin, only } = await start();
  await push(...runsOf([92, 97]));
  await admin.call("POST", "/quality/targets", sheet);
  expect((await only()).rules).toMatchObject({
    why: "default",
    choice: { "1-2s": "warn", "1-3s": "reject" },
    by: null,
  });
  const put = async (choice: object | null, seen: string | null) =>
    (await admin.call("PUT", "/quality/rules", { analyte: "GLU", choice, seen })).status;
  expect(await put({ "1-2s": "reject" }, null)).toBe(200);
  // Rules that another admin chose meanwhile stay.
  expect([await put({ "1-3s": "warn" }, null), await put(null, null)]).toEqual([409, 409]);
  const body = await only();
  expect(body.rules).toMatchObject({ why: "clinic", choice: { "1-2s": "reject" }, by: admin.name });
  expect(body.series.state).toBe("failed");
  expect(await put(null, body.rules.at)).toBe(200);
  expect((await only()).rules.why).toBe("default");
});

test("two levels in 20 runs add the rules over levels", async () => {
  const { push, admin, allSeries, read } = await start();
  const low = steady.map((value, index) => (index === 19 ? 96.5 : value));
  const high = steady.map((value, index) => (index === 19 ? 262 : 250 + (value - 92) * 2.5));
  await push(...runsOf(low), ...runsOf(high, { level: "2" }));
  await admin.call("POST", "/quality/targets", sheet);
  await admin.call("POST", "/quality/targets", { ...sheet, level: "2", target: { mean: 250, sd: 5 } });
  const [one] = await allSeries();
  const { violations, rules } = await read(one?.id ?? "");
  expect(rules.choice["2-2s"]).toBeDefined();
  expect(violations.map(({ rule, points }) => [rule, points])).toContainEqual(["2-2s", ["96.5", "262"]]);
});

test("a violation counts the patients between the control before and the one after", async () => {
  const animal = patient();
  const { server, key, push, admin, only } = await start(animal, connection(animal.fp, ours));
  const measured = (at: string, device_id = "chem-1") =>
    study({
      ...{ patient_fp: animal.fp, acquired_at: at, source: { device_id, message_id: "m" } },
      results: [{ analyte: "GLU", value: 90, unit: "mg/dL", reference_range: null, flag: null }],
    });
  await server.push(
    key,
    ...[measured(day(0, "04:00")), measured(day(0, "10:00")), measured(day(1, "10:00"))],
    ...[measured(day(1, "11:00"), "chem-2"), measured(day(2, "10:00"))],
  );
  await push(...runsOf([92, 99, 92]));
  await admin.call("POST", "/quality/targets", sheet);
  expect((await only()).violations.find(({ rule }) => rule === "1-3s")?.patients).toBe(2);
});

test("events of a device are on the axis of its series, typed or sent", async () => {
  const { push, staff, only } = await start();
  await push(...runsOf([92]), deviceEvent({ at: day(0, "04:00") }), deviceEvent({ event: "counter", count: 5 }));
  expect((await staff.call("POST", "/quality/events", typedEvent)).status).toBe(200);
  expect((await only()).events.map(({ event, subject, by }) => [event, subject, by])).toEqual([
    ["reagent", "Rotor", null],
    ["calibration", "GLU", staff.name],
  ]);
});

test("the report of a month has target, chart, broken rules and events in both languages, and the table has every value", async () => {
  const { push, admin, staff, reader, server, only, overview } = await start();
  await push(...runsOf([92, 93, 99, 96.5, 92, 91]), deviceEvent({ at: day(2, "04:00") }));
  await admin.call("POST", "/quality/targets", sheet);
  const { points, series, violations } = await only();
  await staff.call("POST", `/quality/values/${points[3]?.id}/exclusion`, { reason: "wrong cup" });
  const violation = violations.find(({ rule }) => rule === "1-3s")?.id;
  const written = { violation, text: "=cleaned the probe", seen: null };
  await staff.call("POST", `/quality/series/${series.id}/explanations`, written);
  const report = async (query: string) =>
    server.app.inject({
      url: `/clinic/v1/clinics/${ours}/quality/report.pdf?${query}`,
      headers: { cookie: reader.cookie },
    });
  const pdf = await report("device=chem-1&month=2026-10");
  expect([pdf.statusCode, pdf.headers["content-type"]]).toEqual([200, "application/pdf"]);
  expect(pdf.headers["content-disposition"]).toContain("chem-1 2026-10.pdf");
  expect(pdf.rawPayload.subarray(0, 8).toString()).toBe("%PDF-1.7");
  for (const wrong of ["month=2026-10", "device=chem-1&month=2026-13", "device=chem-1&month=October"]) {
    expect((await report(wrong)).statusCode).toBe(400);
  }
  const month = {
    ...{ zone: "UTC", clinicName: "Clinic", deviceId: "chem-1", deviceName: "Abaxis VetScan VS2", month: "2026-10" },
    ...{ from: Date.parse("2026-10-01"), to: Date.parse("2026-10-31"), now: server.clock.now, everyDays: 1 },
    series: [await only()],
  };
  const english = JSON.stringify(controlReport({ ...month, language: "en" }));
  for (const words of ["Glucose", "92 ± 2 mg/dL", "C2207", "1-3s: ", "=cleaned the probe", "left out: wrong cup"]) {
    expect(english).toContain(words);
  }
  expect(english).toContain("reagent");
  // The value that was left out, 96.5, is drawn at its place: 2.25 SD above the target.
  expect(english).toContain('"y":18.375,"r1":2.6');
  const turkish = JSON.stringify(controlReport({ ...month, language: "tr" }));
  for (const words of ["Kalite kontrol", "Glukoz", "dışarıda bırakıldı: wrong cup", "reaktif"])
    expect(turkish).toContain(words);
  const { text } = await reader.call("GET", "/quality/runs.csv?device=chem-1&from=2026-10-01&to=2026-10-31");
  const lines = text.trim().split("\r\n");
  expect(lines).toHaveLength(7);
  expect(lines[3]).toBe(`chem-1,GLU,mg/dL,Multiqual,1,C2207,2027-03-31,${day(2)},99,99,3.5,reject,1-2s 1-3s,,,,`);
  expect(lines[4]).toContain(`96.5,96.5,,,,${staff.name},wrong cup`);
  expect((await overview()).devices).toHaveLength(1);
});

test("another clinic sees and changes nothing of a series, a value, a question or an explanation", async () => {
  const { push, server, allSeries, only } = await start();
  await push(...runsOf([92, 99]));
  const [series] = await allSeries();
  const { points } = await only();
  const other = await makeUser(server, "admin", theirs);
  const status = async (method: "GET" | "POST" | "DELETE", path: string, body?: object) =>
    (await other.call(method, `/quality/${path}`, body)).status;
  expect((await other.call<QualityBody>("GET", "/quality")).body).toEqual({
    devices: [],
    out_of_use: [],
    questions: [],
  });
  expect(await status("GET", `series/${series?.id}`)).toBe(404);
  expect(await status("POST", `series/${series?.id}/accept`, { mean: 1, sd: 1 })).toBe(404);
  expect(await status("POST", `values/${points[0]?.id}/exclusion`, { reason: "x" })).toBe(404);
  const words = { violation: `1-3s.${points[1]?.id}`, text: "x", seen: null };
  expect(await status("POST", `series/${series?.id}/explanations`, words)).toBe(404);
  await other.call("POST", "/quality/targets", sheet);
  const theirSeries = (await other.call<QualityBody>("GET", "/quality")).body.devices[0]?.series[0]?.id;
  expect(await status("POST", `series/${theirSeries}/explanations`, words)).toBe(404);
  expect((await only()).target).toBeNull();
});
