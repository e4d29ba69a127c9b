import { describe, expect, test } from "vitest";
import { explainLines, unmatchedTable } from "../../../../server/cli/studies/study-text.ts";
import { exportEntities } from "../../../../server/import/export.ts";
import type { Entity } from "../../../../server/import/lines.ts";
import { openStore } from "../../../../server/database/open.ts";
import type { Store } from "../../../../server/database/store.ts";
import { listUnmatched } from "../../../../server/records/unmatched/unmatched.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { type Measurement, resultsOf } from "../../../../shared/clinical/results.ts";
import { printable } from "../../../../shared/runtime/printable.ts";
import { flaggedPatient, signalmentAt } from "../../../../shared/clinical/signalment.ts";
import type { PushedStudy, Result } from "../../../../shared/api/study.ts";
import type { Patient } from "../../../../shared/api/patient.ts";
import {
  clinic,
  connection,
  importEntities,
  importText,
  keyPermissions,
  noon,
  patient,
  published,
  startServer,
  study,
  temporaryDatabase,
} from "../../harness.ts";
import { assignStudy, historyOf, reopenStudy, viewStudy } from "../../study-commands.ts";

// Goal: results under the device's own code, in words or in doubt pass the server unchanged, and the desk shows them with the
// device's own words and the sample's identifiers.

const ours = newFp("clinic");
const by = { by: "vet", now: noon };

const plain = { comparator: null, ordinal: false, unit: null, device_range: null, device_flag: null };
const measurements: readonly Measurement[] = [
  { ...plain, code: "ALT", value: 100, text: "100", unit: "U/L" },
  {
    ...plain,
    code: "413",
    codeSource: "device",
    device_code: "413",
    device_label: "Fruktosamin",
    value: 0.30000000000000004,
    comparator: "<",
    text: "<0,3",
    unit: "µmol/L",
    device_range: { low: 190, high: 365, text: "190-365", species: "cat" },
    device_flag: "L",
  },
  {
    ...plain,
    code: "CPV Ag",
    codeSource: "device",
    device_code: "CPV Ag",
    value: null,
    text: 'NON DÉTECTÉ \u0000 "2+"',
  },
  {
    ...plain,
    code: "CREA",
    codeSource: "clinic",
    device_code: "511",
    device_label: "Kreatinin",
    value: 2.1,
    text: "2,1",
    unit: "mg/dL",
  },
  { ...plain, code: "TBIL", value: 0.2, text: "0.2", unit: "mg/dL", comment: "hemolysis" },
];

/** Results of the rows that no interval changes, as the API shows them. */
const own: readonly Result[] = [
  {
    analyte: "413",
    value: 0.30000000000000004,
    unit: "µmol/L",
    reference_range: null,
    flag: null,
    comparator: "<",
    code_source: "device",
  },
  {
    analyte: "CPV Ag",
    value: null,
    unit: null,
    reference_range: null,
    flag: null,
    value_text: 'NON DÉTECTÉ \u0000 "2+"',
    code_source: "device",
  },
];
const doubted: Result = {
  analyte: "TBIL",
  value: 0.2,
  unit: "mg/dL",
  reference_range: null,
  flag: null,
  comment: "hemolysis",
};
const crea = { analyte: "CREA", value: 2.1, unit: "mg/dL", code_source: "clinic" as const };
const alt = { analyte: "ALT", value: 100, unit: "U/L" };

/** Builds the study of an agent that knows these facts of the patient. */
function flaggedFor(known: Patient | null, more: Partial<PushedStudy> = {}): PushedStudy {
  const { device_name, acquired_at } = study();
  const signalment = known === null ? null : signalmentAt(known, acquired_at);
  const { results, snapshot } = resultsOf(measurements, {
    signalment,
    instrument: device_name,
    acquired_at,
    ranges: null,
  });
  const animal = known === null ? null : flaggedPatient(known);
  return study({ results, snapshot: { ...snapshot, animal }, ...more });
}

const sample_ids = ["2026-0815", "=1+1", "\u001b[2J\n"];
const source = { device_id: "chem-1", message_id: "7", sample_ids };

async function startClinic() {
  const [dog, cat] = [patient({ species: "dog" }), patient({ species: "cat" })];
  const server = await startServer([clinic(ours), dog, cat], [connection(dog.fp, ours), connection(cat.fp, ours)]);
  const { store } = server;
  const key = await server.makeKey(ours, keyPermissions);
  return {
    server,
    store,
    key,
    dog: published(dog),
    cat: published(cat),
    push: async (...studies: unknown[]) => (await server.push(key, ...studies)).map(({ outcome }) => outcome),
    read: async (fp: string) => (await server.get(key, `/api/v1/lab/diagnostics/${fp}`)).body.data.results,
    assign: async (fp: string, patientFp: string) =>
      store.transaction((session) => assignStudy(session, { ...by, fp, patientFp })),
    reopen: async (fp: string) => store.transaction((session) => reopenStudy(session, { ...by, fp })),
    view: async (fp: string) => await viewStudy(store, fp),
    list: async (options: { rejected?: boolean; sample?: string } = {}) => {
      const found: { fp: string; line: string }[] = [];
      for await (const each of listUnmatched(store, { clinicId: null, rejected: false, ...options })) {
        found.push({ fp: each.fp, line: unmatchedTable.cells(each).join("  ") });
      }
      return found;
    },
  };
}

