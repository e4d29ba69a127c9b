import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { profileById } from "../../../agent/devices/index.ts";
import { printProfile } from "../../../agent/devices/table/document.ts";
import { shippedForm } from "../../../agent/devices/table/load.ts";
import { changesBetween, unreadIn } from "../../../agent/maker/look/changes.ts";
import { type Draft, formOf, undo } from "../../../agent/maker/draft.ts";
import { look } from "../../../agent/maker/look/look.ts";
import { openBytes } from "../../../agent/maker/open.ts";
import type { ProfileForm } from "../../../agent/devices/table/schema.ts";
import { read } from "../../../agent/study/read.ts";
import type { MakerClick, MessageView } from "../../../agent/page/types/maker.ts";
import { patiently } from "../../support/runner/patience.ts";

const context = { device: "lab-1", timeZone: "Europe/Istanbul", receivedAt: Date.parse("2026-11-21T13:00:00.000Z") };

function opened(bytes: Uint8Array) {
  return openBytes(bytes, (of) => profileById(`generic-${of}`)).messages.map((each) => ({ bytes: each, context }));
}

const fixture = (name: string) => opened(readFileSync(`fixtures/${name}`));
const hl7: Draft = { base: shippedForm("generic-hl7") as ProfileForm, patches: [] };
const astm: Draft = { base: shippedForm("generic-astm") as ProfileForm, patches: [] };

function clicksOf(
  found: ReturnType<typeof look>,
  only: (each: { isChosen: boolean }) => boolean = () => true,
): MakerClick[] {
  return found.proposals.filter(only).map(({ role, place, message, record }) => ({ role, place, message, record }));
}

const results = (view: MessageView | undefined) =>
  view?.rows.flatMap(({ result }) => (result === null ? [] : [[result.code, result.text, result.unit]]));

