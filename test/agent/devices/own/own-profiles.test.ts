import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OwnProfiles } from "../../../../agent/devices/own/own-profiles.ts";
import { readProfileText } from "../../../../agent/devices/table/load.ts";
import type { AnyProfileForm } from "../../../../agent/devices/table/file.ts";

let data: string;
let own: OwnProfiles;

beforeEach(() => {
  data = fs.mkdtempSync(path.join(os.tmpdir(), "own-profiles-"));
  own = new OwnProfiles(data);
});
afterEach(() => fs.rmSync(data, { recursive: true, force: true }));

const TEXT = `schema: 1
profile: own/acme-x1
revision: 3
extends: generic-hl7@1
device: { name: Acme X1, modality: HEMATOLOGY }
rows:
  - { as: remark, when: { OBX-3: '/^(Mode|Operator)$/i' } }
`;

function formOf(text: string): AnyProfileForm {
  const read = readProfileText(text, "test.yaml");
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  return read.form;
}

const fileOf = (revision: number) => path.join(data, "profiles", "own", "acme-x1", `${revision}.yaml`);

describe("a clinic's own profiles", () => {
  test("a saved form gets the next revision, and the same form keeps the last one", () => {
    const form = formOf(TEXT);
    expect(own.save(form)).toBe("own/acme-x1@1");
    expect(own.save(form)).toBe("own/acme-x1@1");
    expect(own.save({ ...form, device: { ...form.device, name: "Acme X2" } })).toBe("own/acme-x1@2");
    expect(new OwnProfiles(data).list()).toEqual(["own/acme-x1@2", "own/acme-x1@1"]);
  });

  test("a form that has no revision left is refused, not named as stored", () => {
    const form = formOf(TEXT);
    own.put({ ...form, revision: 1_000_000 });
    expect(() => own.save({ ...form, device: { ...form.device, name: "Other" } })).toThrow(
      "own/acme-x1 has revision 1000000, after which there is none",
    );
  });

  test("a stored revision is the whole with its base and has its reference as id", () => {
    own.put(formOf(TEXT));
    const stored = fs.readFileSync(fileOf(3), "utf8");
    expect(stored).not.toContain("extends");
    expect(stored).toContain("kind: mllp");
    const read = new OwnProfiles(data).read("own/acme-x1@3");
    expect(read).toMatchObject({
      reference: "own/acme-x1@3",
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      form: formOf(TEXT),
      profile: { id: "own/acme-x1@3", device_name: "Acme X1", protocol: "hl7" },
    });
    expect(fs.readdirSync(path.dirname(fileOf(3)))).toEqual(["3.yaml"]);
  });

  test("a revision that is stored never changes", () => {
    const form = formOf(TEXT);
    own.put(form);
    const before = fs.readFileSync(fileOf(3), "utf8");
    expect(own.put(form)).toBe("own/acme-x1@3");
    const other = { ...form, device: { ...form.device, name: "Other" } };
    expect(() => own.put(other)).toThrow("own/acme-x1@3 is stored with another content, expected a new revision of it");
    expect(fs.readFileSync(fileOf(3), "utf8")).toBe(before);
  });

  test("a revision that somebody edited is refused", () => {
    own.put(formOf(TEXT));
    fs.writeFileSync(fileOf(3), fs.readFileSync(fileOf(3), "utf8").replace("Acme X1", "Acme X9"));
    expect(new OwnProfiles(data).read("own/acme-x1@3")).toEqual({
      code: "PROFILE.CHANGED",
      problems: [`${fileOf(3)} was changed after it was stored, expected a new revision (profile import FILE)`],
    });
  });

  test("a missing revision and a faulty one say so with the file and the line", () => {
    expect(own.read("own/acme-x1@4")).toEqual({ code: "PROFILE.MISSING", problems: [`${fileOf(4)} is missing`] });
    fs.mkdirSync(path.dirname(fileOf(4)), { recursive: true });
    fs.writeFileSync(fileOf(4), TEXT.replace("revision: 3", "revision: 4").replace("rows:", "row:"));
    expect(own.read("own/acme-x1@4")).toEqual({
      code: "PROFILE.FAULTY",
      problems: [expect.stringMatching(/4\.yaml:\d row /) as string],
    });
    fs.writeFileSync(fileOf(4), TEXT);
    expect(own.read("own/acme-x1@4")).toEqual({
      code: "PROFILE.FAULTY",
      problems: [`${fileOf(4)} is own/acme-x1@3`],
    });
  });

  test("two processes that save together store two revisions", () => {
    const form = formOf(TEXT);
    const other = new OwnProfiles(data);
    const named = (name: string) => ({ ...form, device: { ...form.device, name } });
    expect([own.save(named("A")), other.save(named("B")), own.save(named("C"))]).toEqual([
      "own/acme-x1@1",
      "own/acme-x1@2",
      "own/acme-x1@3",
    ]);
  });

  test("a form without the clinic's prefix is refused", () => {
    expect(() => own.save({ ...formOf(TEXT), profile: "acme-x1" })).toThrow("expected one that begins with own/");
  });

  test.each(["own/../../etc@1", "own/acme@0", "own/acme", "own/A@1", "own/a@1/../b"])(
    "the reference %s names no file",
    (reference) => {
      expect(own.read(reference)).toMatchObject({ code: "PROFILE.MISSING" });
    },
  );
});
