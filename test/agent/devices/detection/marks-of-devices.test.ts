import { expect, test } from "vitest";
import { protocolOf } from "../../../../agent/devices/detection/foreign-protocol.ts";
import { suggest } from "../../../../agent/devices/detection/detect.ts";
import { recording } from "../../../support/runner/fixtures.ts";

test.each([
  ["arkray-spotchem-el/plasma.astm", "arkray-spotchem-el"],
  ["arkray-spotchem-ez/multi-and-single.astm", "arkray-spotchem-ez"],
  ["dirui-h100/strip.astm", "dirui-h100"],
  ["radiometer-abl9/blood-gas.astm", "radiometer-abl9"],
  ["mythic/dog.astm", "mythic"],
  ["arkray-pu4010/strip.astm", "arkray-pu4010"],
])("%s is detected with its profile alone", (path, profile) => {
  const sample = recording(path);
  const [first] = suggest([{ line: null, bytes: sample }]);
  expect(first?.profiles).toEqual([profile]);
  expect(first?.score).toBeGreaterThanOrEqual(90);
});

test.each(["CONNECT;301-000118;9\r", "MYTHIC 22;ADMIN\rRESULT_READY;612\r", "MYTHIC 22;ADMIN\rRESULT\rDATE;1\r"])(
  "%o of a device that waits for a reply suggests mythic",
  (text) => {
    expect(suggest([{ line: null, bytes: Buffer.from(text) }])[0]).toMatchObject({ profiles: ["mythic"], score: 70 });
  },
);

const inquiry = (text: string) => {
  const sum = Buffer.from(text).reduce((total, byte) => total + byte, 0);
  return Buffer.concat([
    Buffer.of(2, 0x31, 0x30, 0x80, 0x80 | text.length),
    Buffer.from(text),
    Buffer.of(sum | 0x80, 3),
  ]);
};

test("inquiries of a VetLab Station are named, and no profile is suggested", () => {
  expect(inquiry("s").toString("hex")).toBe("0231308081 73f303".replace(" ", ""));
  const sample = Buffer.concat([inquiry("s"), inquiry("I 1 2111261130"), inquiry("s")]);
  expect(protocolOf(sample)).toBe("IDEXX VetLab Station, port for practice software");
  expect(suggest([{ line: null, bytes: sample }])).toMatchObject([
    { profiles: [], reasons: ["3 inquiries with the right check", expect.stringContaining("invalid")] },
  ]);
  sample[6] = 0x80;
  expect(suggest([{ line: null, bytes: sample }])[0]?.reasons[0]).toBe("2 inquiries with the right check");
});
