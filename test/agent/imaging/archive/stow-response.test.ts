import { expect, test } from "vitest";
import { readStowResponse } from "../../../../agent/imaging/archive/stow-response.ts";

// Method: bodies as servers write them (PS3.18 §10.5.3.2), for a request with the instance 1.2.3.

const item = (uid: string, reason?: number) => ({
  "00081150": { vr: "UI", Value: ["1.2.840.10008.5.1.4.1.1.1"] },
  "00081155": { vr: "UI", Value: [uid] },
  ...(reason !== undefined && { "00081197": { vr: "US", Value: [reason] } }),
});
const stored = (uid: string) => ({ "00081199": { vr: "SQ", Value: [item(uid)] } });
const failed = (uid: string, reason?: number) => ({ "00081198": { vr: "SQ", Value: [item(uid, reason)] } });
const xml = (tag: string, uid: string) =>
  `<?xml version="1.0"?><NativeDicomModel><DicomAttribute tag="${tag}" vr="SQ"><Item number="1">` +
  `<DicomAttribute tag="00081155" vr="UI"><Value number="1">${uid}</Value></DicomAttribute></Item></DicomAttribute></NativeDicomModel>`;

test.each([
  ["names the instance as stored", stored("1.2.3"), { is: "stored" }],
  ["is a list of one dataset", [stored("1.2.3")], { is: "stored" }],
  ["has an empty list of failures", { ...stored("1.2.3"), "00081198": { vr: "SQ" } }, { is: "stored" }],
  ["has a retrieve URL alone", { "00081190": { vr: "UR", Value: ["http://a/"] } }, { is: "stored" }],
  ["names the instance as failed", failed("1.2.3", 0xa700), { is: "failed", reason: 0xa700 }],
  ["gives no reason for the failure", failed("1.2.3"), { is: "failed", reason: null }],
  ["names another instance as stored", stored("1.2.34"), { is: "nothing" }],
  ["names another instance as failed", failed("1.2.34", 0xc000), { is: "nothing" }],
  ["is another program's JSON", { success: false, error: { code: "X" } }, { is: "nothing" }],
])("a response that %s is read so", (_, body, verdict) => {
  expect(readStowResponse(JSON.stringify(body), "1.2.3")).toEqual(verdict);
});

test.each([
  ["", { is: "stored" }],
  [xml("00081199", "1.2.3"), { is: "stored" }],
  [xml("00081198", "1.2.3"), { is: "nothing" }],
  [xml("00081199", "1.2.34"), { is: "nothing" }],
  ["<html>1.2.3</html>", { is: "nothing" }],
  ['{"00081199":{"vr":', { is: "nothing" }],
])("the body %j is read as %j", (body, verdict) => {
  expect(readStowResponse(body, "1.2.3")).toEqual(verdict);
});
