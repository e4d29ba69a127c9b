import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import type { ResultsPage, StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import type { TodayState } from "../../../../server/dashboard/types/results/today.ts";
import {
  connection,
  importEntities,
  keyPermissions,
  patient,
  startServer,
  study,
  temporaryFolder,
} from "../../../server/harness.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { replaceRanges } from "../../../../server/records/clinics/ranges.ts";
import { makeUser } from "../../harness.ts";
import { chemistry, hostile, profile, resultsClinic } from "../../results-clinic.ts";
import { assignStudy, moveStudy } from "../../../server/study-commands.ts";

async function startResults() {
  const names = resultsClinic();
  const server = await startServer(...names.entities);
  const user = await makeUser(server, "reader", names.ours);
  const push = async (clinicFp: string, ...studies: PushedStudy[]) =>
    server.push(await server.makeKey(clinicFp, [...keyPermissions, "clinic.lab.view"]), ...studies);
  const read = async (fp: string) => (await user.call<StudyPage>("GET", `/results/${fp}`)).body;
  return { ...server, ...names, server, user, push, read };
}

test("the list pages by its own position, and reads days in the zone that the page names", async () => {
  const { ours, dog, user, push } = await startResults();
  // 23:30 in Istanbul on November 19, which is the 20th nowhere in the zone.
  const late = study({ patient_fp: dog.fp, acquired_at: "2026-11-19T20:30:00.000Z" });
  const next = study({ patient_fp: dog.fp, acquired_at: "2026-11-19T21:30:00.000Z" });
  await push(ours, late, next);
  const fps = async (query: string) =>
    (await user.call<ResultsPage>("GET", `/results?${query}`)).body.items.map(({ fp }) => fp);
  expect(await fps("to=2026-11-19&zone=Europe/Istanbul")).toEqual([late.fp]);
  expect(await fps("from=2026-11-20&zone=Europe/Istanbul")).toEqual([next.fp]);
  const sixty = Array.from({ length: 60 }, () => study({ patient_fp: dog.fp, device_name: "Bulk" }));
  await push(ours, ...sixty);
  const first = await user.call<ResultsPage>("GET", "/results?device=Bulk");
  const second = await user.call<ResultsPage>("GET", `/results?device=Bulk&after=${first.body.next}`);
  expect([first.body.items.length, second.body.items.length, second.body.next]).toEqual([50, 10, null]);
});

test.each(["from=yesterday", "from=2026-02-30", "zone=Mars/Base", "flag=some", "modality=BLOOD", "after=1", "q=a&q=b"])(
  "the list refuses the filter %s",
  async (query) => {
    const { user } = await startResults();
    expect((await user.call("GET", `/results?${query}`)).status).toBe(400);
  },
);

test("a positive word of an infection test is marked in the list, on the study, in its CSV and on Today", async () => {
  const { ours, dog, user, push, read } = await startResults();
  const none = { value: null, unit: null, reference_range: null, flag: null };
  const filed = study({
    ...{ patient_fp: dog.fp, modality: "BIOCHEMISTRY" },
    results: [
      { ...none, analyte: "CPV", value_text: "POZİTİF" },
      { ...none, analyte: "FIV", value_text: "neg" },
      { ...none, analyte: "FELV", value_text: "neg", comment: "control line faint" },
      { ...none, analyte: "QX", value_text: "neg", code_source: "device" },
      { ...none, analyte: "CCV", value_text: "neg", code_source: "device" },
    ],
  });
  await push(ours, filed, study({ patient_fp: dog.fp, results: [{ ...none, analyte: "HW", value_text: "Negatif" }] }));
  const { items } = (await user.call<ResultsPage>("GET", "/results?flag=outside")).body;
  expect(items.map(({ fp, outside, outside_total }) => ({ fp, outside, outside_total }))).toEqual([
    { fp: filed.fp, outside: [{ analyte: "CPV", text: "POZİTİF", flag: null, side: null }], outside_total: 1 },
  ]);
  // A doubted word, and one of a device's own code, also of one with the name of a test of the catalogue, are not judged.
  expect((await read(filed.fp)).rows.map(({ analyte, abnormal, expected }) => [analyte, abnormal, expected])).toEqual([
    ["CPV", true, undefined],
    ["FIV", undefined, true],
    ["FELV", undefined, undefined],
    ["QX", undefined, undefined],
    ["CCV", undefined, undefined],
  ]);
  const csv = await user.call("GET", `/results/${filed.fp}/results.csv`);
  const [heads = [], ...lines] = csv.text.split("\r\n").map((line) => line.split(","));
  expect(lines.slice(0, 2).map((cells) => cells[heads.indexOf("abnormal")])).toEqual(["true", ""]);
  const { newest } = (await user.call<TodayState>("GET", "/today")).body;
  expect(newest.map(({ worst_flag, abnormal }) => [worst_flag, abnormal])).toEqual([
    [null, undefined],
    [null, true],
  ]);
});

test("a study shows each flag with its side, the interval's source, and the device's own words", async () => {
  const { ours, dog, push, read } = await startResults();
  const filed = chemistry(dog);
  await push(ours, filed);
  const shown = await read(filed.fp);
  const rows = new Map(shown.rows.map((row) => [row.analyte, row]));
  const of = (analyte: string) => {
    const { name, value, printed, flag, side, low, high, device_range, device_flag, source } = rows.get(analyte) ?? {};
    return [name, value, printed, flag, side, low, high, device_range, device_flag, source?.kind];
  };
  expect(of("ALT")).toEqual([
    "Alanine aminotransferase",
    "310",
    null,
    "high",
    "high",
    10,
    100,
    "10-100",
    "H",
    "device",
  ]);
  expect(of("ALB")).toEqual(["Albumin", "1.2", "1,2", "low", "low", 3.2, 4.1, null, null, "published"]);
  expect(of("PLT").slice(3, 5)).toEqual(["critical", "low"]);
  expect(of("TBIL").slice(1, 5)).toEqual(["<0.2", null, "normal", null]);
  const own = rows.get("QXZ-7");
  expect([own?.name, own?.code_source, own?.flag, own?.reason]).toEqual([
    ...["Canine Quirk", "device", null, { code: "CODE.UNKNOWN", values: [] }],
  ]);
  expect([rows.get("CRP")?.code_source, rows.get("CRP")?.device_code]).toEqual(["clinic", "c-RP2"]);
  expect(shown.notes).toEqual(["the sample was diluted 1:2"]);
  // The potassium of the table is in mEq/L, so its own row is next to the converted range.
  expect(rows.get("K")?.source).toMatchObject({ text: "4.1-5.4 mEq/L" });
  expect(rows.get("TP")?.source?.text).toBe(null);
});

test("a study names why each interval applies, and how its numbers came about", async () => {
  const { ours, theirs, push, read, store, user, server } = await startResults();
  const whippet = patient({ name: "Rüzgâr", breed: "Whippet", date_of_birth: "2020-01-01" });
  const akita = patient({ name: "Hachi", breed: "Akita", date_of_birth: "2020-01-01" });
  const connections = [whippet, akita].map(({ fp }) => connection(fp, ours));
  await importEntities(store, whippet, akita, ...connections);
  const about = { species: "dog", analyte: "ALT", unit: "U/L", low: "20", high: "90" } as const;
  const row = { ...about, id: "alt-sighthounds", subgroup: "sighthound", effective_from: "2026-01-01", n: 42 };
  const rows = [{ ...row, source: "our healthy dogs", method: "robust", accepted_by: "Dr. Ada", note: "own" }];
  const ranges = await store.transaction(async (session) => {
    const { id = 0 } = (await findClinic(session, ours)) ?? {};
    return replaceRanges(session, id, { low_quality: false, rows }, 1);
  });
  const measured = profile.filter(({ code }) => ["ALT", "ALB", "K"].includes(code));
  const [one, two] = [chemistry(whippet, measured, {}, ranges), chemistry(akita, measured, {}, ranges)];
  await push(ours, one, two);
  const shown = (await read(one.fp)).rows;
  expect(
    shown.map(({ analyte, why }) => [analyte, ...why.map(({ code, values }) => [code, ...values].join(" "))]),
  ).toEqual([
    ["ALT", "CLINIC.ROW", "BREED.GROUP sighthound whippet"],
    ["ALB", "CATALOGUE.ROW dog", "BREED.NO_ROW whippet dog"],
    ["K", "CATALOGUE.ROW dog", "BREED.NO_ROW whippet dog"],
  ]);
  expect(shown.slice(0, 2).map(({ source }) => source?.passport)).toEqual([
    {
      source: "our healthy dogs",
      n: 42,
      method: "robust",
      in_force_from: "2026-01-01",
      accepted_by: "Dr. Ada",
      note: "own",
    },
    { method: "serum, Cobas c501", grade: "A", made: "reference_interval" },
  ]);
  await importEntities(store, connection(whippet.fp, theirs));
  const other = await makeUser(server, "reader", theirs);
  const seen = (await other.call<StudyPage>("GET", `/results/${one.fp}`)).body.rows[0]?.source?.passport;
  expect([seen?.n, seen?.accepted_by, seen?.note]).toEqual([42, undefined, undefined]);
  const remarked = (await read(two.fp)).rows.map(({ analyte, why, reason }) => [analyte, why[0]?.code, reason?.values]);
  expect(remarked).toEqual([
    ["ALT", "DEVICE.RANGE", undefined],
    ["ALB", "CATALOGUE.ROW", undefined],
    ["K", "CATALOGUE.ROW", ["leaking_potassium"]],
  ]);
  const csv = await user.call("GET", `/results/${one.fp}/results.csv`);
  expect(csv.text.split("\r\n")[1]).toMatch(
    /,the clinic's own intervals,"the clinic's own interval, in force on the day of the sample; for the sighthounds/,
  );
});

test("a study's CSV file has its sentences in the language, and the same heads and flags", async () => {
  const { ours, dog, push, user } = await startResults();
  const doubted = { ...profile[1]!, comment: "the device found a clog; run it again" };
  const filed = chemistry(dog, [doubted], { comments: ["WBC: grade 2"] });
  await push(ours, filed);
  const cells = async (query: string) => {
    const { text } = await user.call("GET", `/results/${filed.fp}/results.csv${query}`);
    const [heads = [], row = []] = text.split("\r\n").map((line) => line.split(","));
    return ["analyte", "reason", "comment", "study_comments"].map((head) => row[heads.indexOf(head)]);
  };
  const english = ["ALB", "the value is doubtful", "the device found a clog; run it again", "WBC: grade 2"];
  expect(await cells("")).toEqual(english);
  expect(await cells("?language=en")).toEqual(english);
  const turkish = ["ALB", "değer şüpheli", "cihaz tıkanma buldu; run it again", "WBC: derece 2"];
  expect(await cells("?language=tr")).toEqual(turkish);
});

test("revisions name what changed and who did it, and the time line has it in order", async () => {
  const { server, ours, dog, user, push, read, store, clock, makeKey } = await startResults();
  const first = chemistry(dog, profile.slice(0, 2), { patient_fp: null });
  await push(ours, first);
  clock.now += 60_000;
  const actor = { by: "Ayşe", now: clock.now };
  const problem = await store.transaction((session) =>
    assignStudy(session, { fp: first.fp, patientFp: dog.fp, ...actor }),
  );
  expect(problem).toBe(null);
  clock.now += 60_000;
  const corrected = chemistry(dog, [{ ...profile[1]!, value: 3.5, text: "3.5" }, profile[4]!]);
  await push(ours, { ...first, results: corrected.results, revision: 2 });
  await push(ours, { ...first, results: [] });
  const key = await makeKey(ours, [...keyPermissions, "clinic.lab.view"]);
  await server.get(key, `/api/v1/lab/diagnostics/${first.fp}`);
  await user.call("GET", `/results/${first.fp}`);
  await expect.poll(async () => (await read(first.fp)).time_line.filter(({ kind }) => kind === "read").length).toBe(2);

  const shown = await read(first.fp);
  const place = { kind: "patient", fp: dog.fp, name: "Karabaş" };
  expect(shown.revisions.map(({ revision, cause, by, place: where }) => [revision, cause, by, where])).toEqual([
    [3, "pushed", "chem-1", place],
    [2, "assigned", "Ayşe", place],
    [1, "pushed", "chem-1", { kind: "unmatched", reason: { code: "PATIENT.NONE", values: [] } }],
  ]);
  const row = (text: string, flag: string) => ({ text, flag, comment: null });
  expect(shown.revisions[0]?.changes).toEqual([
    { analyte: "ALB", before: row("1.2 g/dL (3.2-4.1)", "low"), after: row("3.5 g/dL (3.2-4.1)", "normal") },
    { analyte: "TP", before: null, after: row("6.5 g/dL (5.5-7.2)", "normal") },
    { analyte: "ALT", before: row("310 U/L (10-100)", "high"), after: null },
  ]);
  expect(shown.conflicts.map(({ revision, changes }) => [revision, changes.length])).toEqual([[1, 2]]);
  expect(shown.time_line.map(({ kind }) => kind)).toEqual([
    ...["sample", "revision", "revision", "revision", "conflict", "read", "read"],
  ]);
  const reads = shown.time_line.flatMap((event) => (event.kind === "read" ? [[event.by, event.is_key]] : []));
  expect(reads).toEqual(
    expect.arrayContaining([
      ["test", true],
      [user.name, false],
    ]),
  );
});

test("a patient that the clinic may not see has no name in the revisions, and its readers stay unknown", async () => {
  const { theirs, dog, foreign, push, read, server } = await startResults();
  const moved = study({ patient_fp: foreign.fp });
  await push(theirs, moved);
  const actor = { by: "Veli", now: server.clock.now };
  const both = { type: "connection" as const, patient_fp: dog.fp, clinic_fp: theirs, active: true };
  await importEntities(server.store, both);
  const move = { fp: moved.fp, patientFp: dog.fp, reason: "another animal", ...actor };
  await server.store.transaction((session) => moveStudy(session, move));
  const stranger = await makeUser(server, "reader", theirs);
  await stranger.call("GET", `/results/${moved.fp}`);
  const shown = await read(moved.fp);
  expect(shown.revisions.map(({ place }) => place.kind)).toEqual(["patient", "patient of others"]);
  expect([shown.hint, shown.source, shown.sample_ids]).toEqual([null, null, []]);
  expect(JSON.stringify(shown)).not.toContain("Rex");
  expect(JSON.stringify(shown)).not.toContain(stranger.name);
});

test("CSV files hold hostile texts as text, and no formula", async () => {
  const { ours, user, push, server } = await startResults();
  const evil = patient({ name: `=cmd|' /C calc'!A0` });
  await importEntities(server.store, evil, { type: "connection", patient_fp: evil.fp, clinic_fp: ours, active: true });
  const filed = chemistry(evil, profile, { device_name: `+SUM("a";${hostile})` });
  await push(ours, filed);
  const [list, one] = [
    await user.call("GET", "/results.csv"),
    await user.call("GET", `/results/${filed.fp}/results.csv`),
  ];
  for (const { text } of [list, one]) {
    const [, line = ""] = text.split("\r\n");
    expect(line).toContain("'=cmd|' /C calc'!A0");
    expect(line).toContain("'+SUM(");
  }
  expect(one.text.split("\r\n").slice(0, 2)).toEqual([
    "study_fp,patient,acquired_at,device_name,analyte,name,comparator_and_value,unit,reference_range,flag,side," +
      "device_range,device_flag,code_source,reason,comment,abnormal,study_comments,flagged_species,sample_ids,order," +
      "interval_source,interval_why,sent_value,sent_unit,sent_reference_range,quality",
    `${filed.fp},'=cmd|' /C calc'!A0,2026-11-20T10:00:00.000Z,"'+SUM(""a"";${hostile.replaceAll('"', '""')})",ALT,` +
      "Alanine aminotransferase,310,U/L,10-100,high,high,10-100,H,,,,,,,A-77,,the device's own interval," +
      `"the device's own interval for the dog, since the clinic has none that applies",310,U/L,10-100,`,
  ]);
});

test("the analyzer's words on the sample are on the study's page, in its CSV file, and in each revision", async () => {
  const { ours, dog, user, push, read } = await startResults();
  const filed = { ...chemistry(dog), comments: ["HEM: 2+ LIP: 0 ICT: 1+", "=sample repeated"] };
  await push(ours, filed);
  expect((await read(filed.fp)).comments).toEqual(filed.comments);
  const { text } = await user.call("GET", `/results/${filed.fp}/results.csv`);
  expect(text.split("\r\n")[1]).toMatch(
    /,HEM: 2\+ LIP: 0 ICT: 1\+ \| =sample repeated,,A-77,,the device's own interval,/,
  );
  await push(ours, { ...filed, comments: ["diluted"], revision: 2 });
  expect((await read(filed.fp)).comments).toEqual(["diluted"]);
});

test("a result without a value is on the study's page and in its CSV file", async () => {
  const { ours, dog, user, push, read } = await startResults();
  const not_reported = [{ analyte: "TBIL", code: "no_value" as const, text: "HEM" }];
  const plain = chemistry(dog);
  await push(ours, { ...plain, snapshot: { ...plain.snapshot!, not_reported } });
  expect((await read(plain.fp)).not_reported).toEqual(not_reported);
  const { text } = await user.call("GET", `/results/${plain.fp}/results.csv`);
  expect(text).toMatch(/,TBIL,,,,,,,,,,not reported because of hemolysis,/);
});

test("the CSV file of the list names every critical value", async () => {
  const { ours, dog, user, push } = await startResults();
  const critical = { value: 9, unit: "mmol/L", reference_range: "3-5", flag: "critical" as const };
  const codes = ["K", "NA", "CL", "CA", "PHOS", "GLU", "MG", "BUN"];
  await push(ours, study({ patient_fp: dog.fp, results: codes.map((analyte) => ({ analyte, ...critical })) }));
  const { text } = await user.call("GET", "/results.csv");
  expect(text.split("\r\n")[1]).toContain(`,8,8,${codes.map((code) => `${code} 9 mmol/L`).join("; ")}`);
});

const noPoppler = existsSync("/usr/bin/pdftotext") ? null : "pdftotext is missing (Debian: apt install poppler-utils)";
if (noPoppler !== null) process.stderr.write(`the text of PDF files is not tested: ${noPoppler}\n`);

describe.skipIf(noPoppler !== null)("the PDF of a study", () => {
  async function pdfText(query: string, name = "Karabaş Şeker İğde ığüçö") {
    const { ours, user, push, server } = await startResults();
    const named = patient({ name, sex: "female_spayed" });
    await importEntities(server.store, named, {
      type: "connection",
      patient_fp: named.fp,
      clinic_fp: ours,
      active: true,
    });
    const own = { ...profile[6]!, codeSource: "device" as const, code: "OWN", unit: "10⁹/L µmol" };
    const comments = ["HEM: 2+ LIP: 0"];
    const filed = { ...chemistry(named, [...profile, own], { device_name: hostile }), comments };
    await push(ours, filed);
    const url = `/clinic/v1/clinics/${ours}/results/${filed.fp}/report.pdf?${query}`;
    const response = await server.app.inject({ url, headers: { cookie: user.cookie } });
    expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "application/pdf"]);
    expect(response.headers["content-disposition"]).toMatch(
      /^attachment; filename="[ -~]+"; filename\*=UTF-8''\S+\.pdf$/,
    );
    const file = join(temporaryFolder(), "report.pdf");
    writeFileSync(file, response.rawPayload);
    return execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" });
  }

  test("prints Turkish letters, units and flags in the requested language", async () => {
    const text = await pdfText("language=tr&zone=Europe/Istanbul");
    for (const part of ["Laboratuvar raporu", "Karabaş Şeker İğde ığüçö", "Köpek", "Ölçüm zamanı", "kritik düşük"]) {
      expect(text).toContain(part);
    }
    expect(text).toMatch(/ALT Alanin aminotransferaz\s+310\s+U\/L\s+yüksek\s+10-100 \[1\]/);
    expect(text).toContain("10⁹/L µmol");
    expect(text).toContain("dişi, kısırlaştırılmış");
    expect(text).toContain("20 Kas 2026 13:00 (Europe/Istanbul)");
    expect(text).toContain("cihazın kendi kodu");
    expect(text).toMatch(/Analizörün numune hakkındaki bildirimi\s+hemoliz 2\+, lipemi 0/);
  });

  test("prints hostile texts as text, and reads no file or address that a text names", async () => {
    const text = (await pdfText("language=en", `/etc/passwd https://example.com/x.png ${hostile}`)).replaceAll(
      /\s+/g,
      " ",
    );
    expect(text).toContain("/etc/passwd https://example.com/x.png <img");
    expect(text).toContain("critical low");
    expect(text).not.toContain("root:");
  });
});
