import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { onPostgres } from "../../../harness.ts";
import { pamuk, practiceServer } from "../../../practice-software.ts";

// A full list of practice software removes the patients that it lacks. Method: requests to /sync/v1/patients. Runs on both engines.

async function listServer(patients: number) {
  const practice = await practiceServer();
  const { post, server, reader } = practice;
  const item = (id: string | number) => ({ ...pamuk, external_id: String(id), name: `Animal ${id}`, identifiers: [] });
  const ids = Array.from({ length: patients }, (_, index) => String(index));
  await practice.send(...ids.map(item));
  const full = async (more: object, parameters = "") =>
    (await post(`patients${parameters}`, { source: "pims", mode: "full", items: [], ...more })).body;
  const listed = async () => {
    const { items } = (await server.get(reader, "/api/v1/patients?page_size=100")).body.data;
    return items.map(({ name }) => name.slice("Animal ".length)).toSorted((a, b) => Number(a) - Number(b));
  };
  return { ...practice, item, ids, full, listed };
}

describe("a full list", () => {
  test("the patients that it lacks are removed and named, and the others change as in a partial one", async () => {
    const { ids, item, full, listed, send } = await listServer(20);
    const items = [...ids.slice(2).map(item), item(20)];
    const answer = await full({ items });
    expect(answer.counts).toEqual({ created: 1, updated: 0, unchanged: 18, deleted: 2, rejected: 0 });
    expect(answer).toMatchObject({ absent: [{ external_id: "0" }, { external_id: "1" }] });
    expect(await listed()).toEqual([...ids.slice(2), "20"]);
    expect((await full({ items })).counts).toMatchObject({ unchanged: 19, deleted: 0 });
    expect((await send(item(0))).items).toMatchObject([{ outcome: "updated" }]);
    expect(await listed()).toHaveLength(20);
  });

  test("the ids of more patients than a request has items are enough", async () => {
    const { ids, full, listed } = await listServer(30);
    expect((await full({ all: ids.slice(3) })).counts).toMatchObject({ unchanged: 0, deleted: 3 });
    expect(await listed()).toEqual(ids.slice(3));
  });

  test("more than a tenth is refused, unless a dry run was confirmed", async () => {
    const { ids, full, listed } = await listServer(20);
    const all = ids.slice(3);
    const refused = await full({ all });
    expect(refused.error).toMatchObject({ code: "SYNC.TOO_MANY_REMOVALS", details: { removals: 3, patients: 20 } });
    expect((await full({ all }, "?confirm_removals=true")).error.code).toBe("REQUEST.INVALID_PARAMETER");
    const dry = await full({ all }, "?dry_run=true");
    expect([dry.counts.deleted, await listed()]).toEqual([3, ids]);
    const other = await full({ all: ids.slice(5) }, `?confirm_removals=true&commit_token=${dry.commit_token}`);
    expect(other.error.code).toBe("SYNC.STATE_MOVED");
    const done = await full({ all }, `?confirm_removals=true&commit_token=${dry.commit_token}`);
    expect([done.counts.deleted, await listed()]).toEqual([3, all]);
  });

  test("a rejected item keeps its patient, and so do other sources and merged ids", async () => {
    const { ids, item, full, listed, post, merge } = await listServer(20);
    await post("patients", { source: "other", mode: "partial", items: [item(99)] });
    await merge("5", "6");
    const items = ids
      .filter((id) => id !== "6")
      .map((id) => ({ ...item(id), ...(id === "7" && { species: "Zebra?" }) }));
    expect((await full({ items })).counts).toEqual({ created: 0, updated: 0, unchanged: 18, deleted: 0, rejected: 1 });
    expect(await listed()).toEqual([...ids.filter((id) => id !== "6"), "99"]);
  });

  test("the undo of a full list brings its patients back", async () => {
    const { ids, full, listed, undo, last } = await listServer(20);
    await full({ all: ids.slice(1) });
    expect(await undo(await last())).toMatchObject({ undone: true });
    expect(await listed()).toEqual(ids);
  });

  test("owners have no full list", async () => {
    const { post } = await listServer(0);
    const { status, body } = await post("owners", { source: "pims", mode: "full", items: [] });
    expect([status, body.error.code]).toEqual([400, "SYNC.INVALID_BODY"]);
  });

  test("whatever partial lists came before, a confirmed full list leaves exactly its patients", async () => {
    const some = fc.uniqueArray(fc.nat({ max: 5 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(some, { maxLength: 3 }), some, async (partial, wanted) => {
        const { item, full, listed, send } = await listServer(0);
        for (const ids of partial) await send(...ids.map(item));
        const body = { items: wanted.map(item) };
        const dry = await full(body, "?dry_run=true");
        await full(body, `?confirm_removals=true&commit_token=${dry.commit_token}`);
        expect(await listed()).toEqual(wanted.toSorted((a, b) => a - b).map(String));
      }),
      { numRuns: onPostgres() ? 3 : 8, endOnFailure: true },
    );
  });
});
