import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type {
  EditedAnimal,
  LikelyDoubles,
  MergeComparison,
  OwnerFacts,
  RemovedAnimals,
  SavedAnimal,
  TypedAnimal,
  Written,
} from "../../../../server/dashboard/types/animals.ts";
import type { OrdersBody } from "../../../../server/dashboard/types/orders.ts";
import type { PatientOverview } from "../../../../server/dashboard/types/patients.ts";
import type { StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import { query } from "../../../../server/database/query.ts";
import { exportEntities } from "../../../../server/import/export.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { clinic, connection, importEntities, keyPermissions, patient, startServer, study } from "../../harness.ts";
import { timeless } from "../../practice-software.ts";
import { event, soap } from "../../records.ts";

// What a user writes of animals and owners, merges included, is undone for 24 hours. Method: requests of a page, and the export
// before and after. Runs on both engines.

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
const nobody: OwnerFacts = { name: null, phone: null, email: null, language: null, time_zone: null };
const none = { breed: null, sex: null, date_of_birth: null, weight_kg: null };

const owners = query((db) => db.selectFrom("customer").select("fp"));

const typed = (changes: Partial<TypedAnimal> = {}): TypedAnimal => {
  const identifiers = [{ type: "card" as const, value: "4711" }];
  return { name: "Boncuk", species: "cat", ...none, identifiers, owner: { ...nobody, name: "Elif Örnek" }, ...changes };
};

async function started(...entities: Parameters<typeof startServer>) {
  const server = await startServer(clinic(ours), clinic(theirs), ...entities);
  const staff = await makeUser(server, "staff", ours);
  const key = await server.makeKey(ours, [...keyPermissions, "clinic.calendar.view"]);
  const exported = async () => {
    const lines: string[] = [];
    for await (const entity of exportEntities(server.store)) lines.push(JSON.stringify(entity));
    return timeless(lines.join("\n"));
  };
  const undo = async (batch: string | null) => {
    const { status, body } = await staff.call<{ error?: { details?: { code: string } } }>(
      "POST",
      `/changes/${batch}/undo`,
      {},
    );
    return status === 200 ? "done" : (body.error?.details?.code ?? status);
  };
  const add = async (animal = typed(), seen: string[] = []) =>
    (await staff.call<SavedAnimal>("POST", "/patients", { animal, seen })).body;
  const form = async (fp: string) => (await staff.call<EditedAnimal>("GET", `/patients/${fp}/edit`)).body;
  const edit = async (fp: string, changes: Partial<TypedAnimal>) => {
    const { animal, version } = await form(fp);
    const body = { animal: { ...animal, ...changes }, seen: [], version };
    return (await staff.call<SavedAnimal>("PUT", `/patients/${fp}`, body)).body.batch;
  };
  const page = async (fp: string) => (await staff.call<PatientOverview>("GET", `/patients/${fp}`)).body;
  const editOwner = async (fp: string, facts: Partial<OwnerFacts>) => {
    const { owner } = (await page(fp)) as Partial<PatientOverview>;
    if (owner === undefined) return null;
    const { fp: ownerFp, version, ...known } = owner;
    return (await staff.call<Written>("PUT", `/owners/${ownerFp}`, { ...known, ...facts, version })).body.batch;
  };
  const act = async (fp: string, what: "remove" | "restore") =>
    (await staff.call<Written>("POST", `/patients/${fp}/${what}`, {})).body.batch;
  const die = async (fp: string, died_on: string | null) =>
    (await staff.call<Written>("PUT", `/patients/${fp}/deceased`, { died_on })).body.batch;
  const compare = async (one: string, other: string) =>
    staff.call<MergeComparison>("GET", `/patients/${one}/merge/${other}`);
  const merge = async (survivor: string, merged: string, version?: string) => {
    const seen = version ?? (await compare(survivor, merged)).body.version;
    const { status, body } = await staff.call<Written & { error?: { details?: { code: string } } }>(
      "POST",
      `/patients/${survivor}/merge`,
      { merged, version: seen },
    );
    return { status, batch: body.batch, code: body.error?.details?.code };
  };
  const changes = async (fp: string) => {
    const { recent_changes = [] } = (await page(fp)) as Partial<PatientOverview>;
    return recent_changes.map(({ what }) => what);
  };
  return {
    ...{ server, staff, key, exported, undo, add, form, edit, page, editOwner, act, die, compare, merge, changes },
  };
}

/** Two entries of one animal. The second one has a study, a signed record, an appointment and an order. */
async function twins() {
  const [kept, gone] = [
    patient({ name: "Pamuk", species: "cat", external_ids: ["1"] }),
    patient({ name: "Pamuk", species: "cat", external_ids: ["2"] }),
  ];
  const signed = soap(gone.fp, ours, { status: "SIGNED", signed_at: "2026-11-01T10:00:00.000Z" });
  const visit = event(ours, { patient_fp: gone.fp });
  const clinicOf = [connection(kept.fp, ours), connection(gone.fp, ours)];
  const world = await started(kept, gone, clinicOf, signed, visit);
  const filed = study({ patient_fp: gone.fp });
  await world.server.push(world.key, filed);
  const wanted = { patient_fp: gone.fp, device: null, panel: null, tests: ["ALT"] };
  const order = (await world.staff.call<{ fp: string }>("POST", "/orders", wanted)).body.fp;
  return { ...world, kept: kept.fp, gone: gone.fp, filed: filed.fp, order };
}

test("the facts of an owner go with the last animal that gets another one, and the undo brings them back", async () => {
  const world = await started();
  const { server, add, edit, undo, form } = world;
  const facts = { ...nobody, name: "Elif Örnek", phone: "+90 555 000 11 22", email: "elif@example.org" };
  const { fp } = await add(typed({ owner: facts }));
  const former = (await form(fp)).owner.fp;
  const second = await add(typed({ name: "Zeytin", identifiers: [], owner: { fp: former } }));
  const ownerRow = query((db) => db.selectFrom("customer").select(["name", "phone", "email"]).where("fp", "=", former));
  const known = async () => server.store.first(ownerRow, {});
  await edit(fp, { owner: { ...nobody, name: "Can" } });
  const { name, phone, email } = facts;
  expect(await known()).toEqual({ name, phone, email });
  const batch = await edit(second.fp, { owner: { fp: (await form(fp)).owner.fp } });
  expect(await known()).toEqual({ name: null, phone: null, email: null });
  expect(await undo(batch)).toBe("done");
  expect(await known()).toEqual({ name, phone, email });
  expect((await form(second.fp)).owner.fp).toBe(former);
});

describe("a merge by hand", () => {
  test("shows both animals, moves all records, ends the old fp with its successor named, and is undone as it was", async () => {
    const { server, staff, key, kept, gone, filed, order, compare, merge, undo, exported, page } = await twins();
    const before = await exported();
    const { animals, is_other_species } = (await compare(kept, gone)).body;
    expect(is_other_species).toBe(false);
    expect(animals.map(({ fp, counts, is_shared }) => ({ fp, counts, is_shared }))).toEqual([
      { fp: kept, counts: { studies: 0, soap_records: 0, events: 0, orders: 0 }, is_shared: false },
      { fp: gone, counts: { studies: 1, soap_records: 1, events: 1, orders: 1 }, is_shared: false },
    ]);
    const remarkOf = async (fp: string) => (await staff.call<StudyPage>("GET", `/results/${fp}`)).body.remark?.text;
    await staff.call("PUT", `/results/${filed}/remark`, { text: "Give water.", seen: null });
    const { status, batch } = await merge(kept, gone);
    expect(status).toBe(200);
    const orders = async () => (await staff.call<OrdersBody>("GET", "/orders")).body.orders;
    expect(await orders()).toMatchObject([{ fp: order, patient: { fp: kept } }]);
    const studied = await server.get(key, `/api/v1/lab/diagnostics/${filed}`);
    expect(studied.body.data.patient_fp).toBe(kept);
    expect(await remarkOf(filed)).toBe("Give water.");
    const shown = await page(kept);
    expect([shown.records.length, shown.appointments.length, shown.identifiers]).toEqual([1, 1, ["1", "2"]]);
    expect(shown.recent_changes).toEqual([
      { batch, what: "merged", merged: "Pamuk", at: new Date(server.clock.now).toISOString(), by: staff.name },
    ]);
    expect((await server.get(key, `/api/v1/patients/${gone}`)).body.error.code).toBe("PATIENT.NOT_FOUND");
    expect((await server.get(key, "/api/v1/changes")).body.data.items).toEqual([
      { fp: gone, removed_at: expect.any(String), merged_into: kept },
    ]);
    expect((await staff.call("GET", `/patients/${gone}`)).status).toBe(404);
    // It comes back with its results by the undo alone.
    expect((await staff.call<RemovedAnimals>("GET", "/patients/removed")).body.animals).toEqual([]);
    expect((await staff.call("POST", `/patients/${gone}/restore`, {})).status).toBe(404);
    const commands = (await listRowsOf(server.store, gone)).filter(({ method }) => method === "COMMAND");
    expect(commands.map(({ route, user }) => [route, user])).toContainEqual(["patient merge", staff.name]);

    expect(await undo(batch)).toBe("done");
    expect(await exported()).toEqual(before);
    expect(await orders()).toMatchObject([{ fp: order, patient: { fp: gone } }]);
    expect((await page(kept)).recent_changes).toEqual([]);
    expect((await page(gone)).records).toHaveLength(1);
    expect(await remarkOf(filed)).toBe("Give water.");
    expect(await undo(batch)).toBe("UNDO.DONE");
    const undone = (await listRowsOf(server.store, gone)).filter(({ method }) => method === "COMMAND").at(-1);
    expect([undone?.route, undone?.user]).toEqual(["undo", staff.name]);
  });

  test("is refused with a code for what cannot be one animal, and for facts that the user has not seen", async () => {
    const [dog, cat, shared, foreign] = [patient(), patient({ species: "cat" }), patient({ name: "Rex" }), patient()];
    const own = [dog, cat, shared].map(({ fp }) => connection(fp, ours));
    const others = [connection(shared.fp, theirs), connection(foreign.fp, theirs)];
    const world = await started(dog, cat, shared, foreign, own, others);
    const { server, merge, compare, edit, exported } = world;
    const before = await exported();
    expect((await merge(dog.fp, dog.fp)).code).toBe("MERGE.SAME");
    expect((await compare(dog.fp, cat.fp)).body.is_other_species).toBe(true);
    expect((await merge(dog.fp, cat.fp)).code).toBe("MERGE.OTHER_SPECIES");
    expect((await merge(dog.fp, shared.fp)).code).toBe("MERGE.OTHER_CLINICS");
    expect((await compare(dog.fp, foreign.fp)).status).toBe(404);
    expect((await merge(dog.fp, foreign.fp, "any")).status).toBe(404);
    expect((await merge(foreign.fp, dog.fp, "any")).status).toBe(404);
    const reader = await makeUser(server, "reader", ours);
    const body = { merged: dog.fp, version: "any" };
    expect((await reader.call("POST", `/patients/${shared.fp}/merge`, body)).status).toBe(403);
    expect(await exported()).toEqual(before);
    const { version } = (await compare(dog.fp, shared.fp)).body;
    await edit(dog.fp, { weight_kg: 30 });
    expect((await merge(shared.fp, dog.fp, version)).code).toBe("PATIENT.CHANGED");
    const now = (await compare(dog.fp, shared.fp)).body.version;
    // The same for both choices of the animal that stays.
    expect((await compare(shared.fp, dog.fp)).body.version).toBe(now);
    expect((await merge(shared.fp, dog.fp, now)).status).toBe(200);
  });

  test("is offered with the animals of the clinic that are alike", async () => {
    const { staff, add } = await started();
    const one = await add(typed({ identifiers: [] }));
    const two = await add(typed({ identifiers: [] }), [one.fp]);
    const { body } = await staff.call<LikelyDoubles>("GET", `/patients/${two.fp}/doubles`);
    expect(body).toMatchObject({ name: "Boncuk", doubles: [{ fp: one.fp, signs: ["nameAndOwner"] }] });
  });
});

describe("the undo of what a user wrote", () => {
  test("restores the export after each kind of write, and the page lists what can be undone", async () => {
    const world = await started();
    const { server, key, add, edit, editOwner, die, act, undo, exported, changes, page } = world;
    const empty = await exported();
    const { fp, batch } = await add();
    expect(await changes(fp)).toEqual(["added"]);
    expect(await undo(batch)).toBe("done");
    expect(await exported()).toEqual(empty);
    expect(await server.store.all(owners, {})).toEqual([]);
    expect((await server.get(key, `/api/v1/patients/${fp}`)).status).toBe(404);

    const cat = (await add()).fp;
    await server.push(key, study({ patient_fp: cat }));
    // A removed animal has no page.
    const writes: [() => Promise<string | null>, ...string[]][] = [
      [async () => edit(cat, { name: "Duman", identifiers: [], weight_kg: 4 }), "changed", "added"],
      [async () => edit(cat, { owner: { ...nobody, name: "Another", phone: "0555 000 11 22" } }), "changed", "added"],
      [async () => editOwner(cat, { phone: "0533 000 11 22", language: "tr" }), "owner", "added"],
      [async () => die(cat, "2026-11-20"), "deceased", "added"],
      [async () => act(cat, "remove")],
    ];
    for (const [write, ...listed] of writes) {
      const before = await exported();
      const written = await write();
      expect(await exported()).not.toEqual(before);
      expect(await changes(cat)).toEqual(listed);
      expect(await undo(written)).toBe("done");
      expect(await exported()).toEqual(before);
    }
    await die(cat, "2026-11-20");
    await act(cat, "remove");
    const [removed, back] = [await exported(), await act(cat, "restore")];
    expect((await page(cat)).recent_changes.map(({ what }) => what)).toEqual([
      "restored",
      "removed",
      "deceased",
      "added",
    ]);
    expect(await undo(back)).toBe("done");
    expect(await exported()).toEqual(removed);
    // What changes nothing cannot be undone.
    await act(cat, "restore");
    expect(await edit(cat, {})).toBeNull();
  });

  test("is refused with a code after a later change, with records of others, after a day, and for other clinics", async () => {
    const { server, key, add, edit, undo, exported } = await started();
    const { fp, batch } = await add();
    const first = await edit(fp, { weight_kg: 4 });
    const second = await edit(fp, { weight_kg: 5 });
    const before = await exported();
    expect([await undo(first), await undo(newFp("batch"))]).toEqual(["UNDO.CHANGED", "UNDO.OVER"]);
    const stranger = await makeUser(server, "staff", theirs);
    expect((await stranger.call("POST", `/changes/${second}/undo`, {})).status).toBe(409);
    const reader = await makeUser(server, "reader", ours);
    expect((await reader.call("POST", `/changes/${second}/undo`, {})).status).toBe(403);
    expect(await exported()).toEqual(before);
    expect([await undo(second), await undo(first)]).toEqual(["done", "done"]);
    await server.push(key, study({ patient_fp: fp }));
    expect(await undo(batch)).toBe("UNDO.IN_USE");
    const late = await edit(fp, { weight_kg: 6 });
    server.clock.now += 24 * 3_600_000;
    expect(await undo(late)).toBe("UNDO.OVER");
  });

  test("of a restore is refused while another clinic sees the animal", async () => {
    const known = patient({ name: "Pamuk", species: "cat" });
    const { server, key, act, undo, exported } = await started(known, connection(known.fp, ours));
    await act(known.fp, "remove");
    const batch = await act(known.fp, "restore");
    const connect = (active: boolean) => importEntities(server.store, connection(known.fp, theirs, active));
    await connect(true);
    const before = await exported();
    expect(await undo(batch)).toBe("UNDO.IN_USE");
    expect(await exported()).toEqual(before);
    const other = await server.makeKey(theirs, keyPermissions);
    expect((await server.get(other, `/api/v1/patients/${known.fp}`)).status).toBe(200);
    await connect(false);
    expect(await undo(batch)).toBe("done");
    expect((await server.get(key, `/api/v1/patients/${known.fp}`)).status).toBe(404);
  });

  test("in the reverse order restores the export after each of any writes", async () => {
    const weight = fc.constantFrom(3, 4, 5);
    const write = fc.oneof(
      fc.record({ what: fc.constant("add" as const) }),
      fc.record({ what: fc.constantFrom("edit" as const, "owner" as const, "die" as const), of: fc.nat(3), weight }),
      fc.record({ what: fc.constantFrom("remove" as const, "restore" as const), of: fc.nat(3) }),
      fc.record({ what: fc.constant("merge" as const), of: fc.nat(3), into: fc.nat(3) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 2, maxLength: 6 }), async (writes) => {
        const { add, edit, editOwner, die, act, merge, undo, exported } = await started();
        const fps: string[] = [];
        const done: { batch: string; before: string[] }[] = [];
        const run = async (one: (typeof writes)[number]): Promise<string | null | undefined> => {
          if (one.what === "add" || fps.length === 0) {
            const [name, value] = [`cat ${fps.length}`, `${fps.length}`];
            const added = await add(typed({ name, identifiers: [{ type: "card", value }] }));
            fps.push(added.fp);
            return added.batch;
          }
          const fp = fps[one.of % fps.length] ?? "";
          switch (one.what) {
            case "merge":
              return (await merge(fps[one.into % fps.length] ?? "", fp)).batch;
            case "edit":
              return edit(fp, { weight_kg: one.weight });
            case "owner":
              return editOwner(fp, { phone: `0555 000 11 2${one.weight}` });
            case "die":
              return die(fp, `2026-11-0${one.weight}`);
            case "remove":
            case "restore":
              return act(fp, one.what);
          }
        };
        for (const one of writes) {
          const before = await exported();
          const batch = await run(one);
          const hasChanged = !isDeepStrictEqual(await exported(), before);
          expect(hasChanged).toBe(typeof batch === "string");
          if (typeof batch === "string") done.push({ batch, before });
        }
        for (const { batch, before } of done.toReversed()) {
          expect(await undo(batch)).toBe("done");
          expect(await exported()).toEqual(before);
        }
      }),
      { numRuns: 4 },
    );
  });
});
