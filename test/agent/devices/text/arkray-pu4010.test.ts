import { expect, test } from "vitest";
import type { Reading } from "../../../../agent/report/report.ts";
import { read } from "../../../../agent/study/read.ts";
import { context, only, reportsOf } from "../../records.ts";
import { textDevice } from "../../../support/clinic/profiles.ts";

const arkrayPu4010 = textDevice("arkray-pu4010");

const HEAD = "VPU-4010  V1.20 B0001 D2026/11/21T11:51 N0012 P4711 S1";
const [PRO, PH] = ["PRO   *3+    300   mg/dL ", "PH           6.5         "];

function readItems(items: string, { head = HEAD, last = "T0001  COM." } = {}): Reading {
  return read(Buffer.from(`${head}\x17${items}\x17${last}`, "latin1"), arkrayPu4010, context);
}

test.each([
  [PRO, ["UPRO", "3+", null, "*"], ["PRO 3+: 300 mg/dL"]],
  ["GLU    -                 ", ["UGLU", "neg", null, null], []],
  ["LEU    NORMAL            ", ["ULEU", "NORMAL", null, null], []],
  [PH, ["UPH", "6.5", "[pH]", null], []],
  ["S.G.         1.025       ", ["USG", "1.025", "{SG}", null], []],
  ["XYZ    2+                ", ["XYZ", "2+", null, null], []],
])("%o is a row, and its amount a comment", (item, row, comments) => {
  const report = only(reportsOf(readItems(item)));
  expect(report.rows.map(({ code, text, unit, device_flag }) => [code, text, unit, device_flag])).toEqual([row]);
  expect(report.comments).toEqual(comments);
});

test("the head has time, number and patient; the last block has a comment", () => {
  expect(only(reportsOf(readItems(PRO, { last: "T0001  COM. cloudy" })))).toMatchObject({
    modality: "URINALYSIS",
    identifier: "4711",
    acquired_at: "2026-11-21T08:51:00.000Z",
    comments: ["PRO 3+: 300 mg/dL", "cloudy"],
  });
  expect(only(reportsOf(readItems(PRO, { head: HEAD.replace("4711", "") }))).identifier).toBeNull();
});

test("the parity in bit 7 is not read", () => {
  const withParity = Array.from(PRO, (char) => String.fromCharCode(char.charCodeAt(0) | 0x80)).join("");
  expect(readItems(withParity)).toEqual(readItems(PRO));
});

test.each([
  [PRO.replace("3+", "3"), {}],
  [PRO + PH.slice(1), {}],
  [PRO.replace("*", "?"), {}],
  [PRO, { head: HEAD.replace("T11:51", "") }],
  [PRO, { last: "T0001" }],
  ["", {}],
])("no part of %o is read with %o", (items, changes) => {
  expect(readItems(items, changes).is).toBe("quarantined");
});
