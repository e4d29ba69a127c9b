import { describe, expect, test } from "vitest";
import type { StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import type { UnmatchedList, UnmatchedDetails } from "../../../../server/dashboard/types/results/unmatched.ts";
import {
  connectTo,
  importEntities,
  importText,
  keyPermissions,
  patient,
  startServer,
  study,
} from "../../../server/harness.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { cat, clinicEntities, dog, foreign, ours, theirs, waiting } from "../../unmatched-clinic.ts";
import { makeUser } from "../../harness.ts";
import { chemistry } from "../../results-clinic.ts";

// Goal: a study of the wrong animal is moved or taken back from its page, however it was filed, and flags follow a corrected animal.

async function startClinic() {
  const server = await startServer(...clinicEntities);
  const key = await server.makeKey(ours, [...keyPermissions, "clinic.lab.view"]);
  const staff = await makeUser(server, "staff", ours);
  const command = async (fp: string, name: string, body: object) => {
    const { revision } = (await staff.call<StudyPage>("GET", `/results/${fp}`)).body;
    return staff.call<{ error?: { message: string } }>("POST", `/results/${fp}/${name}`, { revision, ...body });
  };
  return {
    server,
    key,
    staff,
    command,
    page: async (fp: string) => (await staff.call<StudyPage>("GET", `/results/${fp}`)).body,
    queue: async () => (await staff.call<UnmatchedList>("GET", "/unmatched")).body,
    /** The patient of the study in the API; null if it has none there. */
    served: async (fp: string) =>
      (await server.get(key, `/api/v1/lab/diagnostics/${fp}`)).body.data?.patient_fp ?? null,
    change: (...entities: unknown[]) => importEntities(server.store, ...entities),
  };
}

const why = { reason: "the card of the wrong animal" };

describe("a study of the wrong animal", () => {
  test("moves to another one with its reason, flags and history, and the move can be undone", async () => {
    const { server, key, staff, command, page, served } = await startClinic();
    const sent = chemistry(dog);
    await server.push(key, sent);
    const before = await page(sent.fp);
    expect(before.can).toEqual({ move: true, undo: false, flag: false, release: false });

    expect((await command(sent.fp, "move", { patient_fp: cat.fp, ...why })).status).toBe(200);
    const moved = await page(sent.fp);
    expect(await served(sent.fp)).toBe(cat.fp);
    expect([moved.cause, moved.can.undo, moved.revisions[0]]).toMatchObject([
      "moved",
      true,
      { by: staff.name, reason: why.reason, place: { kind: "patient", fp: cat.fp } },
    ]);
    expect(moved.rows.map(({ low, high }) => [low, high])).not.toEqual(before.rows.map(({ low, high }) => [low, high]));
    expect(moved.time_line.map((event) => event.kind)).toContain("revision");
    // The agent that filed it cannot move it back.
    expect(await server.push(key, { ...sent, revision: 2 })).toMatchObject([{ outcome: "conflict" }]);

    expect((await command(sent.fp, "undo-move", {})).status).toBe(200);
    const undone = await page(sent.fp);
    expect([await served(sent.fp), undone.cause, undone.can.undo]).toEqual([dog.fp, "undone", false]);
    expect(undone.rows.map(({ low, high }) => [low, high])).toEqual(before.rows.map(({ low, high }) => [low, high]));
  });

  test("is unmatched after it is taken back, can be placed, and that can be undone", async () => {
    const { server, key, staff, command, page, queue, served } = await startClinic();
    const sent = chemistry(dog);
    await server.push(key, sent);
    expect((await command(sent.fp, "move", { patient_fp: null, ...why })).status).toBe(200);
    expect([await served(sent.fp), (await queue()).studies.map(({ fp }) => fp)]).toEqual([null, [sent.fp]]);
    const { body } = await staff.call<UnmatchedDetails>("GET", `/unmatched/${sent.fp}`);
    expect([body.patient, body.reason]).toEqual([null, { code: "PERSON.TOOK_BACK", values: [dog.fp, why.reason] }]);
    // A resend leaves it to the person.
    expect(await server.push(key, sent)).toMatchObject([{ outcome: "unmatched", code: "PATIENT.LEFT_OPEN" }]);
    expect((await page(sent.fp)).can).toEqual({ move: false, undo: true, flag: false, release: false });
    expect((await command(sent.fp, "undo-move", {})).status).toBe(200);
    expect([await served(sent.fp), (await queue()).studies]).toEqual([dog.fp, []]);
  });

  test("moves although it was imported or entered by hand", async () => {
    const { server, key, staff, command, queue, served, change } = await startClinic();
    const { revision: _r, dedupe_key: _d, source: _s, patient_hint: _h, ...imported } = study({ patient_fp: dog.fp });
    const line = { type: "study", ...imported };
    await change(line);
    const entered = await staff.call<{ fp: string }>("POST", "/manual-study", {
      ...{ entry_id: "0123456789abcdef0123456789abcdef", patient_fp: dog.fp, modality: "BIOCHEMISTRY" },
      ...{ acquired_at: "2026-11-21T09:00:00.000Z", results: [{ analyte: "ALT", value: "52", unit: "U/L" }] },
    });
    for (const fp of [imported.fp, entered.body.fp]) {
      expect((await command(fp, "move", { patient_fp: cat.fp, ...why })).status).toBe(200);
      expect(await served(fp)).toBe(cat.fp);
      expect((await command(fp, "move", { patient_fp: null, ...why })).status).toBe(200);
      expect([await served(fp), (await queue()).studies.map((each) => each.fp)]).toEqual([null, [fp]]);
      expect((await command(fp, "undo-move", {})).status).toBe(200);
      expect(await served(fp)).toBe(cat.fp);
    }
    // The file that it came from does not move it back.
    await change(line);
    expect(await served(imported.fp)).toBe(cat.fp);
    const corrected = imported.results.map((row) => ({ ...row, value: 7.5, flag: row.flag && "high" }));
    await change({ ...line, results: corrected });
    const { body } = await server.get(key, `/api/v1/lab/diagnostics/${imported.fp}`);
    expect(body.data).toMatchObject({ patient_fp: cat.fp, results: [{ analyte: "GLU", value: 7.5 }, {}] });
    expect(body.data.results[0]?.reference_range).not.toBe(imported.results[0]?.reference_range);
    expect(await server.push(key, study())).toMatchObject([{ outcome: "unmatched" }]);
  });

  test("is refused without a reason, for another clinic's animal, and in a revision that the user did not see", async () => {
    const { server, key, staff, command, served } = await startClinic();
    const sent = chemistry(dog);
    await server.push(key, sent);
    for (const [body, status] of [
      [{ patient_fp: cat.fp, reason: "" }, 400],
      [{ patient_fp: cat.fp, reason: "  " }, 400],
      [{ patient_fp: foreign.fp, ...why }, 404],
      [{ patient_fp: dog.fp, ...why }, 409],
    ] as const) {
      expect([body, (await command(sent.fp, "move", body)).status]).toEqual([body, status]);
    }
    const stale = { revision: 7, patient_fp: cat.fp, ...why };
    expect((await staff.call("POST", `/results/${sent.fp}/move`, stale)).status).toBe(409);
    for (const role of ["reader"] as const) {
      const user = await makeUser(server, role, ours);
      expect((await user.call("POST", `/results/${sent.fp}/move`, { ...stale, revision: 1 })).status).toBe(403);
    }
    const stranger = await makeUser(server, "admin", theirs);
    for (const [name, body] of [
      ["move", { ...stale, revision: 1 }],
      ["undo-move", { revision: 1 }],
      ["flag-again", { revision: 1 }],
    ] as const) {
      expect([name, (await stranger.call("POST", `/results/${sent.fp}/${name}`, body)).status]).toEqual([name, 404]);
    }
    expect(await served(sent.fp)).toBe(dog.fp);
  });

  test("needs the typed species of an animal that the device contradicts", async () => {
    const { server, key, command, served } = await startClinic();
    const sent = { ...chemistry(dog), patient_hint: { ...study().patient_hint, identifier: null, species: "DOG" } };
    await server.push(key, sent);
    const refused = await command(sent.fp, "move", { patient_fp: cat.fp, ...why });
    expect([refused.status, refused.body.error?.message]).toEqual([
      409,
      "The device says dog, but the patient is a cat: type the patient's species, cat, to file it all the same.",
    ]);
    expect((await command(sent.fp, "move", { patient_fp: cat.fp, ...why, typed_species: "Cat" })).status).toBe(200);
    expect(await served(sent.fp)).toBe(cat.fp);
  });
});

describe("a corrected animal", () => {
  test("has its earlier studies offered for new flags, which meanwhile name their species", async () => {
    const { server, key, staff, command, page, queue } = await startClinic();
    const [sent, image] = [chemistry(dog), study({ patient_fp: dog.fp, results: [] })];
    await server.push(key, sent, image);
    const polled = (await server.get(key, "/api/v1/lab/diagnostics")).headers["sync-cursor"];
    server.clock.now += 60_000;
    await importText(server.store, JSON.stringify({ ...dog, species: "cat" }), server.clock.now);
    const since = await server.get(key, `/api/v1/lab/diagnostics?updated_since=${String(polled)}`);
    expect(since.body.data.items).toMatchObject([{ fp: sent.fp, flagged_species: "dog" }]);
    const read = async () => (await server.get(key, `/api/v1/lab/diagnostics/${sent.fp}`)).body.data;
    const list = async () => (await server.get(key, "/api/v1/lab/diagnostics")).body.data.items as unknown[];
    expect(await read()).toMatchObject({ flagged_species: "dog" });
    expect(await list()).toContainEqual(expect.objectContaining({ fp: sent.fp, flagged_species: "dog" }));
    const outdated = await page(sent.fp);
    expect([outdated.flagged_for?.species, outdated.patient?.species, outdated.can.flag]).toEqual(["dog", "cat", true]);
    expect((await queue()).outdated).toMatchObject([
      { fp: sent.fp, patient_name: "Karabaş", patient_species: "cat", flagged_species: "dog" },
    ]);
    expect(await read()).toMatchObject({ results: sent.results });
    const csv = (await staff.call("GET", `/results/${sent.fp}/results.csv`)).text.split("\r\n");
    const place = csv[0]?.split(",").indexOf("flagged_species") ?? -1;
    expect(csv[1]?.split(",")[place]).toBe("dog");

    expect((await command(sent.fp, "flag-again", {})).status).toBe(200);
    const flagged = await page(sent.fp);
    expect([flagged.flagged_for, flagged.cause, flagged.can]).toEqual([
      null,
      "flagged again",
      { move: true, undo: false, flag: false, release: false },
    ]);
    expect(await read()).not.toHaveProperty("flagged_species");
    expect((await read()).results).not.toEqual(sent.results);
    expect((await queue()).outdated).toEqual([]);
    expect((await command(sent.fp, "flag-again", {})).status).toBe(409);
    // The agent that filed it still may correct it.
    expect(await server.push(key, { ...sent, revision: 2, results: [] })).toMatchObject([{ outcome: "filed" }]);
  });

  test("keeps the mark of a study that the practice's file names again, unchanged", async () => {
    const { server, key, page, queue, change } = await startClinic();
    const sent = chemistry(dog);
    await server.push(key, sent);
    const { revision: _r, dedupe_key: _d, source: _s, patient_hint: _h, snapshot: _n, ...shown } = sent;
    const line = { type: "study", ...shown };
    await change({ ...dog, species: "cat" });
    await change(line);
    expect([(await page(sent.fp)).revision, (await queue()).outdated.length]).toEqual([1, 1]);
  });

  test("that is corrected back, or whose flags would stay the same, has nothing to renew", async () => {
    const { server, key, queue, change } = await startClinic();
    await server.push(key, chemistry(dog));
    for (const [changes, count] of [
      [{ species: "cat" }, 1],
      [{}, 0],
      [{ date_of_birth: "2019-04-11" }, 0],
      [{ name: "Sirius" }, 0],
    ] as const) {
      await change({ ...dog, ...changes });
      expect([changes, (await queue()).outdated.length]).toEqual([changes, count]);
    }
  });
});

test("a study keeps its results without a value when it is placed", async () => {
  const { server, key, staff, page } = await startClinic();
  const not_reported = [{ analyte: "TBIL", code: "no_value" as const, text: "HEM" }];
  const plain = waiting();
  const sent = { ...plain, snapshot: { ...chemistry(dog).snapshot!, ...plain.snapshot, not_reported } };
  await server.push(key, sent);
  await staff.call("POST", `/unmatched/${sent.fp}/assign`, { revision: 1, patient_fp: dog.fp });
  const placed = await page(sent.fp);
  expect([placed.place.kind, placed.not_reported]).toEqual(["patient", not_reported]);
});

describe("a deleted animal", () => {
  test("leaves its studies unmatched, and gets back what still waits", async () => {
    const { server, key, staff, page, queue, served, change } = await startClinic();
    const [sent, placed, moved] = [chemistry(dog), waiting(), waiting()];
    await server.push(key, sent, placed, moved);
    for (const { fp } of [placed, moved]) {
      expect((await staff.call("POST", `/unmatched/${fp}/assign`, { revision: 1, patient_fp: dog.fp })).status).toBe(
        200,
      );
    }
    const before = await page(sent.fp);
    const deleted_at = "2026-11-21T11:00:00.000Z";
    await change({ ...dog, deleted_at });
    expect((await queue()).studies.map(({ fp }) => fp)).toEqual([sent.fp, placed.fp, moved.fp]);
    const reason = { code: "PATIENT.DELETED", values: [dog.fp] };
    expect((await page(placed.fp)).place).toEqual({ kind: "unmatched", reason });
    await staff.call("POST", `/unmatched/${moved.fp}/assign`, { revision: 3, patient_fp: cat.fp });

    // A line that does not mention the deletion does not undo it.
    await change({ ...dog, name: "Karabaş II" });
    expect(await served(sent.fp)).toBe(null);
    await change({ ...dog, deleted_at: null });
    expect([await served(sent.fp), await served(placed.fp), await served(moved.fp)]).toEqual([dog.fp, dog.fp, cat.fp]);
    expect((await page(sent.fp)).rows).toEqual(before.rows);
    expect((await queue()).studies).toEqual([]);
  });
});

test("a study line of a deleted animal leaves the study unmatched", async () => {
  const { server, key, queue, change, served } = await startClinic();
  const sent = chemistry(dog);
  await server.push(key, sent);
  const { revision: _r, dedupe_key: _d, source: _s, patient_hint: _h, snapshot: _n, ...shown } = sent;
  await change({ ...dog, deleted_at: "2026-11-21T11:00:00.000Z" }, { type: "study", ...shown });
  expect((await queue()).studies.map(({ fp }) => fp)).toEqual([sent.fp]);
  await change({ ...dog, deleted_at: null });
  expect(await served(sent.fp)).toBe(dog.fp);
});

test("a damaged study of an animal stops neither its correction nor its deletion", async () => {
  const { server, key, queue, change } = await startClinic();
  const [sent, damaged] = [chemistry(dog), chemistry(dog)];
  await server.push(key, sent, damaged);
  const beside = await connectTo(server.database);
  await beside.run(`update study set results = '[{' where fp = '${damaged.fp}'`);
  await beside.close();
  await change({ ...dog, species: "cat" });
  expect((await queue()).outdated.map(({ fp }) => fp)).toEqual([sent.fp]);
  await change({ ...dog, species: "cat", deleted_at: "2026-11-21T11:00:00.000Z" });
  expect((await queue()).studies.map(({ fp }) => fp)).toEqual([sent.fp]);
});

test("an import refuses blank names, and keeps items and events in their clinic", async () => {
  const { server, change } = await startClinic();
  const item = {
    ...{ type: "inventory_item", fp: newFp("invitem"), name: "Syringe", category: "SUPPLY", sku: null, unit: "box" },
    ...{ quantity_on_hand: 1, low_stock_threshold: 0, unit_price_cents: 100, currency: "EUR", is_virtual: false },
    clinic_fp: ours,
  };
  const event = {
    ...{ type: "calendar_event", fp: newFp("calevt"), title: "Visit", event_type: "APPOINTMENT", status: "SCHEDULED" },
    ...{ start_at: "2026-11-20T09:00:00.000Z", end_at: "2026-11-20T09:30:00.000Z" },
    ...{ patient_fp: dog.fp, assigned_user_fp: null, clinic_fp: ours },
  };
  await change(item, event);
  const refused = async (...lines: unknown[]) => {
    const error: unknown = await importEntities(server.store, ...lines).catch((thrown: unknown) => thrown);
    return (error as { problems?: { problem: string }[] }).problems?.map(({ problem }) => problem);
  };
  expect(await refused({ ...item, clinic_fp: theirs })).toEqual([
    `${item.fp} is an item of another clinic, expected its own clinic_fp`,
  ]);
  expect(await refused({ ...event, clinic_fp: theirs })).toEqual([
    `${event.fp} is an event of another clinic, expected its own clinic_fp`,
  ]);
  for (const name of ["", " ", "\t\u00a0\u3000"]) {
    const lines = [patient({ name }), { ...item, name }, { ...event, title: name }, { type: "clinic", fp: ours, name }];
    for (const line of lines) expect([name, line, await refused(line)]).toEqual([name, line, [expect.any(String)]]);
  }
});
