import { expect, test } from "vitest";
import type { Hl7Profile } from "../../../agent/protocols/hl7/profile.ts";
import { ALT as ALT_ROW, msh, OBR, obx, PID, readGeneric as readHl7, readWith, segment } from "./hl7/segments.ts";
import { ALT, only, record, reportOf, reportsOf, readWith as readAstmWith } from "../records.ts";
import { astmDevice, hl7Device } from "../../support/clinic/profiles.ts";

const mindrayBs = hl7Device("mindray-bs");
const celercare = hl7Device("celercare");
const genruiVh30 = hl7Device("genrui-vh30");
const seamatySmt = hl7Device("seamaty-smt");
const skyla = astmDevice("skyla");

// The identity of a patient: at the profile's place, else at the standard's; all other text reaches the desk.

const hint = (profile: Hl7Profile, pid: Readonly<Record<number, string>>) => {
  const sender = { ...profile, sender: /(?:)/ };
  const { identifier, otherIdentifiers, patient_hint } = only(
    reportsOf(readWith(sender, msh(), segment("PID", { 1: "1", ...pid }), OBR, ALT_ROW)),
  );
  return { otherIdentifiers, ...patient_hint, identifier };
};

test("an empty place of the profile gives way to the standard's", () => {
  expect(hint(genruiVh30, { 3: "4711", 5: "Zeytin" })).toMatchObject({ identifier: "4711", name: "Zeytin" });
  expect(hint(genruiVh30, { 3: "4711", 4: "C-9", 35: "Canine" })).toMatchObject({
    identifier: "C-9",
    otherIdentifiers: expect.arrayContaining(["4711"]),
    species: "Canine",
  });
  expect(hint(seamatySmt, { 7: "20200102", 8: "M", 35: "Feline" })).toMatchObject({
    date_of_birth: "2020-01-02",
    sex: "M",
    species: "Feline",
  });
  expect(hint(celercare, { 3: "4711", 7: "20200102", 8: "F" })).toMatchObject({
    sex: "F",
    date_of_birth: "2020-01-02",
  });
});

test("the standard's place is not read where the profile reads another field", () => {
  // PID-5 of a Celercare is the species.
  expect(hint(celercare, { 5: "Canine" })).toMatchObject({ species: "Canine", name: null });
});

test("a device without species has none, even if PID-35 is filled", () => {
  expect(hint(mindrayBs, { 2: "4711", 35: "Canine" })).toMatchObject({ species: null });
});

test("two species in one message are none, and one said twice is one", () => {
  const species = (stated: string, row: string) =>
    only(
      reportsOf(
        readHl7(
          msh(),
          segment("PID", { 1: "1", 3: "4711", 35: stated }),
          OBR,
          obx("Species", row, { 2: "ST", 6: "" }),
          ALT_ROW,
        ),
      ),
    );
  expect(species("Feline", "Dog")).toMatchObject({ species: null, patient_hint: { species: "Feline / Dog" } });
  expect(species("Feline", "Cat")).toMatchObject({ species: "cat", patient_hint: { species: "Feline" } });
  expect(species("", "Dog")).toMatchObject({ species: "dog" });
});

test("a moved weight is read at the standard's place too", () => {
  const header = "H|\\^&|||Skyla^VB1|||||P|1|20261121120000";
  const weighed = (field: number) =>
    only(
      reportsOf(
        readAstmWith(skyla, header, record("P", { 2: "1", 3: "4711", [field]: "16^Kg" }), "O|1|S-1", ALT, "L|1|N"),
      ),
    );
  expect(weighed(19).patient_hint.weight_kg).toBe(16);
  expect(weighed(18).patient_hint.weight_kg).toBe(16);
});

test("all other text of PID reaches the desk as sent, and what is known does not come twice", () => {
  const pid =
    "PID|1|77|4711^^^^MR||Aydin^Zeytin||20200102|M|19990101|TERRIER|Sokak 5^^Izmir||555 123||||||||||||||||||||||Canine^Canine";
  const { patient_hint } = only(reportsOf(readHl7(msh(), pid, OBR, ALT_ROW)));
  expect(patient_hint.other).toEqual([
    { field: "PID-9", text: "19990101" },
    { field: "PID-10", text: "TERRIER" },
    { field: "PID-11", text: "Sokak 5^^Izmir" },
    { field: "PID-13", text: "555 123" },
  ]);
  expect(only(reportsOf(readHl7(msh(), PID, OBR, ALT_ROW))).patient_hint).not.toHaveProperty("other");
});

test("all other text of P and O reaches the desk", () => {
  const report = reportOf([
    record("P", { 2: "1", 3: "4711", 6: "Aydin^Zeytin", 9: "M", 15: "88888^7 Yrs.", 26: "Kennel 3" }),
    record("O", { 2: "1", 3: "S-1", 5: "^^^Panel", 6: "R", 11: "Nurse Ada", 16: "SERUM", 26: "F" }),
    ALT,
  ]);
  expect(report.patient_hint.other).toEqual([
    { field: "P-15", text: "88888^7 Yrs." },
    { field: "P-26", text: "Kennel 3" },
    { field: "O-11", text: "Nurse Ada" },
    { field: "O-16", text: "SERUM" },
  ]);
});