describe("the read API", () => {
  test("a result under the device's own code, in words or in doubt reads back byte by byte", async () => {
    const { server, key, push, dog } = await startClinic();
    const { patient_fp: _p, ...unfiled } = flaggedFor(dog, { source });
    const sent = { ...unfiled, patient_fp: dog.fp };
    expect(await push(sent)).toEqual(["filed"]);
    const response = await server.app.inject({
      url: `/api/v1/lab/diagnostics/${sent.fp}`,
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response.body).toBe(
      `{"success":true,"data":{"fp":"${sent.fp}","patient_fp":"${dog.fp}","modality":"BIOCHEMISTRY",` +
        `"device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[` +
        `{"analyte":"ALT","value":100,"unit":"U/L","reference_range":"17-95","flag":"high"},` +
        `{"analyte":"413","value":0.30000000000000004,"unit":"µmol/L","reference_range":null,"flag":null,` +
        `"comparator":"<","code_source":"device"},` +
        `{"analyte":"CPV Ag","value":null,"unit":null,"reference_range":null,"flag":null,` +
        String.raw`"value_text":"NON DÉTECTÉ \u0000 \"2+\"","code_source":"device"},` +
        `{"analyte":"CREA","value":2.1,"unit":"mg/dL","reference_range":"0.6-1.4","flag":"high","code_source":"clinic"},` +
        `{"analyte":"TBIL","value":0.2,"unit":"mg/dL","reference_range":null,"flag":null,"comment":"hemolysis"}],"accession":"2026-0815"}}`,
    );
  });

  test("the first sample identifier alone is part of the API, and another one does not change the content", async () => {
    const { push, server, key, dog } = await startClinic();
    const sent = { ...flaggedFor(dog, { source }), patient_fp: dog.fp };
    const again = { ...sent, source: { ...source, sample_ids: ["other"] } };
    expect(await push(sent, again)).toEqual(["filed", "unchanged"]);
    const { body } = await server.get(key, `/api/v1/lab/diagnostics/${sent.fp}`);
    expect(body["data"]).toMatchObject({ accession: "2026-0815" });
    expect(JSON.stringify(body)).not.toMatch(/sample_ids|other/);
  });

  test("a range or a flag under the device's own code is refused, and so is a ninth sample identifier", async () => {
    const { server, key } = await startClinic();
    const row = { ...own[0]!, flag: "high" as const };
    const many = { ...source, sample_ids: Array.from({ length: 9 }, String) };
    const outcomes = await server.push(key, study({ results: [row] }), study({ source: many }));
    expect(outcomes.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ["rejected", "results/0/flag is high for the device's own code, expected null"],
      ["rejected", "source/sample_ids is a list of 9, at most 8"],
    ]);
  });
});

describe("placing", () => {
  test("a placed study keeps the device's own codes and flags the other results for the patient", async () => {
    const { push, read, assign, reopen, view, dog, cat } = await startClinic();
    const sent = flaggedFor(null, { source });
    expect(await push(sent)).toEqual(["unmatched"]);
    const rows = sent.snapshot?.rows.slice(1, 3);

    expect(await assign(sent.fp, dog.fp)).toBeNull();
    expect(await read(sent.fp)).toEqual([
      { ...alt, reference_range: "17-95", flag: "high" },
      ...own,
      { ...crea, reference_range: "0.6-1.4", flag: "high" },
      doubted,
    ]);
    expect((await view(sent.fp)).snapshot?.rows.slice(1, 3)).toEqual(rows);

    expect(await assign(sent.fp, cat.fp)).toBeNull();
    expect(await read(sent.fp)).toEqual([
      { ...alt, reference_range: "28-109", flag: "normal" },
      ...own,
      { ...crea, reference_range: "0.8-2.1", flag: "normal" },
      doubted,
    ]);

    expect(await reopen(sent.fp)).toBeNull();
    const { study: held, snapshot, source: kept } = await view(sent.fp);
    expect(held.results).toEqual(sent.results);
    expect(snapshot?.rows.slice(1, 3)).toEqual(rows);
    expect(kept).toEqual(source);
  });

  test("a study that the agent flagged for another species keeps the device's own codes when it is filed", async () => {
    const { push, read, cat } = await startClinic();
    const wrong = { ...flaggedFor({ ...cat, species: "dog" }), patient_fp: cat.fp };
    expect(await push(wrong)).toEqual(["filed"]);
    expect(await read(wrong.fp)).toEqual([
      { ...alt, reference_range: "28-109", flag: "normal" },
      ...own,
      { ...crea, reference_range: "0.8-2.1", flag: "normal" },
      doubted,
    ]);
  });
});

