import { expect, test } from "vitest";
import type { LimitsInUse } from "../../../../server/dashboard/types/settings/limits.ts";
import type { RangePreview, RangesInUse } from "../../../../server/dashboard/types/settings/ranges.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, startServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

const alt = {
  id: "alt-dog",
  species: "dog",
  analyte: "ALT",
  unit: "U/L",
  low: "12",
  high: "105",
  effective_from: "2026-01-01",
};
const crea = { ...alt, id: "crea-cat", species: "cat", analyte: "CREA", unit: "mg/dL", low: "0.8", high: "2.3" };
const fileOf = (...rows: object[]) => rows.map((row) => JSON.stringify(row)).join("\n");

test("an import shows what changes first, and takes effect as the command line's does", async () => {
  const server = await startServer(clinic(ours), clinic(theirs));
  const admin = await makeUser(server, "admin", ours);
  const empty = await admin.call<RangesInUse>("GET", "/ranges");
  expect(empty.body).toEqual({ version: null, low_quality: false, rows: [], shown: {}, animals: expect.any(Array) });
  const first = { text: fileOf(alt, crea), low_quality: false, replaces: null };
  const imported = await admin.call<RangesInUse>("PUT", "/ranges", first);
  expect(imported.body.rows).toEqual([alt, crea]);

  const next = { ...alt, low: "15", critical_high: "500" };
  const bun = { ...crea, id: "bun-cat", analyte: "BUN", low: "10", high: "30" };
  const preview = await admin.call<RangePreview>("POST", "/ranges/preview", { text: fileOf(next, bun) });
  expect(preview.body).toEqual({
    state: "valid",
    changes: {
      added: [bun],
      removed: [crea],
      changed: [
        {
          row: next,
          fields: [
            { field: "low", from: "12", to: "15" },
            { field: "critical_high", from: null, to: "500" },
          ],
        },
      ],
      unchanged: 0,
      shown: {},
    },
  });
  // The preview changes nothing.
  expect((await admin.call<RangesInUse>("GET", "/ranges")).body).toEqual(imported.body);
  const replaces = imported.body.version;
  const replaced = await admin.call<RangesInUse>("PUT", "/ranges", {
    text: fileOf(next, bun),
    low_quality: true,
    replaces,
  });
  expect(replaced.body).toMatchObject({ low_quality: true, rows: [next, bun] });
  expect((await admin.call("GET", "/ranges/file")).text).toBe(`${fileOf(next, bun)}\n`);
  const late = await admin.call("PUT", "/ranges", { text: fileOf(alt), low_quality: false, replaces });
  expect(late).toMatchObject({ status: 409, body: { error: { code: "RECORD.REFUSED" } } });

  const other = await makeUser(server, "admin", theirs);
  expect((await other.call<RangesInUse>("GET", "/ranges")).body.rows).toEqual([]);
});

test("the faults of a file are listed with their lines, and such a file is not imported", async () => {
  const server = await startServer(clinic(ours));
  const admin = await makeUser(server, "admin", ours);
  const text = fileOf(alt, { ...crea, low: "9", high: "2" }, alt, { ...crea, analyte: "<b>" });
  const { body } = await admin.call<RangePreview>("POST", "/ranges/preview", { text });
  if (body.state !== "faulty") throw new Error("expected faults");
  expect(body.problems.map((problem) => problem.slice(0, "line 2".length))).toEqual(
    expect.arrayContaining(["line 2", "line 3", "line 4"]),
  );
  expect(body.total).toBe(body.problems.length);
  expect((await admin.call("PUT", "/ranges", { text, low_quality: false, replaces: null })).status).toBe(400);
  const broken = await admin.call<RangePreview>("POST", "/ranges/preview", { text: "x\n".repeat(150) });
  expect(broken.body).toMatchObject({ state: "faulty", total: 150, problems: { length: 100 } });
});

