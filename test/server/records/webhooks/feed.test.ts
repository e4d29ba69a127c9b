import { expect, test } from "vitest";
import type { ClinicEvent } from "../../../../shared/api/clinic-event.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, keyPermissions, noon, patient, startServer, study } from "../../harness.ts";

const own = newFp("clinic");
const other = newFp("clinic");
const shared = patient({ name: "Shared" });
const single = patient({ name: "Single" });

async function world() {
  const server = await startServer(
    [clinic(own), clinic(other), shared, single],
    [connection(shared.fp, own), connection(shared.fp, other), connection(single.fp, own)],
  );
  const ownKey = await server.makeKey(own, [...keyPermissions, "clinic.calendar.view", "clinic.inventory.view"]);
  const otherKey = await server.makeKey(other, [
    "clinic.patient.view",
    "clinic.calendar.view",
    "clinic.inventory.view",
  ]);
  async function read(key: string, query = "") {
    const response = await server.app.inject({ url: `/api/v1/events${query}`, headers: { "x-api-key": key } });
    const cursor = String(response.headers["sync-cursor"]);
    const { data } = response.json<{ data: { items: ClinicEvent[]; has_more: boolean } }>();
    return { status: response.statusCode, cursor, body: response.json<object>(), ...data };
  }
  /** What a clinic got since a cursor, as short texts. */
  const news = async (key: string, cursor: string) =>
    (await read(key, `?after=${cursor}`)).items.map(({ kind, change, fp }) => `${kind} ${change} ${fp}`);
  return { ...server, ownKey, otherKey, read, news };
}

test("a filed study and its revision are events of every clinic that lists the patient", async () => {
  const { push, ownKey, otherKey, read, news } = await world();
  const start = {
    own: (await read(ownKey, "?after=latest")).cursor,
    other: (await read(otherKey, "?after=latest")).cursor,
  };
  const first = study({ patient_fp: shared.fp });
  await push(ownKey, first);
  expect(await news(ownKey, start.own)).toEqual([`study created ${first.fp}`]);
  await push(ownKey, { ...first, revision: 2, results: [] });
  const both = [`study created ${first.fp}`, `study changed ${first.fp}`];
  expect(await news(ownKey, start.own)).toEqual(both);
  expect(await news(otherKey, start.other)).toEqual(both);
  const { items } = await read(otherKey, `?after=${start.other}`);
  expect(items.map(({ at, revision }) => [at, revision])).toEqual([
    [new Date(noon).toISOString(), 1],
    [new Date(noon).toISOString(), 2],
  ]);
});