describe("an unmatched study", () => {
  test("a study shows the device's name, range and flag of its own code, the clinic's code, and the doubt", async () => {
    const { push, view, store } = await startClinic();
    const sent = flaggedFor(null, { source });
    await push(sent);
    const shown = await view(sent.fp);
    const results = [
      "  ALT  100  U/L  no range  no flag",
      "  413 (Fruktosamin, the device's own code)  <0.30000000000000004  µmol/L  the device's range 190-365  the device's flag L",
      '  CPV Ag (the device\'s own code)  NON DÉTECTÉ \u0000 "2+"    no range  no flag',
      "  CREA (the clinic's code for 511 Kreatinin)  2.1  mg/dL  no range  no flag",
      "  TBIL  0.2  mg/dL  no range  no flag  in doubt: hemolysis",
    ];
    const history = await historyOf(store, sent.fp);
    const explained = explainLines(shown, { history, conflicts: [], audit: [], ranges: undefined });
    expect(explained[0]).toBe(`2026-11-20T10:00:00.000Z  the sample ${sample_ids.join(", ")}, on Abaxis VetScan VS2`);
    const printed = '  printed NON DÉTECTÉ \u0000 "2+"  no interval; the catalogue does not know the code';
    expect(explained).toContain(`${results[2]}${printed}`);
    expect(explained).toContain(`${results[1]}  printed <0,3  no interval; the catalogue does not know the code`);
    // printLine() prints each line.
    for (const line of explained) expect(printable(line)).not.toMatch(/\p{Cc}/u);
  });

  test("the list of unmatched studies shows sample identifiers and finds them, whatever their letter case", async () => {
    const { push, list } = await startClinic();
    const [one, other, none] = [
      flaggedFor(null, { source: { ...source, sample_ids: ["A-17", "0815"] } }),
      flaggedFor(null, { source: { ...source, sample_ids: ["0816"] } }),
      flaggedFor(null),
    ];
    await push(one, other, none);
    const all = await list();
    expect(all.map(({ line }) => /sample [^ ]+( [^ ]+)?(?= {2})/.exec(line)?.[0])).toEqual([
      "sample A-17, 0815",
      "sample 0816",
      undefined,
    ]);
    const fps = async (sample: string) => (await list({ sample })).map(({ fp }) => fp);
    expect([await fps(" a-17"), await fps("0816"), await fps("081"), await fps("")]).toEqual([
      [one.fp],
      [other.fp],
      [],
      [],
    ]);
    expect(await list({ sample: "0816", rejected: true })).toEqual([]);
  });
});

describe("an export", () => {
  test("an export keeps codes, words, doubts, the device's own words and the sample, and imports unchanged", async () => {
    const { push, store, dog, view } = await startClinic();
    const sent = { ...flaggedFor(dog, { source }), patient_fp: dog.fp };
    const ordinary = study({ patient_fp: dog.fp });
    expect(await push(sent, ordinary)).toEqual(["filed", "filed"]);
    const written = await exported(store);
    const studies = written.filter(({ type }) => type === "study");
    const { revision: _r, dedupe_key: _d, patient_hint: _h, ...line } = sent;
    const { revision: _r2, dedupe_key: _d2, patient_hint: _h2, source: _s2, ...ordinaryLine } = ordinary;
    expect(new Map(studies.map((each) => ["fp" in each ? each.fp : "", each]))).toEqual(
      new Map<string, object>([
        [sent.fp, { type: "study", ...line }],
        [ordinary.fp, { type: "study", ...ordinaryLine }],
      ]),
    );

    const copy = await openStore(await temporaryDatabase());
    const text = written.map((each) => JSON.stringify(each)).join("\n");
    expect(await importText(copy, text)).toMatchObject({ new: written.length, changed: 0, unchanged: 0 });
    expect(await importText(copy, text)).toMatchObject({ new: 0, changed: 0, unchanged: written.length });
    expect((await exported(copy)).map((each) => JSON.stringify(each)).join("\n")).toBe(text);
    const [before, after] = [await view(sent.fp), await viewStudy(copy, sent.fp)];
    expect([after?.study, after?.snapshot, after?.source]).toEqual([before.study, before.snapshot, before.source]);
    await copy.close();

    // A file of an older program does not name the sample.
    const { source: _s, snapshot: _n, ...older } = { type: "study" as const, ...line };
    expect(await importEntities(store, older)).toMatchObject({ unchanged: 1 });
    const changed = { ...line, source: { ...source, sample_ids: ["new"] } };
    expect(await importEntities(store, { type: "study", ...changed })).toMatchObject({ changed: 1 });
    expect((await view(sent.fp)).source?.sample_ids).toEqual(["new"]);
  });
});

async function exported(store: Store): Promise<Entity[]> {
  const entities: Entity[] = [];
  for await (const entity of exportEntities(store)) entities.push(entity);
  return entities;
}
