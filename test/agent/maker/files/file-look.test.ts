import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { AnyProfileForm, FileProfileForm } from "../../../../agent/devices/table/file.ts";
import { shippedForm } from "../../../../agent/devices/table/load.ts";
import { compiled, look } from "../../../../agent/maker/look/look.ts";
import { type Draft, formOf } from "../../../../agent/maker/draft.ts";
import { sheetFile } from "../../../support/clinic/sheet-file.ts";
import { blankBase, blankForm, openFile } from "../../../../agent/maker/files/open-file.ts";
import { nodesOf } from "../../../../agent/maker/tree.ts";
import type { MakerClick, MakerNode, MessageView } from "../../../../agent/page/types/maker.ts";

const context = { device: "lab-1", timeZone: "Europe/Istanbul", receivedAt: Date.parse("2026-11-21T13:00:00.000Z") };

/** A draft without any statement about a file, as the page begins it. */
async function begun(text: string | Uint8Array) {
  const opened = (await openFile(typeof text === "string" ? Buffer.from(text) : text))!;
  const draft: Draft<AnyProfileForm> = { base: blankForm(blankBase(opened.kind))!, patches: [opened.begin] };
  return { kind: opened.kind, draft, messages: [{ bytes: opened.message, context }] };
}

type Begun = Awaited<ReturnType<typeof begun>>;

/** Gives roles one by one, each at the place that the tree shows. */
function clicked({ draft, messages }: Begun, clicks: readonly (readonly [string, string, string?])[]) {
  let of = look(draft, messages, []);
  for (const [role, place, text] of clicks) {
    const [record, node] = nodeOf(of.trees![0]!, place, text);
    const format = role === "time" ? node.formats?.[0] : undefined;
    const click = {
      role,
      place: node.kind === "record" ? node.place : node.place,
      message: 0,
      record,
      text: node.text,
    } as MakerClick;
    of = look(of.draft, messages, [format === undefined ? click : { ...click, format }]);
    expect([role, place, of.refused]).toEqual([role, place, 0]);
  }
  return of;
}

function nodeOf(tree: MakerNode, place: string, text?: string): [number, MakerNode] {
  for (const [index, record] of tree.children.entries()) {
    const own = [record, ...nodesOf(record)];
    const node = own.find((each) => each.place === place && (text === undefined || each.text === text));
    if (node !== undefined) return [index, node];
  }
  throw new Error(`no ${place} ${text ?? ""} in ${JSON.stringify(tree).slice(0, 600)}`);
}

const results = (view: MessageView | undefined) =>
  view?.rows.flatMap(({ result }) => (result === null ? [] : [[result.code, result.text, result.unit]]));

