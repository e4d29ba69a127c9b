import { describe, expect, test } from "vitest";
import { query } from "../../../server/database/query.ts";
import { openStore } from "../../../server/database/open.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { PushedStudy } from "../../../shared/api/study.ts";
import { clinic, connection, importEntities, keyPermissions, patient, startServer, study } from "../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

async function ingestServer() {
  const [one, two, foreign] = [patient(), patient(), patient()];
  const server = await startServer(
    [clinic(ours), clinic(theirs), one, two, foreign],
    [connection(one.fp, ours), connection(two.fp, ours), connection(foreign.fp, theirs)],
  );
  const key = await server.makeKey(ours, keyPermissions);
  return {
    server,
    key,
    one,
    two,
    foreign,
    push: async (...studies: unknown[]) => server.push(key, ...studies),
    /** The body of GET, or null if it is not 200. */
    read: async (fp: string) => {
      const { status, body } = await server.get(key, `/api/v1/lab/diagnostics/${fp}`);
      return status === 200 ? body.data : null;
    },
  };
}

const higher = (value: number): Partial<PushedStudy> => ({
  results: [{ analyte: "GLU", value, unit: "mmol/L", reference_range: "3.3-6.1", flag: "high" }],
});

describe("POST /agent/v1/studies", () => {
  test("a new study of a connected patient is filed, and a resend keeps it", async () => {
    const { push, read, one } = await ingestServer();
    const sent = study({ patient_fp: one.fp });
    expect(await push(sent)).toEqual([{ fp: sent.fp, outcome: "filed", reason: null }]);
    expect(await push(sent)).toEqual([{ fp: sent.fp, outcome: "unchanged", reason: null }]);
    // Only the source, the hint and the order of the keys differ.
    const { results, ...rest } = sent;
    const again = {
      results: results.map((row) => Object.fromEntries(Object.entries(row).toReversed())),
      ...rest,
      source: { device_id: "chem-1", message_id: "2" },
      patient_hint: { ...sent.patient_hint, name: "Karabaş" },
    };
    expect(await push(again)).toEqual([{ fp: sent.fp, outcome: "unchanged", reason: null }]);
    expect((await read(sent.fp))?.results).toEqual(sent.results);
  });

  test("comments are read back in single reads and lists, and another comment is another body", async () => {
    const { server, key, push, read, one } = await ingestServer();
    const [plain, sent] = [
      study({ patient_fp: one.fp }),
      study({ patient_fp: one.fp, comments: ["Lipemic", "repeated"] }),
    ];
    await push(plain, sent);
    expect(await read(plain.fp)).not.toHaveProperty("comments");
    expect(await read(sent.fp)).toMatchObject({ comments: ["Lipemic", "repeated"] });
    const { body } = await server.get(key, `/api/v1/lab/diagnostics?patient_fp=${one.fp}`);
    expect(JSON.stringify(body.data)).toContain('"comments":["Lipemic","repeated"]');
    expect(await push({ ...sent, comments: ["Lipemic"] })).toMatchObject([{ outcome: "conflict" }]);
    expect(await push({ ...sent, comments: ["Lipemic"], revision: 2 })).toMatchObject([{ outcome: "filed" }]);
    expect(await read(sent.fp)).toMatchObject({ comments: ["Lipemic"] });
  });

  test("a study without a connected patient is unmatched, and filed once the patient is connected", async () => {
    const { server, push, read, foreign } = await ingestServer();
    const unknown = newFp("patient");
    const [none, nobody, others] = [study(), study({ patient_fp: unknown }), study({ patient_fp: foreign.fp })];
    const held = [
      {
        fp: none.fp,
        outcome: "unmatched",
        code: "PATIENT.NONE",
        values: [],
        reason: "patient_fp is null, expected the patient's fp",
      },
      {
        fp: nobody.fp,
        outcome: "unmatched",
        code: "PATIENT.UNKNOWN",
        values: [unknown],
        reason: `patient ${unknown} does not exist`,
      },
      {
        fp: others.fp,
        outcome: "unmatched",
        code: "PATIENT.NOT_CONNECTED",
        values: [foreign.fp],
        reason: `patient ${foreign.fp} has no active connection to this clinic`,
      },
    ];
    expect(await push(none, nobody, others)).toEqual(held);
    expect(await push(none, nobody, others)).toEqual(held);
    expect(await read(others.fp)).toBe(null);

    await importEntities(server.store, connection(foreign.fp, ours));
    expect(await push(others)).toEqual([{ fp: others.fp, outcome: "filed", reason: null }]);
    expect((await read(others.fp))?.patient_fp).toBe(foreign.fp);
  });

  test("the same revision with another body is a conflict and changes nothing", async () => {
    const { push, read, one, two } = await ingestServer();
    const sent = study({ patient_fp: one.fp });
    await push(sent);
    const changes: Partial<PushedStudy>[] = [
      higher(9),
      { patient_fp: two.fp },
      { patient_fp: null },
      { acquired_at: "2026-11-20T10:00:00.001Z" },
      { modality: "URINALYSIS" },
      { source: { device_id: "chem-2", message_id: "1" } },
      { dedupe_key: "another" },
    ];
    for (const change of changes) {
      expect(await push({ ...sent, ...change })).toEqual([
        {
          fp: sent.fp,
          outcome: "conflict",
          code: "STUDY.OTHER_BODY",
          values: ["1"],
          reason: "revision 1 is already stored with another body, a correction needs a higher revision",
        },
      ]);
    }
    expect(await read(sent.fp)).toMatchObject({ results: sent.results, patient_fp: one.fp });
  });

  test("a higher revision becomes current and keeps the old one, a lower one changes nothing", async () => {
    const { server, push, read, one } = await ingestServer();
    const first = study({ patient_fp: one.fp });
    const third = { ...first, ...higher(9), revision: 3 };
    await push(first);
    expect(await push(third)).toEqual([{ fp: first.fp, outcome: "filed", reason: null }]);
    expect((await read(first.fp))?.results).toEqual(third.results);
    for (const late of [first, { ...first, ...higher(7), revision: 2 }]) {
      const reason = `revision is ${late.revision}, revision 3 is current`;
      const why = { code: "STUDY.OLDER_REVISION", values: [String(late.revision), "3"], reason };
      expect(await push(late)).toEqual([{ fp: first.fp, outcome: "unchanged", ...why }]);
    }
    expect((await push({ ...first, ...higher(8) }))[0]?.outcome).toBe("conflict");
    expect((await read(first.fp))?.results).toEqual(third.results);

    const kept = await server.store.all(revisions, {});
    expect(kept).toHaveLength(1);
    expect(kept[0]?.revision).toBe(1);
    expect(JSON.parse(kept[0]?.body ?? "")).toMatchObject({ results: first.results, source: first.source });
  });

  test("a revision without results is filed, and read without results", async () => {
    const { push, read, one } = await ingestServer();
    const first = study({ patient_fp: one.fp });
    await push(first);
    expect(await push({ ...first, results: [], revision: 2 })).toEqual([
      { fp: first.fp, outcome: "filed", reason: null },
    ]);
    expect(await read(first.fp)).toMatchObject({ fp: first.fp, status: "COMPLETED", results: [] });
  });

  test("a higher revision files a study, without a patient leaves it where it is, and never moves it", async () => {
    const { push, read, one, two } = await ingestServer();
    const held = study();
    await push(held);
    const patientOf = async () => (await read(held.fp))?.patient_fp ?? null;
    const steps: [Partial<PushedStudy>, string, string | null][] = [
      [{ revision: 2, patient_fp: one.fp }, "filed", one.fp],
      [{ revision: 3, patient_fp: null }, "filed", one.fp],
      [{ revision: 4, patient_fp: two.fp }, "conflict", one.fp],
      [{ revision: 4, patient_fp: newFp("patient") }, "conflict", one.fp],
      [{ revision: 4, patient_fp: one.fp }, "filed", one.fp],
    ];
    for (const [change, outcome, patientFp] of steps) {
      const [answer] = await push({ ...held, ...change });
      expect([change.revision, answer?.outcome, await patientOf()]).toEqual([change.revision, outcome, patientFp]);
    }
  });

  test("images of a second animal contradict a filed study, and join one without a patient", async () => {
    const { push, read, one } = await ingestServer();
    const snapshot = (images: string) => ({
      ...{ catalogue: "1", ranges: null, instrument: null, rows: [], notes: [], images },
    });
    const several = { code: "MATCH.SEVERAL_PATIENTS", values: ["2"] };
    const filed = study({ patient_fp: one.fp, results: [], snapshot: snapshot("00") });
    await push(filed);
    const mixed = { ...filed, patient_fp: null, revision: 2, unmatched: several, snapshot: snapshot("01") };
    expect(await push(mixed)).toEqual([
      { fp: filed.fp, outcome: "conflict", ...several, reason: "the identifiers name 2 patients" },
    ]);
    expect(await read(filed.fp)).toMatchObject({ patient_fp: one.fp });
    const open = study({ results: [], snapshot: snapshot("00") });
    await push(open);
    expect(await push({ ...mixed, fp: open.fp, dedupe_key: open.dedupe_key })).toMatchObject([
      { fp: open.fp, outcome: "unmatched" },
    ]);
    // The identity of a sample has its patient's number, so that its correction is of the same animal.
    const sample = study({ patient_fp: one.fp });
    await push(sample);
    const corrected = { ...sample, ...higher(9), patient_fp: null, revision: 2, unmatched: several };
    expect(await push(corrected)).toMatchObject([{ outcome: "filed" }]);
  });

  test("a known dedupe key with a new fp creates no second study", async () => {
    const { push, read, one } = await ingestServer();
    const first = study({ patient_fp: one.fp });
    await push(first);
    const twin = { ...first, fp: newFp("cds") };
    expect(await push(twin)).toEqual([
      {
        fp: twin.fp,
        outcome: "unchanged",
        code: "STUDY.TWIN",
        values: [first.fp],
        reason: `dedupe_key is already used by ${first.fp}, with the same results`,
        existing_fp: first.fp,
      },
    ]);
    expect(await push({ ...twin, ...higher(9) })).toEqual([
      {
        fp: twin.fp,
        outcome: "conflict",
        code: "STUDY.OTHER_TWIN",
        values: [first.fp],
        reason: `dedupe_key is already used by ${first.fp}, with other results`,
        existing_fp: first.fp,
      },
    ]);
    expect(await read(twin.fp)).toBe(null);
    // A later revision of an existing study cannot take the dedupe key of another one.
    const other = study({ patient_fp: one.fp });
    await push(other);
    expect((await push({ ...other, revision: 2, dedupe_key: first.dedupe_key }))[0]?.outcome).toBe("unchanged");
  });

  test("a known dedupe key with a new fp files the unmatched study once it names a patient", async () => {
    const { server, push, read, one, foreign } = await ingestServer();
    const lost = study();
    const [{ reason } = { reason: null }] = await push(lost);
    const again = { ...lost, fp: newFp("cds") };
    const none = { code: "PATIENT.NONE", values: [] };
    const held = { fp: again.fp, outcome: "unmatched", reason, ...none, existing_fp: lost.fp };
    expect(reason).toBe("patient_fp is null, expected the patient's fp");
    expect(await push(again)).toEqual([held]);
    expect(await push({ ...again, patient_fp: foreign.fp })).toEqual([held]);
    expect((await push({ ...again, ...higher(9), patient_fp: one.fp }))[0]?.outcome).toBe("conflict");
    // A revision of another study does not file it, since the study would exist twice.
    const other = study({ patient_fp: one.fp });
    await push(other);
    expect((await push({ ...other, revision: 2, dedupe_key: lost.dedupe_key }))[0]?.outcome).toBe("unmatched");

    const known = { ...again, patient_fp: one.fp, revision: 2 };
    expect(await push(known)).toEqual([{ fp: again.fp, outcome: "filed", reason: null, existing_fp: lost.fp }]);
    const values = lost.results.map(({ analyte, value, unit }) => ({ analyte, value, unit }));
    expect(await read(lost.fp)).toMatchObject({ fp: lost.fp, patient_fp: one.fp, results: values });
    expect(await read(again.fp)).toBe(null);
    expect(await push(known, again, lost)).toMatchObject([
      { outcome: "unchanged", existing_fp: lost.fp },
      { outcome: "unchanged", existing_fp: lost.fp },
      { outcome: "unchanged", reason: null },
    ]);
    const kept = await server.store.all(revisions, {});
    expect(kept.map(({ revision, pushed_revision }) => [revision, pushed_revision])).toEqual([[1, 1]]);
  });

  test("an invalid study is rejected with its faults, and the others are filed", async () => {
    const { push, one } = await ingestServer();
    const good = study({ patient_fp: one.fp });
    const bad: [unknown, string][] = [
      [
        { ...good, fp: "cds_1" },
        'fp is "cds_1", expected cds_ and a ULID of 26 digits and upper-case letters; fps are case-sensitive',
      ],
      [{ ...good, status: "PARTIAL" }, 'status is "PARTIAL", expected "COMPLETED"'],
      [{ ...good, revision: 1.5 }, "revision is 1.5, expected an integer"],
      [{ ...good, patient_fp: 3 }, "patient_fp is 3, expected a string or null"],
      [
        { ...good, acquired_at: "2026-02-30T10:00:00.000Z" },
        "acquired_at is 2026-02-30T10:00:00.000Z, expected a time that exists",
      ],
      [
        { ...good, results: [{ ...good.results[0], value: "7,1", flag: "High" }] },
        'results/0/value is "7,1", expected a number or null; results/0/flag is "High", expected one of normal, low, high, critical or null',
      ],
      [
        { ...good, acquired_at: "2099-01-01T00:00:00.000Z" },
        "acquired_at is 2099-01-01T00:00:00.000Z, expected at most a day after the clock's 2026-11-21T12:00:00.000Z",
      ],
      [
        { ...good, results: [{ ...good.results[0], reference_range: "whatever" }] },
        'results/0/reference_range is "whatever", expected the lower and the upper bound such as 6.0-17.0',
      ],
      [
        { ...good, results: [good.results[1], { ...good.results[0], reference_range: null }] },
        "results/1/flag is normal without a reference_range, expected null",
      ],
      [
        { ...good, results: [{ ...good.results[0], flag: "low" }] },
        "results/0/flag is low for 5.2 of 3.3-6.1, expected normal or null",
      ],
      [{ ...good, device_name: "VS\u00002" }, String.raw`device_name is "VS\u00002", expected text without NUL`],
      [null, "the value is null, expected an object"],
      ["x", 'the value is "x", expected an object'],
    ];
    const rows = Array.from({ length: 30 }, () => ({ ...good.results[0], value: "HEM" }));
    const [many] = await push({ ...good, results: rows });
    // A value has two types, so that it counts as three faults.
    const sentences = [0, 1, 2, 3, 4, 5].map((index) => `results/${index}/value is "HEM", expected a number or null`);
    expect(many?.reason).toBe([...sentences, "the check ended after 20 faults: there may be more"].join("; "));
    const [empty] = await push({ ...good, results: rows.map(() => ({})) });
    expect(empty?.reason).toMatch(/^results\/0\/analyte is missing; .*; and at least \d+ more$/);

    const outcomes = await push(...bad.map(([candidate]) => candidate), good);
    expect(outcomes.slice(0, -1).map(({ outcome, reason }) => [outcome, reason])).toEqual(
      bad.map(([, reason]) => ["rejected", reason]),
    );
    expect(outcomes.at(-1)).toEqual({ fp: good.fp, outcome: "filed", reason: null });
    expect(outcomes[0]?.fp).toBe("cds_1");
    expect(outcomes[12]?.fp).toBe("");
  });

  test("a study with a list that is too long is rejected, and the others are filed", async () => {
    const { push, one } = await ingestServer();
    const [long, rows, notes, many, good] = Array.from({ length: 5 }, () => study({ patient_fp: one.fp }));
    const snapshot = { catalogue: "1", ranges: null, instrument: null, rows: [], notes: [] };
    const unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key ${index}`, 0]));
    const outcomes = await push(
      { ...long, results: Array.from({ length: 100_000 }, () => ({})) },
      { ...rows, snapshot: { ...snapshot, rows: Array.from({ length: 1_001 }, () => 0) } },
      { ...notes, snapshot: { ...snapshot, notes: Array.from({ length: 10_001 }, () => "") } },
      { ...unknown, fp: many?.fp },
      good,
    );
    expect(outcomes.map(({ outcome, reason }) => [outcome, reason?.slice(0, 60)])).toEqual([
      ["rejected", "results is a list of 100000, at most 1000"],
      ["rejected", "snapshot/rows is a list of 1001, at most 1000"],
      ["rejected", "snapshot/notes is a list of 10001, at most 10000"],
      ["rejected", expect.stringMatching(/ is missing; /)],
      ["filed", undefined],
    ]);
  });

  test("the hint and the results keep their text, NUL included", async () => {
    const { push, read, one } = await ingestServer();
    const results = study().results.map((row) => ({ ...row, value_text: "5.2\u0000" }));
    const sent = study({ patient_fp: one.fp, results, patient_hint: { ...study().patient_hint, name: "\u0000" } });
    expect((await push(sent))[0]?.outcome).toBe("filed");
    expect((await read(sent.fp))?.results).toEqual(results);
  });

  test("half of a surrogate pair is replaced wherever it occurs, and the study is served and listed", async () => {
    const { server, key, push, read, one } = await ingestServer();
    const half = "\u{D83D}";
    const results = study().results.map((row) => ({ ...row, value_text: `5.2${half}` }));
    const patient_hint = { ...study().patient_hint, name: half };
    const sent = study({ patient_fp: one.fp, device_name: `VS2 ${half}`, dedupe_key: half, results, patient_hint });
    expect(await push(sent)).toMatchObject([{ fp: sent.fp, outcome: "filed" }]);
    expect(await push(sent)).toMatchObject([{ fp: sent.fp, outcome: "unchanged" }]);
    const stored = await read(sent.fp);
    expect(stored).toMatchObject({ device_name: "VS2 \u{FFFD}" });
    expect(stored?.results).toEqual(results.map((row) => ({ ...row, value_text: "5.2\u{FFFD}" })));
    const { data } = (await server.get(key, "/api/v1/lab/diagnostics")).body;
    expect(data).toMatchObject({ total: 1, items: [{ fp: sent.fp, device_name: "VS2 \u{FFFD}" }] });
  });

  test("duplicates within a push follow the same rules, with one outcome per study in order", async () => {
    const { push, one } = await ingestServer();
    const first = study({ patient_fp: one.fp });
    const batch = [
      first,
      first,
      { ...first, ...higher(9) },
      { ...first, ...higher(9), revision: 2 },
      first,
      { ...first, ...higher(9), fp: newFp("cds") },
    ];
    const outcomes = await push(...batch);
    expect(outcomes.map(({ fp, outcome }) => [fp, outcome])).toEqual(
      ["filed", "unchanged", "conflict", "filed", "unchanged", "unchanged"].map((outcome, index) => [
        batch[index]?.fp,
        outcome,
      ]),
    );
  });

  test("an acknowledged study is in the database for other processes", async () => {
    const { server, push, one } = await ingestServer();
    const sent = Array.from({ length: 100 }, () => study({ patient_fp: one.fp }));
    expect(new Set((await push(...sent)).map(({ outcome }) => outcome))).toEqual(new Set(["filed"]));
    const elsewhere = await openStore(server.database);
    const stored = await elsewhere.all(studyFps, {});
    await elsewhere.close();
    expect(stored.map(({ fp }) => fp)).toEqual(sent.map(({ fp }) => fp));
  });

  test("concurrent pushes of one study file it once", async () => {
    const { push, one } = await ingestServer();
    const sent = study({ patient_fp: one.fp });
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => push(sent)));
    const words = outcomes.map(([first]) => first?.outcome);
    expect(words.filter((word) => word === "filed")).toHaveLength(1);
    expect(words.filter((word) => word === "unchanged")).toHaveLength(9);
  });
});

describe("the agent's other routes", () => {
  test("the latest heartbeat of each key is stored", async () => {
    const { server, key } = await ingestServer();
    const beat = async (payload: object) => {
      const headers = { "x-api-key": key };
      const response = await server.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload });
      return [response.statusCode, response.json<unknown>()];
    };
    expect(await beat({})).toEqual([200, {}]);
    const full = {
      version: "0.1.0",
      uptime_s: 12.5,
      outbox: { depth: 0, oldest_at: null },
      devices: [{ id: "chem-1", profile: "abaxis-vetscan-vs2", connected: true, last_message_at: null }],
    };
    expect(await beat(full)).toEqual([200, {}]);
    const stored = await server.store.all(heartbeats, {});
    expect(stored.map(({ body }) => JSON.parse(body) as unknown)).toEqual([full]);

    expect(await beat({ ...full, later: "x".repeat(1_000_000) })).toEqual([200, {}]);
    expect((await server.store.all(heartbeats, {})).map(({ body }) => JSON.parse(body) as unknown)).toEqual([full]);
    const [status, body] = await beat({ outbox: { depth: -1 } });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: { code: "REQUEST.INVALID_BODY", message: "outbox/depth is -1, expected at least 0." },
    });
  });

  test("the identifiers of connected patients are listed in the order of the patients", async () => {
    const [early, late, bare, foreign] = [
      patient({ updated_at: "2026-10-01T00:00:00.000Z", external_ids: ["10021", "792090000124031"] }),
      patient({ updated_at: "2026-10-02T00:00:00.000Z", external_ids: ["10022"] }),
      patient({ updated_at: "2026-09-01T00:00:00.000Z" }),
      patient({ external_ids: ["10023"] }),
    ];
    const server = await startServer(
      [clinic(ours), clinic(theirs), early, late, bare, foreign, connection(foreign.fp, theirs)],
      [early, late, bare].map(({ fp }) => connection(fp, ours)),
    );
    const key = await server.makeKey(ours, ["clinic.lab.ingest"]);
    const page = async (parameters: string) => (await server.get(key, `/agent/v1/identifiers${parameters}`)).body;
    expect(await page("")).toEqual({
      success: true,
      data: {
        items: [
          { patient_fp: late.fp, identifiers: ["10022"] },
          { patient_fp: early.fp, identifiers: ["10021", "792090000124031"] },
          { patient_fp: bare.fp, identifiers: [] },
        ],
        total: 3,
        page: 1,
        page_size: 20,
        has_more: false,
      },
    });
    expect((await page("?page_size=1&page=2")).data).toMatchObject({
      items: [{ patient_fp: early.fp, identifiers: ["10021", "792090000124031"] }],
      has_more: true,
    });
    expect((await page("?updated_since=2026-10-02")).data.total).toBe(1);
  });
});

const revisions = query((db) => db.selectFrom("study_revision").selectAll());
const studyFps = query((db) => db.selectFrom("study").select("fp").orderBy("id"));
const heartbeats = query((db) => db.selectFrom("heartbeat").selectAll());
