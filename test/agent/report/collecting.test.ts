import { describe, expect, test } from "vitest";
import type { Hl7Profile } from "../../../agent/protocols/hl7/profile.ts";
import { ALT, msh, obx, PID, readWith } from "../protocols/hl7/segments.ts";
import { only, reportsOf } from "../records.ts";
import { hl7Device } from "../../support/clinic/profiles.ts";

const biosystemsBa = hl7Device("biosystems-ba");
const genericHl7 = hl7Device("generic-hl7");

// Selection of one-test messages that are collected into one study.

const CREA = obx("^CREA", "1", { 6: "mg/dL" });

function reportOf(profile: Hl7Profile, order: string, ...rows: readonly string[]) {
  return only(
    reportsOf(readWith(profile, msh({ 3: "BA200" }), ...(order.startsWith("OBR") ? [PID] : []), order, ...rows)),
  );
}

describe("generic-hl7 collects", () => {
  const collected = (order: string, ...rows: readonly string[]) => reportOf(genericHl7, order, ...rows).collect;

  test.each(["OBR|1|LAB-000123", "OBR|1||LAB-000123", "OBR|1|0007341"])("one test of sample %s", (order) => {
    const [one, other] = [collected(order, ALT), collected(order, CREA)];
    expect(one).toMatchObject({ prefix: expect.stringMatching(/^chem-1:/) as string, withinMs: 3_600_000 });
    expect(other).toEqual(one);
  });

  test.each(["OBR|1|7", "OBR|1||12345", "OBR|1|Zeytin", "OBR|1"])("nothing by the counter or name in %s", (order) => {
    expect(collected(order, ALT)).toBeUndefined();
  });

  test("no panel: its time distinguishes it from the next one of the sample", () => {
    const key = (time: string) => reportOf(genericHl7, `OBR|1|LAB-000123|||||${time}`, ALT, CREA).dedupe_key;
    expect(collected("OBR|1|LAB-000123", ALT, CREA)).toBeUndefined();
    expect(key("20261121113015")).not.toBe(key("20261121123015"));
  });

  test("no two samples or patients together", () => {
    const prefixOf = (pid: string, order: string) =>
      only(reportsOf(readWith(genericHl7, msh(), pid, order, ALT))).collect?.prefix;
    const first = prefixOf(PID, "OBR|1|LAB-000123");
    expect(prefixOf(PID, "OBR|1|LAB-000124")).not.toBe(first);
    expect(prefixOf(PID.replace("4711", "4712"), "OBR|1|LAB-000123")).not.toBe(first);
  });
});

test("a specimen's number (SPM-2) names a sample in addition to the device's own", () => {
  const read = (specimen: string, own: string) =>
    only(reportsOf(readWith(biosystemsBa, msh({ 3: "BA200", 9: "OUL^R22" }), specimen, `OBR|1||${own}`, ALT))).collect;
  expect(read("SPM|1|Zeytin", "7")).toEqual(read("SPM|1|Zeytin", "8"));
  expect(read("SPM|1", "7")).toBeUndefined();
});

test("urine is not collected with the blood of its number: its CREA would replace the blood's", () => {
  const collected = (type: string) => reportOf(biosystemsBa, `OBR|1|S-1|||||||||||||${type}`, CREA).collect;
  expect(collected("UR")?.prefix).not.toBe(collected("")?.prefix);
  expect(collected("SER")).toEqual(collected(""));
});
