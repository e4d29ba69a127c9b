import { describe, expect, test } from "vitest";
import { type SerialLine, SERIAL_LINES, SURE, suggest } from "../../../../agent/devices/detection/detect.ts";
import { recording } from "../../../support/runner/fixtures.ts";
import { bytes } from "../../protocols/astm/wire.ts";

const eight: SerialLine = { baudRate: 9600, dataBits: 8, parity: "none", stopBits: 1 };

/** Returns the profiles of the best suggestion, and whether its score is a proof. */
function best(sample: Uint8Array, line: SerialLine | null = null) {
  const [first] = suggest([{ line, bytes: sample }]);
  return first === undefined ? null : { profiles: first.profiles, sure: first.score >= SURE };
}

/** Adds the parity bit of a 7-bit device, which an 8-bit port reads as data. */
function withParity(sample: Uint8Array, odd: boolean): Uint8Array {
  return sample.map((byte) => {
    const ones = byte.toString(2).replaceAll("0", "").length;
    return (ones % 2 === 1) !== odd ? byte | 0x80 : byte;
  });
}

/** Returns the bytes that a port at twice the device's rate reads: each half of a byte, with every bit twice. */
function atTwiceTheRate(sample: Uint8Array): Uint8Array {
  const doubled = (nibble: number) =>
    [0, 1, 2, 3].reduce((sum, bit) => sum | ((((nibble >> bit) & 1) * 3) << (bit * 2)), 0);
  return Uint8Array.from([...sample].flatMap((byte) => [doubled(byte & 15), doubled(byte >> 4)]));
}

describe("the marks of a protocol", () => {
  test.each([
    ["abaxis-vetscan-vs2/dog.astm", ["abaxis-vetscan-vs2", "generic-astm"]],
    ["skyla/liver-panel.astm", ["skyla", "generic-astm"]],
    ["generic-astm/one-frame.astm", ["generic-astm"]],
    ["generic-astm/own-delimiters.astm", ["generic-astm"]],
    ["generic-astm/yumizen.astm", ["generic-astm"]],
    ["mindray-bc2800vet/dog.astm", ["mindray-bc2800vet"]],
    ["mindray-bc2800vet/goat.astm", ["mindray-bc2800vet"]],
    ["mindray-bc2800vet-one-way/dog.astm", ["mindray-bc2800vet-one-way"]],
    ["arkray-spotchem-ez/multi.astm", ["arkray-spotchem-ez"]],
    ["fuji-dri-chem-nx/four-slides.astm", ["fuji-dri-chem-nx", "fuji-au"]],
    ["fuji-dri-chem-nx/request.astm", ["fuji-dri-chem-nx", "fuji-au"]],
    ["fuji-au/with-interval.astm", ["fuji-au"]],
    ["generic-poct1a/dog.poct1", ["generic-poct1a"]],
    ["generic-poct1a/hemoscreen.poct1", ["generic-poct1a"]],
  ])("%s is detected with its profiles", (path, profiles) => {
    expect(best(recording(path))).toEqual({ profiles, sure: true });
  });

  test.each(["lines", "digits-before-records"])("records without frames (%s) score less than a proof", (name) => {
    expect(best(recording(`generic-astm-raw/${name}.astm`))).toEqual({ profiles: ["generic-astm-raw"], sure: false });
  });

  test("records between STX and ETX without frame numbers are records without frames", () => {
    const text = "<ENQ><STX>H|\\^&|||Analyzer<CR>R|1|^^^GLU|95<CR>L|1|N<CR><ETX>";
    expect(suggest([{ line: null, bytes: bytes(text) }])[0]).toMatchObject({
      profiles: ["generic-astm-raw"],
      score: 85,
    });
  });

  test("HL7 suggests the profiles that match its sender, and the generic one", () => {
    expect(suggest([{ line: null, bytes: bytes("\vMSH|^~\\&|BC-5380<CR>\x1c<CR>") }])[0]).toMatchObject({
      protocol: "HL7 over MLLP",
      profiles: ["mindray-bc", "generic-hl7"],
      score: 95,
    });
    expect(suggest([{ line: null, bytes: bytes("\vMSH|^~\\&|X1<CR>") }])[0]).toMatchObject({
      profiles: ["generic-hl7"],
      score: 70,
    });
  });

  test("HL7 of practice software suggests its profile, and a query of a device does not", () => {
    const profilesOf = (type: string, ...segments: readonly string[]) => {
      const text = [`\vMSH|^~\\&|PIMS|C|||20261121||${type}|1|P|2.5.1`, ...segments, "\x1c"].join("<CR>");
      return suggest([{ line: null, bytes: bytes(`${text}<CR>`) }])[0]?.profiles;
    };
    const pid = "PID|1||00417";
    for (const segments of [
      ["ADT^A04^ADT_A01", pid],
      ["ORM^O01", pid, "ORC|NW|1"],
      ["OML^O21", pid, "ORC|CA|1"],
    ]) {
      expect(profilesOf(segments[0]!, ...segments.slice(1))).toEqual(["practice-system", "generic-hl7"]);
    }
    expect(profilesOf("ORM^O01", "ORC|RF||SAMPLE1||IP")).toEqual(["generic-hl7"]);
    expect(profilesOf("ORU^R01", pid, "ORC|NW|1")).toEqual(["generic-hl7"]);
  });

  test("ENQ alone suggests a device that waits for ACK", () => {
    expect(suggest([{ line: eight, bytes: bytes("<ENQ><ENQ><ENQ><EOT>") }])[0]).toMatchObject({
      profiles: ["generic-astm", "mindray-bc2800vet"],
      score: 60,
      reasons: ["ENQ, 3 times, and nothing else: sniff sends no ACK"],
    });
  });
});

