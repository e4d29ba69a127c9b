import { describe, expect, test } from "vitest";
import { readRanges } from "../../../server/import/clinic-ranges.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { currentRanges, rangesOfVersion, replaceRanges } from "../../../server/records/clinics/ranges.ts";
import { type ClinicRange, rangeText } from "../../../shared/clinical/clinic-ranges.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, noon, startServer } from "../harness.ts";

const alt: ClinicRange = {
  id: "alt-dog",
  species: "dog",
  analyte: "ALT",
  unit: "U/L",
  low: "20",
  high: "90",
  effective_from: "2026-01-01",
};

function lines(...rows: unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

describe("the file of a clinic's intervals", () => {
  test("a file has one row a line, and blank lines are ignored", () => {
    const later = { ...alt, id: "alt-dog-2", effective_from: "2026-06-01T12:00:00.000Z" };
    expect(readRanges(`${lines(alt)}\r\n\n${lines(later)}`)).toEqual({ rows: [alt, later] });
    expect(readRanges("")).toEqual({ rows: [] });
  });

  test("an invalid file is refused with all its problems", () => {
    const { effective_from: _, ...ageless } = alt;
    const text = `${lines(alt, ageless, { ...alt, low: 20 }, { ...alt, id: "x", unit: "mg/dL" }, alt)}no json\n${lines(
      { ...alt, id: "same", effective_from: "2026-01-01T00:00:00.000Z" },
      { ...alt, id: "note", note: "\u0000" },
      { ...alt, id: "key", colour: "red" },
    )}`;
    expect(readRanges(text)).toEqual({
      problems: [
        "line 2: effective_from is missing",
        String.raw`line 3: low is 20, expected a string`,
        "line 4: x has the unit mg/dL, expected a unit of ALT",
        "line 5: id alt-dog is already in line 1",
        "line 5: alt-dog has the same animals and start date as line 1",
        "line 6: invalid JSON",
        "line 7: same has the same animals and start date as line 1",
        String.raw`line 8: note is "\u0000", expected text without NUL`,
        "line 9: colour is not expected",
      ],
    });
  });

  test("an interval is listed as text for a user", () => {
    expect(rangeText(alt)).toBe("alt-dog  ALT 20-90 U/L  dog  from 2026-01-01");
    const young = {
      life_stage: "juvenile",
      age_max_days: 180,
      sex: "F",
      neutered: false,
      device: "VetScan VS2",
    } as const;
    expect(rangeText({ ...alt, ...young, critical_high: "500", effective_until: "2027-01-01" })).toBe(
      "alt-dog  ALT 20-90 U/L  critical ..500  dog juvenile -180 days F intact on VetScan VS2  from 2026-01-01 until 2027-01-01",
    );
  });
});

test("an import replaces the current version, and earlier versions stay readable", async () => {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const { store } = await startServer(clinic(ours), clinic(theirs));
  const idOf = async (fp: string) => (await findClinic(store, fp))?.id ?? 0;
  const [ourId, theirId] = [await idOf(ours), await idOf(theirs)];
  const replace = (rows: ClinicRange[], low_quality = false) =>
    store.transaction((session) => replaceRanges(session, ourId, { low_quality, rows }, noon));

  expect(await currentRanges(store, ourId)).toBeUndefined();
  const first = await replace([alt]);
  expect(first).toEqual({
    version: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
    low_quality: false,
    rows: [alt],
  });
  expect(await replace([alt])).toBeNull();
  const second = await replace([alt], true);
  expect(second?.version).not.toBe(first?.version);
  const third = await replace([]);
  expect(await currentRanges(store, ourId)).toEqual(third);
  // Importing the first version again makes it current again.
  expect((await replace([alt]))?.version).toBe(first?.version);
  expect(await currentRanges(store, ourId)).toEqual(first);
  expect(await rangesOfVersion(store, ourId, second?.version ?? "")).toEqual(second);
  expect(await currentRanges(store, theirId)).toBeUndefined();
  expect(await rangesOfVersion(store, theirId, first?.version ?? "")).toBeUndefined();
});

test("GET /agent/v1/ranges returns the intervals of the agent's clinic, null if it has none", async () => {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const server = await startServer(clinic(ours), clinic(theirs));
  const clinicId = (await findClinic(server.store, ours))?.id ?? 0;
  const content = { low_quality: true, rows: [alt] };
  await server.store.transaction((session) => replaceRanges(session, clinicId, content, noon));
  const asked = async (fp: string, permission: "clinic.lab.ingest" | "clinic.lab.view") => {
    const headers = { "x-api-key": await server.makeKey(fp, [permission]) };
    const response = await server.app.inject({ url: "/agent/v1/ranges", headers });
    return [response.statusCode, response.json<{ data: unknown }>().data];
  };
  expect(await asked(ours, "clinic.lab.ingest")).toEqual([
    200,
    { version: expect.any(String) as string, low_quality: true, rows: [alt] },
  ]);
  expect(await asked(theirs, "clinic.lab.ingest")).toEqual([200, null]);
  expect((await asked(ours, "clinic.lab.view"))[0]).toBe(403);
});

test("agents get the rows without the origin of their numbers, which older ones would leave out", async () => {
  const ours = newFp("clinic");
  const server = await startServer(clinic(ours));
  const clinicId = (await findClinic(server.store, ours))?.id ?? 0;
  const origin = { source: "42 healthy dogs of the clinic", n: 42, method: "robust", accepted_by: "Dr. A" };
  const young = { ...alt, id: "alt-young", subgroup: "sighthound", life_stage: "juvenile" as const };
  const content = {
    low_quality: false,
    rows: [
      { ...alt, ...origin },
      { ...young, ...origin },
    ],
  };
  const stored = await server.store.transaction((session) => replaceRanges(session, clinicId, content, noon));
  const headers = { "x-api-key": await server.makeKey(ours, ["clinic.lab.ingest"]) };
  const { data } = (await server.app.inject({ url: "/agent/v1/ranges", headers })).json<{ data: unknown }>();
  expect(data).toEqual({ version: stored?.version, low_quality: false, rows: [alt, young] });
  expect((await currentRanges(server.store, clinicId))?.rows).toEqual(content.rows);
});

test("a CSV file with the names of the fields gives the same rows as JSON, with its own line numbers", () => {
  const rows = [
    { id: "a", species: "dog", analyte: "ALT", unit: "U/L", low: "12", high: "105", effective_from: "2026-01-01" },
    {
      id: "b",
      species: "cat",
      analyte: "CREA",
      unit: "mg/dL",
      low: "0.8",
      high: "2.3",
      effective_from: "2026-01-01",
      age_min_days: 365,
      neutered: true,
      note: 'our "new";\nkit',
    },
  ];
  const header = "id;species;analyte;unit;low;high;effective_from;age_min_days;neutered;note";
  const first = "a;dog;ALT;U/L;12;105;2026-01-01;;;";
  const second = 'b;cat;CREA;mg/dL;0.8;2.3;2026-01-01;365;TRUE;"our ""new"";\nkit"';
  const csv = `\ufeff${[header, first, "", second].join("\r\n")}`;
  expect(readRanges(csv)).toEqual({ rows });
  expect(readRanges(csv.replaceAll(/;(?!\n)/g, ","))).toMatchObject({ rows: [rows[0], { id: "b" }] });
  // The note of the second row takes two lines.
  const third = "c;dog;BUN;mg/dL;ten;30;2026-01-01";
  const { problems } = readRanges([csv, third, "d;dog"].join("\r\n")) as { problems: string[] };
  expect(new Set(problems.map((problem) => problem.slice(0, "line 6:".length)))).toEqual(
    new Set(["line 6:", "line 7:"]),
  );
});

const columns = "id;species;analyte;unit;low;high;effective_from;note";

test("a spreadsheet with decimal commas and semicolons is read, and a comma elsewhere is refused in words", () => {
  const row = { species: "dog", analyte: "ALT", unit: "U/L", effective_from: "2026-01-01" };
  expect(
    readRanges(`\ufeff${columns}\r\na;dog;ALT;U/L;12,5;105,5;2026-01-01;\r\nb;cat;BE;mmol/L;-5,2;3.8;2026-01-01;`),
  ).toEqual({
    rows: [
      { ...row, id: "a", low: "12.5", high: "105.5" },
      { ...row, id: "b", species: "cat", analyte: "BE", unit: "mmol/L", low: "-5.2", high: "3.8" },
    ],
  });
  const number = "expected a number with a decimal point such as 6.0";
  expect(readRanges(`${columns}\na;dog;ALT;U/L;1.012,5;105;2026-01-01;`)).toEqual({
    problems: [`line 2: low is "1.012,5", ${number}`],
  });
  expect(readRanges(`${columns.replaceAll(";", ",")}\na,dog,ALT,U/L,"12,5",105,2026-01-01,`)).toEqual({
    problems: [`line 2: low is "12,5", ${number}`],
  });
});

test("a quote that never closes is refused with its line, wherever the next quote is", () => {
  const [first, second, third] = ["a", "b", "c"].map((id) => `${id};dog;ALT;U/L;12;105;2026-01-01;`);
  const refused = (...rows: string[]) => readRanges([columns, ...rows].join("\r\n"));
  const problem = (line: number, text: string) => ({ problems: [expect.stringMatching(`^line ${line}: ${text}`)] });
  expect(refused(`${first}"our kit`, `${second}`, `${third}`)).toEqual(problem(2, "a quote opens and never closes"));
  expect(refused(`${first}`, `${second}"`, `${third}`)).toEqual(problem(3, "a quote opens and never closes"));
  expect(refused(`${first}"kit`, `${second}"x"`)).toEqual(problem(2, "a quote opens, and the next one, in line 3"));
  expect(refused(`${first}"kit`, `${second}old"`, `${third}`)).toEqual(
    problem(2, "a quote opens, and the cell takes in"),
  );
  expect(refused(`${first}5" tube`)).toEqual(problem(2, "a quote is in the middle of a cell"));
});

test("a file that was not read as UTF-8 is refused in words, as a dashboard gets it from a Windows code page or UTF-16", () => {
  const problem = expect.stringContaining("is not UTF-8: save it as UTF-8");
  expect(readRanges(`${columns}\na;dog;ALT;U/L;1;2;2026-01-01;T\ufffdrkiye`)).toEqual({ problems: [problem] });
  expect(readRanges(columns.split("").join("\0"))).toEqual({ problems: [problem] });
});

test("every line end separates rows, also mixed ones", () => {
  const row = (id: string, analyte: string) => `${id};dog;${analyte};U/L;12;105;2026-01-01;`;
  const text = `${columns}\r\n${row("a", "ALT")}\n${row("b", "AST")}\r${row("c", "ALP")}`;
  expect(readRanges(text)).toMatchObject({ rows: [{ id: "a" }, { id: "b" }, { id: "c" }] });
});

test("a CSV file with an unknown column or too many cells is refused", () => {
  const good = "a,dog,ALT,U/L,12,105,2026-01-01";
  for (const [header, row] of [
    ["id,species,analyte,unit,low,high,effective_from,colour", `${good},red`],
    ["id,species,analyte,unit,low,high,effective_from", `${good},more`],
  ]) {
    expect(readRanges(`${header}\n${row}`)).toMatchObject({ problems: [expect.stringMatching(/^line 2: /)] });
  }
});
