import { Command } from "commander";
import { expect, test } from "vitest";
import { fpParser } from "../../../../server/cli/common/options.ts";
import { newFp } from "../../../../shared/api/fp.ts";

test("an option accepts an fp only in its own case, and its error names the form", () => {
  const said: string[] = [];
  const clinic = newFp("clinic");
  const parse = (fp: string) =>
    new Command("server")
      .option("--clinic <fp>", "of one clinic", fpParser("clinic"))
      .configureOutput({ writeErr: (text) => void said.push(text) })
      .exitOverride()
      .parse(["--clinic", fp], { from: "user" })
      .opts();
  expect(parse(clinic)).toEqual({ clinic });
  for (const fp of [clinic.toUpperCase(), clinic.toLowerCase(), newFp("patient")]) expect(() => parse(fp)).toThrow(fp);
  const form = "clinic_ and a ULID of 26 digits and upper-case letters; fps are case-sensitive";
  expect(said[0]).toBe(
    `error: option '--clinic <fp>' argument '${clinic.toUpperCase()}' is invalid. expected ${form}\n`,
  );
});
