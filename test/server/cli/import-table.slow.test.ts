import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { temporaryFolder } from "../harness.ts";
import { SERVER } from "../../support/machine/processes.ts";

// `server import` of a CSV file, as a person runs it.

test("the command prints what it decided, each refused line with its remedy, and the option that an open question needs", () => {
  const folder = temporaryFolder();
  const data = join(folder, "data");
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [SERVER, "import", ...args, "--data", data], {
      encoding: "utf8",
    });
    return { status, stdout, stderr: stderr.replaceAll(/^\d+ %\n/gm, "") };
  };
  const own = newFp("clinic");
  run(file("clinic.ndjson", JSON.stringify({ type: "clinic", fp: own, name: "Kadıköy" })));

  const open = file(
    "patients.csv",
    "Id;Name;Species;Owner;Birth\n1;Pamuk;cat;Ada;3/4/2020\n2;Maviş;muhabbet k.;Ada;\n",
  );
  expect(run(open)).toMatchObject({ status: 1, stderr: `${open}: expected --clinic <fp> for a CSV or Excel file\n` });
  const asked = run(open, "--clinic", own);
  expect(asked).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("pass --date-order dmy or --date-order mdy") as string,
  });

  const dry = run(open, "--clinic", own, "--date-order", "dmy", "--dry-run");
  expect(dry).toEqual({
    status: 0,
    stdout:
      "2 lines of animals: CSV, utf-8, semicolon, decimal comma, day.month.year; an animal is known by its number\n" +
      "columns: Id = Number of the animal, Name = Name of the animal, Species = Species, Owner = Owner, Birth = Date of birth\n" +
      `${open}: 1 new, 0 changed, 0 unchanged, 1 refused; nothing was stored (--dry-run)\n`,
    stderr:
      "line 3, Maviş: Species “muhabbet k.” is not known. Write a word such as dog, cat, rabbit, bird, horse or exotic.\n",
  });
  const counts = () => run(open, "--clinic", own, "--date-order", "dmy").stdout.trim().split("\n").at(-1);
  expect(counts()).toBe(`${open}: 1 new, 0 changed, 0 unchanged, 1 refused`);
  expect(counts()).toBe(`${open}: 0 new, 0 changed, 1 unchanged, 1 refused`);

  const broken = file("broken.csv", 'Id;Name;Species;Owner\n1;"Pamuk;cat;Ada\n');
  expect(run(broken, "--clinic", own)).toMatchObject({
    status: 1,
    stderr: `${broken}, line 2: A quote opens and never closes. Double each quote inside a text, or export the file again as .xlsx.\n`,
  });
});