describe("a file of an unknown analyzer becomes a study by clicks", () => {
  const rows = [
    "Acme V2 export;;;;;;",
    "Sample;Pet;Kind;Taken;Test;Result;Unit",
    "S-1;Zeytin;Canine;21.11.2026 10:05;ALB;31;g/L",
    "S-1;Zeytin;Canine;21.11.2026 10:05;ALTX;61;U/L",
    "S-1;Zeytin;Canine;21.11.2026 10:05;Lamp;ok;",
  ];

  test("a table with a row for each result", async () => {
    const file = await begun(rows.join("\r\n"));
    expect(file.kind).toBe("csv");
    const first = look(file.draft, file.messages, []);
    expect(first.open).toEqual(["sample", "time", "code", "value"]);
    expect(first.problems).toEqual([]);
    const header = first.trees![0]!.children.find(({ place }) => place === "header")!;
    expect(header.children.map(({ place }) => place)).toEqual([
      "Sample",
      "Pet",
      "Kind",
      "Taken",
      "Test",
      "Result",
      "Unit",
    ]);
    const done = clicked(file, [
      ["sample", "Sample"],
      ["name", "Pet"],
      ["species", "Kind"],
      ["time", "Taken"],
      ["code", "Test"],
      ["value", "Result"],
      ["unit", "Unit"],
      ["remark", "row", "S-1 | Zeytin | Canine | 21.11.2026 10:05 | Lamp | ok | "],
    ]);
    expect(done.problems).toEqual([]);
    const [view] = done.views;
    expect(view!.sample).toMatchObject({
      name: "Zeytin",
      species: "Canine",
      sample: ["S-1"],
      time: "2026-11-21T07:05:00.000Z",
    });
    expect(results(view)).toEqual([
      ["ALB", "31", "g/L"],
      ["ALTX", "61", "U/L"],
    ]);
    // A row lights its line, and its code gets an analyte.
    expect(view!.rows.map(({ record }) => record)).toEqual([2, 3]);
    expect(view!.nodes.map(({ role, place }) => [role, place])).toContainEqual(["time", "Taken"]);
    const mapped = look(done.draft, file.messages, [{ analyte: "ALT", message: 0, record: 3, code: "ALTX" }]);
    expect(results(mapped.views[0])?.[1]?.[0]).toBe("ALT");
    const named = { ...formOf(mapped.draft), profile: "own/acme-v2" };
    expect(compiled({ base: named, patches: [] }).problems).toEqual([]);
  });

  test("day and month are never guessed: both orders are offered, and one of them is taken", async () => {
    const file = await begun("No,Date,Test,Result\r\n7,03/04/2026 10:05,ALB,31\r\n8,05/06/2026 11:05,ALB,30\r\n");
    const { trees } = look(file.draft, file.messages, []);
    const [, date] = nodeOf(trees![0]!, "Date");
    expect(date.formats).toEqual(["d/M/yyyy H:mm", "M/d/yyyy H:mm"]);
    const click = { role: "time" as const, place: "Date", message: 0, record: 0 };
    expect(look(file.draft, file.messages, [click]).refused).toBe(1);
    expect(look(file.draft, file.messages, [{ ...click, format: "M/d/yyyy H:mm" }]).refused).toBe(0);
  });

  test("a table with a column for each test: what means something else is no test", async () => {
    const file = await begun("No,ALB,,GLU,,Species,Time\r\n7,31,g/L,5.2,mmol/L,Cat,2026-11-21 10:05\r\n");
    const done = clicked(file, [
      ["tests", "ALB"],
      ["identifier", "No"],
      ["species", "Species"],
      ["time", "Time"],
    ]);
    expect(done.open).toEqual([]);
    expect(done.problems).toEqual([]);
    expect(done.views[0]!.sample).toMatchObject({ identifier: "7", species: "Cat" });
    expect(results(done.views[0])).toEqual([
      ["ALB", "31", "g/L"],
      ["GLU", "5.2", "mmol/L"],
    ]);
  });

  test("a spreadsheet: its cells as a table, with a real date", async () => {
    const sheet = [
      ["Acme export", null, null, null, null],
      ["Chip", "Taken", "Test", "Result", "Unit"],
      ["985112001234567", { serial: 46_347 }, "ALB", 31, "g/L"],
      ["985112001234567", { serial: 46_347 }, "GLU", 5.2, "mmol/L"],
    ];
    const file = await begun(sheetFile(sheet));
    expect(file.kind).toBe("xlsx");
    expect(look(file.draft, file.messages, []).open).toEqual(["sample", "time", "code", "value"]);
    const done = clicked(file, [
      ["identifier", "Chip"],
      ["time", "Taken"],
      ["code", "Test"],
      ["value", "Result"],
      ["unit", "Unit"],
    ]);
    expect([done.open, done.problems]).toEqual([[], []]);
    expect(done.views[0]!.sample).toMatchObject({ identifier: "985112001234567", time: "2026-11-20T21:00:00.000Z" });
    expect(results(done.views[0])).toEqual([
      ["ALB", "31", "g/L"],
      ["GLU", "5.2", "mmol/L"],
    ]);
    expect(done.views[0]!.rows.map(({ record }) => record)).toEqual([2, 3]);
  });

  test("a table that was pasted, whose lines end with CR alone", async () => {
    const { kind, messages, draft } = await begun(rows.join("\r"));
    const { trees, open } = look(draft, messages, []);
    expect([kind, open]).toEqual(["csv", ["sample", "time", "code", "value"]]);
    expect(trees![0]!.children.map(({ place }) => place)).toEqual(["line", "header", "row", "row", "row"]);
  });

  test("XML: elements and attributes, in and around each result", async () => {
    const file = await begun(
      `<?xml version="1.0"?><run when="2026-11-21T10:05:00"><animal id="4711"><kind>Canine</kind></animal>
      <r code="ALB"><v>31</v><u>g/L</u></r><r code="GLU"><v>5.2</v><u>mmol/L</u></r></run>`,
    );
    expect(look(file.draft, file.messages, []).open).toEqual(["sample", "time", "code", "value"]);
    const done = clicked(file, [
      ["identifier", "animal/@id"],
      ["species", "animal/kind"],
      ["time", "run/@when"],
      ["code", "@code"],
      ["value", "v"],
      ["unit", "u"],
    ]);
    expect(done.problems).toEqual([]);
    expect(done.views[0]!.sample).toMatchObject({ identifier: "4711", species: "Canine" });
    expect(results(done.views[0])).toEqual([
      ["ALB", "31", "g/L"],
      ["GLU", "5.2", "mmol/L"],
    ]);
    expect(done.views[0]!.rows.map(({ record }) => record)).toEqual([1, 2]);
  });

  test("a report in lines: a line gets its groups, and each group its meaning", async () => {
    const file = await begun(
      "ACME X1  ver 2\nPatient: 4711\nDate: 2026-11-21 10:05\nALB    31    g/L\nGLU    5.2    mmol/L\nEnd\n",
    );
    expect(file.kind).toBe("txt");
    const done = clicked(file, [
      ["line-filler", "unread", "ACME X1  ver 2"],
      ["line-sample", "unread", "Patient: 4711"],
      ["line-sample", "unread", "Date: 2026-11-21 10:05"],
      ["line-result", "unread", "ALB    31    g/L"],
      ["line-filler", "unread", "End"],
      ["identifier", "patient"],
      ["time", "date"],
      ["code", "c1"],
      ["value", "c2"],
      ["unit", "c3"],
    ]);
    expect(done.problems).toEqual([]);
    expect(done.views[0]!.reason).toBeNull();
    expect(done.views[0]!.sample).toMatchObject({ identifier: "4711" });
    expect(results(done.views[0])).toEqual([
      ["ALB", "31", "g/L"],
      ["GLU", "5.2", "mmol/L"],
    ]);
    const none = look(done.draft, file.messages, [{ role: "nothing", place: "c3", message: 0, record: 3 }]);
    expect(results(none.views[0])?.[0]).toEqual(["ALB", "31", null]);
  });

  test("a shipped profile of a table shows its columns, and a click changes it", async () => {
    const bytes = readFileSync("fixtures/wondfo-finecare-csv/history.csv");
    const { message } = (await openFile(bytes))!;
    const draft = { base: shippedForm("wondfo-finecare-csv") as FileProfileForm, patches: [] };
    const { views, trees } = look<FileProfileForm>(draft, [{ bytes: message, context }], []);
    expect(results(views[0])?.length).toBeGreaterThan(0);
    expect(views[0]!.nodes.map(({ role, place }) => [role, place])).toContainEqual(["value", "Result"]);
    expect(trees![0]!.children.some(({ place }) => place === "header")).toBe(true);
  });
});

test("a text of a serial line: the named groups of its layout get meanings", () => {
  const bytes = readFileSync("fixtures/arkray-spotchem-el/plasma.astm");
  const draft = { base: shippedForm("arkray-spotchem-el")!, patches: [] };
  const messages = [{ bytes, context }];
  const first = look<AnyProfileForm>(draft, messages, []);
  expect(first.problems).toEqual([]);
  const [record, node] = nodeOf(first.trees![0]!, "identifier");
  expect(first.views[0]!.sample?.identifier).toBe(node.text);
  const moved = look<AnyProfileForm>(draft, messages, [
    { role: "nothing", place: "identifier", message: 0, record },
    { role: "sample", place: "identifier", message: 0, record },
  ]);
  expect([moved.refused, moved.problems]).toEqual([0, []]);
  expect(moved.views[0]!.sample).toMatchObject({ identifier: null, sample: [node.text] });
});
