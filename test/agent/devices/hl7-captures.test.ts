import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { profileById } from "../../../agent/devices/index.ts";
import { encodeMllp } from "../../../agent/protocols/mllp.ts";
import type { Report } from "../../../agent/report/report.ts";
import { replay } from "../../../agent/tools/offline/replay.ts";
import { context, only, reportsOf } from "../records.ts";

// Cross-check with captures of real devices and documents. They are outside the repository; without them the tests are skipped.

const folder = fileURLToPath(new URL("../../../../shared/captures/hl7/", import.meta.url));

if (!existsSync(folder)) process.stdout.write(`hl7-captures.test.ts is skipped: there is no ${folder}\n`);

function captured(name: string): Buffer {
  return readFileSync(`${folder}${name}.hl7`);
}

function played(name: string, profileId: string): { reports: readonly Report[]; reading: unknown } {
  const logged = captured(name);
  const bytes = encodeMllp(logged[0] === 0x0b ? logged.subarray(1) : logged);
  const { reading } = only(replay([bytes], profileById(profileId)!, context, null).messages);
  return { reports: reading.is === "reports" ? reportsOf(reading) : [], reading };
}

/** Returns OBX-5 of each row, without trailing blanks. */
function valuesSent(name: string): string[] {
  const lines = captured(name)
    .toString("utf8")
    .split(/[\r\n]+/);
  return lines.filter((line) => line.startsWith("OBX|")).map((line) => line.split("|")[5]?.trim() ?? "");
}

/** Rows that are read, rows that are left out with a reason, and the rest: remarks, notes, pictures, empty settings. */
const CAPTURES: readonly (readonly [name: string, profile: string, read: number, leftOut: number, rest: number])[] = [
  ["mindray-bc20s__no-sender", "mindray-bc", 19, 0, 8],
  ["mindray-bc5380__histograms", "mindray-bc", 27, 0, 18],
  ["mindray-bs200e__one-test", "mindray-bs", 1, 0, 0],
  ["dymind-df5x__invalid-values", "dymind-df", 5, 6, 6],
  ["dymind-dh3x__decimal-comma", "dymind-df", 21, 0, 6],
  ["dymind-panca__names-only", "dymind-df", 28, 1, 13],
  ["urit-5160__vendor-example", "urit-5160", 21, 3, 4],
  ["bionote-vcheck-f200__value-in-note", "bionote-vcheck", 1, 0, 0],
  ["bionote-vcheck-v200__canine-crp", "bionote-vcheck", 1, 0, 0],
  ["fuji-nx600__type-4", "fuji-dri-chem-nx-hl7", 4, 0, 4],
  ["mindray-bc5380__histograms", "generic-hl7", 27, 0, 18],
  ["mindray-bc20s__no-sender", "generic-hl7", 19, 0, 8],
  ["boule-exigo-h400__dog", "boule-exigo", 17, 2, 4],
  ["edan-h30__one-sample", "edan-h30", 9, 0, 0],
  ["siemens-clinitek-status__patient-strip", "siemens-clinitek", 12, 0, 0],
  ["biosystems-ba400__english-names", "biosystems-ba", 24, 0, 0],
];

describe.skipIf(!existsSync(folder))("every row of a capture", () => {
  test.each(CAPTURES)("%s by %s: %i rows are read, %i left out", (name, profile, read, leftOut, rest) => {
    const { reports } = played(name, profile);
    const rows = reports.flatMap((report) => report.rows);
    expect([rows.length, reports.flatMap((report) => report.leftOut).length]).toEqual([read, leftOut]);
    const sent = valuesSent(name);
    expect(sent).toHaveLength(read + leftOut + rest);
    // A value that no row has is in a reason or a comment. Pictures and unset values are named by their rows.
    const texts = new Set(rows.map(({ text }) => text));
    const others = reports.flatMap((report) => [...report.leftOut, ...report.comments, ...report.notes]).join("\n");
    const isListed = (value: string) => texts.has(value) || others.includes(value);
    const isEmpty = (value: string) => ["", "0", '""'].includes(value);
    expect(sent.filter((value) => !isEmpty(value) && !/Base64/.test(value) && !isListed(value))).toEqual([]);
  });

  test("a URIT-5160 with a year 0111 has the header's time, and its percentages are not counts", () => {
    const report = only(played("urit-5160__vendor-example", "urit-5160").reports);
    expect(report.acquired_at).toBe("2011-06-27T11:44:58.000Z");
    const codes = report.rows.map(({ code, value }) => [code, value]);
    expect(codes).toEqual(expect.arrayContaining(["LYMP", "NEUP"].map((code) => [code, expect.any(Number)])));
    expect(codes).toContainEqual(["LYM", 284.5]);
  });

  test("an Exigo's profile names the species in the clinic's language", () => {
    expect(only(played("boule-exigo-h400__dog", "boule-exigo").reports).species).toBe("dog");
  });

  test("the expired slide of an NX600 is a doubt", () => {
    const report = only(played("fuji-nx600__type-4", "fuji-dri-chem-nx-hl7").reports);
    expect(report.rows.map(({ comment }) => comment)).toEqual([
      "the slide is expired",
      undefined,
      undefined,
      undefined,
    ]);
    expect(report.sampleIds).toEqual(["ID000001", "123456799"]);
  });

  test("a control of a BS-200 is not for patients", () => {
    expect(played("mindray-bs200__qc", "mindray-bs").reading).toMatchObject({ is: "not-for-patients" });
  });
});