test.each([
  ["reader", [200, 200, 403, 403]],
  ["staff", [200, 200, 403, 403]],
  ["admin", [200, 200, 200, 200]],
] as const)("a %s gets %j", async (role, statuses) => {
  const server = await startServer(clinic(ours));
  const user = await makeUser(server, role, ours);
  const answers = [
    await user.call("GET", "/ranges"),
    await user.call("GET", "/ranges/file"),
    await user.call("POST", "/ranges/preview", { text: fileOf(alt) }),
    await user.call("PUT", "/ranges", { text: fileOf(alt), low_quality: false, replaces: null }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(statuses);
});

test("an admin accepts critical limits under the vet's name, keeps them through an import, and withdraws them", async () => {
  const server = await startServer(clinic(ours), clinic(theirs));
  const admin = await makeUser(server, "admin", ours);
  const staff = await makeUser(server, "staff", ours);
  const read = async () => (await admin.call<LimitsInUse>("GET", "/ranges/limits")).body;
  const accepted = async () =>
    (await read()).limits.flatMap(({ id, accepted: by }) => (by === null ? [] : [[id, by.by, by.at]]));
  const decide = (ids: string[], by: string, replaces: string | null) =>
    admin.call<LimitsInUse>("PUT", "/ranges/limits", { ids, by, replaces });
  const offered = await read();
  expect(offered).toMatchObject({ version: null, is_decided: false });
  expect(
    offered.limits.every(({ accepted: by, offer, source }) => by === null && offer !== null && source !== ""),
  ).toBe(true);
  const plt = offered.limits.find(({ id }) => id === "cat-plt-vcog");
  expect(plt).toMatchObject({ analyte: "PLT", low: "25", offer: { grade: "A" }, exceptions: ["clumped_platelets"] });

  expect((await staff.call("PUT", "/ranges/limits", { ids: [], by: "x", replaces: null })).status).toBe(403);
  expect((await decide(["cat-plt-vcog"], " ", null)).status).toBe(400);
  expect((await decide(["no-such"], "Dr. Ada", null)).status).toBe(400);
  const first = new Date(server.clock.now).toISOString();
  const one = await decide(["cat-plt-vcog"], " Dr. Ada ", null);
  expect(one.body).toMatchObject({ is_decided: true });
  expect(await accepted()).toEqual([["cat-plt-vcog", "Dr. Ada", first]]);
  expect((await decide([], "Dr. Deniz", null)).status).toBe(409);

  server.clock.now += 1000;
  const later = new Date(server.clock.now).toISOString();
  // An accepted limit keeps its vet and its day.
  await decide(["cat-plt-vcog", "dog-plt-vcog"], "Dr. Deniz", one.body.version);
  const both = [
    ["dog-plt-vcog", "Dr. Deniz", later],
    ["cat-plt-vcog", "Dr. Ada", first],
  ];
  expect(await accepted()).toEqual(both);
  const { version } = await read();
  await admin.call("PUT", "/ranges", { text: fileOf(alt), low_quality: false, replaces: version });
  expect(await accepted()).toEqual(both);
  expect((await admin.call<RangesInUse>("GET", "/ranges")).body.rows).toEqual([alt]);

  await decide([], "Dr. Ada", (await read()).version);
  expect(await read()).toMatchObject({ is_decided: true });
  expect(await accepted()).toEqual([]);
  expect((await admin.call<RangesInUse>("GET", "/ranges")).body.rows).toEqual([alt]);
  const other = await makeUser(server, "admin", theirs);
  expect((await other.call<LimitsInUse>("GET", "/ranges/limits")).body).toMatchObject({ is_decided: false });
});

test("the rows in use are in the clinic's units, beside those of the file", async () => {
  const server = await startServer(clinic(ours));
  const admin = await makeUser(server, "admin", ours);
  const units = { system: "si", exceptions: {} };
  await admin.call("PUT", "/settings/clinic", { language: null, time_zone: null, units });
  const strict = { ...crea, critical_high: "5.0" };
  const body = { text: fileOf(alt, strict), low_quality: false, replaces: null };
  const { shown, rows, animals } = (await admin.call<RangesInUse>("PUT", "/ranges", body)).body;
  expect(rows).toEqual([alt, strict]);
  expect(shown).toEqual({
    "crea-cat": { interval: "70.7-203", critical_low: "", critical_high: ">442", unit: "µmol/L" },
  });
  expect(animals.find(({ species }) => species === "horse")).toMatchObject({ needs_subgroup: false });
  expect(animals.find(({ species }) => species === "exotic")?.needs_subgroup).toBe(true);
});

test("an import's preview and the critical limits are in the clinic's units, beside those of the file and the source", async () => {
  const server = await startServer(clinic(ours));
  const admin = await makeUser(server, "admin", ours);
  const units = { system: "si", exceptions: {} };
  await admin.call("PUT", "/settings/clinic", { language: null, time_zone: null, units });
  const bun = { ...crea, id: "bun-cat", analyte: "BUN", low: "10", high: "30" };
  const body = { text: fileOf(alt, crea, bun), low_quality: false, replaces: null };
  const { version } = (await admin.call<RangesInUse>("PUT", "/ranges", body)).body;

  const next = { ...crea, low: "71", high: "221", unit: "umol/L", critical_high: "500" };
  const glu = { ...crea, id: "glu-cat", analyte: "GLU", low: "70", high: "150", critical_low: "40" };
  const text = fileOf({ ...alt, low: "15" }, next, glu);
  const preview = await admin.call<RangePreview>("POST", "/ranges/preview", { text });
  expect(preview.body).toMatchObject({
    changes: {
      added: [glu],
      removed: [bun],
      changed: [
        // Both systems have U/L.
        { fields: [{ field: "low", from: "12", to: "15" }] },
        {
          fields: [
            { field: "unit", from: "mg/dL", to: "umol/L" },
            { field: "low", from: "0.8", to: "71", shown: { from: "70.7 µmol/L", to: "71 µmol/L" } },
            { field: "high", from: "2.3", to: "221", shown: { from: "203 µmol/L", to: "221 µmol/L" } },
            { field: "critical_high", from: null, to: "500", shown: { from: null, to: "500 µmol/L" } },
          ],
        },
      ],
      shown: {
        "bun-cat": { interval: "3.57-10.7", critical_low: "", critical_high: "", unit: "mmol/L" },
        "glu-cat": { interval: "3.89-8.33", critical_low: "<2.22", critical_high: "", unit: "mmol/L" },
      },
    },
  });
  expect(preview.body).not.toHaveProperty("changes.changed[0].fields[0].shown");
  // What is stored is what was typed.
  await admin.call("PUT", "/ranges", { ...body, text, replaces: version });
  expect((await admin.call("GET", "/ranges/file")).text).toContain(JSON.stringify(glu));

  const limits = async () => (await admin.call<LimitsInUse>("GET", "/ranges/limits")).body;
  const shownOf = async (id: string) => (await limits()).limits.find((limit) => limit.id === id);
  const offered = { unit: "mg/dL", high: "10.0", shown: { high: "884", unit: "µmol/L" }, accepted: null };
  expect(await shownOf("dog-crea-iris")).toMatchObject(offered);
  expect(await shownOf("cat-k-obstruction")).toMatchObject({ high: "8.0", shown: null });
  await admin.call("PUT", "/ranges/limits", {
    ids: ["dog-crea-iris"],
    by: "Dr. Ada",
    replaces: (await limits()).version,
  });
  expect(await shownOf("dog-crea-iris")).toMatchObject({ ...offered, accepted: { by: "Dr. Ada" } });
});