describe("serial settings", () => {
  test.each([
    ["even", false, "arkray-spotchem-ez/multi.astm"],
    ["odd", true, "abaxis-vetscan-vs2/dog.astm"],
  ])("%s parity is detected in the eighth bits", (parity, odd, path) => {
    const [first] = suggest([{ line: eight, bytes: withParity(recording(path), odd) }]);
    expect(first).toMatchObject({ line: { baudRate: 9600, dataBits: 7, parity }, score: 95 });
    expect(first?.reasons).toContain(`the eighth bits are ${parity} parity (stop bits cannot be detected: 1 or 2)`);
  });

  test("the settings that fit the bytes come first", () => {
    const right = recording("abaxis-vetscan-vs2/dog.astm");
    const fast = { ...eight, baudRate: 19_200 };
    const suggestions = suggest([
      { line: fast, bytes: atTwiceTheRate(right) },
      { line: eight, bytes: right },
    ]);
    expect(suggestions[0]?.line).toEqual(eight);
  });

  test("frames with wrong checksums and invalid bytes score low, with the reason", () => {
    const sample = Buffer.from(recording("abaxis-vetscan-vs2/dog.astm"));
    for (let at = 7; at < sample.length; at += 9) sample[at] = 0x7f;
    const [first] = suggest([{ line: eight, bytes: sample }]);
    expect(first?.score).toBeLessThan(60);
    expect(first?.reasons).toContainEqual(expect.stringMatching(/% of the bytes are invalid characters/));
  });

  test.each([
    ["nothing", new Uint8Array(0)],
    ["NULs", new Uint8Array(500)],
    ["every byte", Uint8Array.from({ length: 512 }, (_, index) => index % 256)],
    ["a wrong baud rate", atTwiceTheRate(recording("abaxis-vetscan-vs2/dog.astm"))],
    ["a web server", Buffer.from("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")],
  ])("%s gives no suggestion above 50", (_, sample) => {
    expect(suggest([{ line: eight, bytes: sample }]).filter(({ score }) => score >= 50)).toEqual([]);
  });

  test("the most common settings come first", () => {
    expect(SERIAL_LINES[0]).toEqual(eight);
    expect(SERIAL_LINES.slice(0, 4).map(({ baudRate }) => baudRate)).toEqual([9600, 9600, 9600, 9600]);
  });
});
