import { expect, test } from "vitest";
import { vetScanRecords } from "../../support/protocols/astm.ts";
import { dog, type TestFiling, useFiling } from "../../support/clinic/filing.ts";

// Method: a real spool and directory, and a server whose patients the test changes.

let clinic: TestFiling;
useFiling((created) => (clinic = created));

const resultsOf = (body: string) =>
  (JSON.parse(body) as { results: { analyte: string; value: number }[] }).results.map(({ analyte, value }) => [
    analyte,
    value,
  ]);

test.each([
  ["an unknown device", false],
  ["a device without cut messages", true],
])("a cut message of %s is quarantined until another completes it", async (_, started) => {
  if (started) await clinic.filing.acceptStored();
  await clinic.filing.idle();
  const cut = await clinic.store("chem-1", dog.fp, 5, "the connection closed before the L record");
  await clinic.filing.accept(cut);
  expect(clinic.listed()).toEqual([["quarantined", "incomplete: the connection closed before the L record"]]);
  clinic.ordinal -= 1; // the same collection time
  const again = { ...(await clinic.store("chem-1", dog.fp, 5)), id: "M-again" };
  await clinic.spool.call("addMessage", { ...again, session: 2, ordinal: 1 });
  await clinic.filing.accept(again);
  expect(clinic.listed()[0]).toEqual(["pending", "incomplete, completed by M-again"]);
});

test("a cut message and its rest under repeated parents become one study", async () => {
  const [header, patient, order, comment, alt, glucose, end] = vetScanRecords({
    patient: dog.fp,
    species: "Dog",
    collected: "20260101090000",
    alt: 143,
  }) as [string, string, string, string, string, string, string];
  const part = (id: string, incomplete: string | null, records: readonly string[]) => ({
    id,
    session: clinic.ordinal,
    ordinal: clinic.ordinal++,
    device: "chem-1",
    profile: "abaxis-vetscan-vs2",
    receivedAt: clinic.ordinal,
    bytes: Buffer.from(records.map((record) => `${record}\r`).join("")),
    incomplete,
  });
  const cut = part("cut", "the device fell silent before the L record", [header, patient, order, comment, alt]);
  const rest = part("rest", null, [header, patient, order, glucose, end]);
  const again = part("again", null, [header, patient, order, comment, alt, glucose, end]);
  for (const message of [cut, rest, rest, again]) {
    await clinic.spool.call("addMessage", message);
    await clinic.filing.accept(message);
  }
  // A later run still completes the cut message with its rest, and no other message does.
  const completing = (id: string) => clinic.spool.call("incompleteMessages", "chem-1", id, 100);
  expect((await completing("rest")).map(({ id }) => id)).toEqual(["cut"]);
  expect(await completing("again")).toEqual([]);
  const { batch: studies } = await clinic.spool.call("takeQueued", 100, 1_000_000, 0);
  expect(studies.map(({ revision, body }) => [revision, resultsOf(body)])).toEqual([
    [
      1,
      [
        ["ALT", 143],
        ["GLU", 95],
      ],
    ],
  ]);
  expect(clinic.listed().map(([, reason]) => reason)).toEqual(["incomplete, completed by rest", null, null]);
});

test("a corrected result is a new revision of the same study", async () => {
  const records = vetScanRecords({ patient: dog.fp, species: "Dog", collected: "20260101090000", alt: 143 });
  const corrected = records.map((record) => record.replace("|143|U/L|10 to 118|N|||F", "|34|U/L|10 to 118|N|||C"));
  for (const [id, lines] of [
    ["first", records],
    ["again", records],
    ["corrected", corrected],
  ] as const) {
    const bytes = Buffer.from(lines.map((record) => `${record}\r`).join(""));
    const message = {
      id,
      session: clinic.ordinal,
      ordinal: clinic.ordinal,
      device: "chem-1",
      profile: "",
      receivedAt: clinic.ordinal++,
      bytes,
      incomplete: null,
    };
    await clinic.spool.call("addMessage", message);
    await clinic.filing.accept(message);
  }
  const { batch: studies } = await clinic.spool.call("takeQueued", 100, 1_000_000, 0);
  expect(new Set(studies.map(({ fp }) => fp)).size).toBe(1);
  expect(studies.map(({ revision, body }) => [revision, resultsOf(body)])).toEqual([
    [
      1,
      [
        ["ALT", 143],
        ["GLU", 95],
      ],
    ],
    [
      2,
      [
        ["ALT", 34],
        ["GLU", 95],
      ],
    ],
  ]);
});