describe("a draft as a person sees it", () => {
  test("each text of a row and of the patient is found in the bytes", () => {
    const [message] = fixture("siemens-clinitek/patient-strip.hl7");
    const { views } = look(hl7, [message!], []);
    const text = (node: { from: number; to: number }) =>
      Buffer.from(message!.bytes.subarray(node.from, node.to)).toString();
    const [view] = views;
    for (const { result, nodes } of view!.rows) {
      if (result === null) continue;
      const value = nodes.find(({ role }) => role === "value");
      expect(text(value!)).toContain(result.text);
    }
    expect(view!.nodes.filter(({ role }) => role === "identifier").map(text)).toEqual([view!.sample!.identifier]);
  });

  test("Celercare: three times yes gives the study", () => {
    const messages = fixture("celercare/panel.hl7");
    const first = look(hl7, messages, []);
    expect(first.proposals.map(({ role, place, isChosen }) => [role, place, isChosen])).toEqual(
      expect.arrayContaining([
        ["species", "PID-5", true],
        ["name", "PID-6", false],
        ["owner", "PID-7", false],
      ]),
    );
    const { views } = look(hl7, messages, clicksOf(first));
    expect(views[0]!.sample).toMatchObject({ identifier: "4711", name: "Zeytin", owner: "Aydin", species: "Canine" });
    expect(results(views[0])).toEqual([
      ["ALB", "31", "g/L"],
      ["ALT", "61", "U/L"],
    ]);
  });

  test("Boule Exigo: the status of every row is final, its settings are no results, the typed text is a name or a number", () => {
    const messages = fixture("boule-exigo/dog-three-parts.hl7");
    const first = look(hl7, messages, []);
    const found = first.proposals.map(({ role, record, message }) => [role, message, record]);
    expect(found.map(([role]) => role)).toEqual(expect.arrayContaining(["final", "species-row", "remark", "typed"]));
    const { views, problems } = look(hl7, messages, clicksOf(first));
    expect(problems).toEqual([]);
    expect(views[0]!.sample).toMatchObject({ name: "Zeytin", species: "DOG (3POP)" });
    expect(results(views[0])).toContainEqual(["WBC", "10.4", "10*9/L"]);
    expect(views[0]!.rows.filter(({ rule }) => rule !== null)).toHaveLength(4);
  });

  test("printed values need no click", () => {
    const lines = [
      "MSH|^~\\&|U1|LAB|||20261120101500||ORU^R01|2|P|2.5",
      "PID|1||4711",
      "OBR|1||U-1|UA|||20261120101200||||||||Urine",
    ];
    const rows = ["OBX|1|ST|WBC||5-10|/HPF|||||F", "OBX|2|ST|RBC||<1|/HPF|||||F", "OBX|3|ST|LEPTO||1/400||||||F"];
    const { views, proposals } = look(hl7, opened(Buffer.from([...lines, ...rows, ""].join("\r"))), []);
    expect(proposals.map(({ role }) => role)).toEqual([]);
    expect(results(views[0])?.map(([, text]) => text)).toEqual(["5-10", "<1", "1/400"]);
  });

  test("undo back to the base gives its bytes", () => {
    const messages = fixture("celercare/panel.hl7");
    const made = look(hl7, messages, clicksOf(look(hl7, messages, []))).draft;
    expect(made.patches.length).toBeGreaterThan(2);
    let back = made;
    while (back.patches.length > 0) back = undo(back);
    expect(look(back, messages, []).text).toBe(printProfile(shippedForm("generic-hl7") as ProfileForm));
    expect(look(made, messages, []).text).not.toBe(printProfile(formOf(back)));
  });

  test("the animal's identity is never chosen from one message", () => {
    const text = (number: string) =>
      `MSH|^~\\&|ACME|LAB|||20261121113100||ORU^R01|1|P|2.5\rPID|1\rOBR|1||||||20261121113000||||||||||${number}\rOBX|1|NM|WBC||9|10*9/L|||||F\r`;
    const one = look(hl7, opened(Buffer.from(text("A-4711"))), []);
    expect(one.proposals.filter(({ isChosen }) => isChosen)).toEqual([]);
    const several = ["A-4711", "A-9004", "A-1250"].flatMap((number) => opened(Buffer.from(text(number))));
    expect(clicksOf(look(hl7, several, []), ({ isChosen }) => isChosen)).toMatchObject([
      { role: "sample", place: "OBR-17" },
    ]);
    const counted = ["41", "42", "43"].flatMap((number) => opened(Buffer.from(text(number))));
    const running = look(hl7, counted, []).proposals.find(({ role }) => role === "sample");
    expect([running?.isChosen, running?.against.map(({ code }) => code)]).toEqual([false, ["counter"]]);
  });

  test("a code outside the catalogue is suggested, and a click makes it an analyte in ASTM and HL7", () => {
    const records = "H|\\^&|||ACME^X1\rP|1|4711\rO|1|S-1\rR|1|^^^ALTX|143|U/L\rL|1|N\r";
    const [message] = opened(Buffer.from(records));
    const { views } = look(astm, [message!], []);
    expect(views[0]!.rows[0]!.suggestions?.map(({ code }) => code)).toContain("ALT");
    const after = look(astm, [message!], [{ analyte: "ALT", message: 0, record: 3 }]);
    expect(after.views[0]!.rows[0]!.result).toMatchObject({
      code: "ALT",
      analyte: { en: "Alanine aminotransferase" },
      text: "143",
    });
    expect(look(astm, [message!], [{ analyte: "NONE", message: 0, record: 3 }]).refused).toBe(1);
  });

  test("a click that a profile cannot say is refused and leaves the draft", () => {
    const messages = fixture("celercare/panel.hl7");
    const after = look(hl7, messages, [{ role: "sender", place: "PID-3", message: 0, record: 1 }]);
    expect([after.refused, after.draft.patches]).toEqual([1, []]);
  });

  test("a patch that is no profile is a problem with its line, and reads nothing", () => {
    const broken: Draft = { base: hl7.base, patches: [{ patient: { name: "R-3" } }] };
    const { problems, views } = look(broken, fixture("celercare/panel.hl7"), []);
    expect(problems).toHaveLength(1);
    expect(views).toEqual([]);
  });

  test("a message of 1000 rows is read within 2 s", () => {
    const rows = Array.from(
      { length: 1000 },
      (_, index) => `OBX|${index + 1}|NM|C${index}^Code ${index}||${index}|g/L|1-9||||F`,
    );
    const text = [
      "MSH|^~\\&|ACME|LAB|||20261121113100||ORU^R01|1|P|2.5",
      "PID|1||4711",
      "OBR|1||S-1",
      ...rows,
      "",
    ].join("\r");
    const messages = opened(Buffer.from(text));
    look(hl7, messages, []);
    const start = performance.now();
    const { views } = look(hl7, messages, [{ role: "name", place: "PID-3", message: 0, record: 1 }]);
    expect(performance.now() - start).toBeLessThan(patiently(2000));
    expect(views[0]!.rows).toHaveLength(1000);
  });
});

describe("what a draft changes in a stored message", () => {
  const [message] = fixture("celercare/panel.hl7");
  const reading = (id: string) => read(message!.bytes, profileById(id)!, context);

  test("the kinds of difference are named, and an equal reading has none", () => {
    const [general, special] = [reading("generic-hl7"), reading("celercare")];
    expect(changesBetween(general, general)).toEqual([]);
    expect(changesBetween(general, special)).toEqual(["name", "species"]);
    expect(changesBetween(special, general)).toEqual(["name", "speciesLost"]);
    const nothing = { is: "quarantined", reason: "" } as const;
    expect([changesBetween(nothing, special), changesBetween(special, nothing)]).toEqual([["read"], ["unreadable"]]);
  });

  test("texts that nothing reads are counted", () => {
    expect([unreadIn(reading("generic-hl7")), unreadIn(reading("celercare"))]).toEqual([3, 0]);
  });
});
