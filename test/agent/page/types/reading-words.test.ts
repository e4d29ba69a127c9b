import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readingText } from "../../../../agent/page/types/words/reading-words.ts";
import { fixturesFolder } from "../../../support/runner/fixtures.ts";

// The agent's sentences about its reading are in the language of its page.

test.each([
  [
    'no patient has the identifier "9001"; unmapped: XK2^Own test, 718-7^HGB',
    '"9001" numaralı hasta yok; bilinmeyen kod: XK2^Own test, 718-7^HGB',
  ],
  ["ALB has no final value: preliminary (R-9 is P)", "ALB için kesin değer yok: ön sonuç (R-9: P)"],
  [
    "no result could be read: BUN has no final value: the device reports error 1; ALT has no value: no value",
    "hiçbir sonuç okunamadı: BUN için kesin değer yok: cihaz 1 hatasını bildiriyor; ALT için değer yok: değer yok",
  ],
  ["no unit for WBC, expected 10*9/L or 10*3/uL", "WBC için birim yok, beklenen ×10⁹/L veya ×10³/µL"],
  ["patient_fp is null, expected the patient's fp", "gönderen hasta belirtmedi"],
  ["incomplete: the session ended before the L record", "eksik: oturum L kaydından önce bitti"],
  ["incomplete: the connection closed within a segment", "eksik: bağlantı bir bölümün ortasında kapandı"],
  ["incomplete: the device fell silent for 5 s within a segment", "eksik: cihaz bir bölümün ortasında 5 s sustu"],
  [
    "incomplete: segments without their header: the device may have paused within a message",
    "eksik: başlığı olmayan bölümler: cihaz bir mesajın ortasında durmuş olabilir",
  ],
])("%s", (stored, turkish) => {
  expect(readingText(stored, "tr")).toBe(turkish);
});

test("an unknown sentence has no words, not half of them", () => {
  expect(readingText("no results; xyzzy", "tr")).toBe(null);
});

interface Profile {
  readonly statuses?: Readonly<Record<string, string | { readonly notFinal?: string }>>;
  readonly rows?: readonly { readonly reason?: string }[];
}

test("every reason of a shipped profile for a row without a result has its Turkish", () => {
  const devices = join(import.meta.dirname, "../../../../agent/devices");
  const reasons = globSync("*/*.yaml", { cwd: devices }).flatMap((file) => {
    const { statuses = {}, rows = [] } = parse(readFileSync(join(devices, file), "utf8"), {
      schema: "core",
    }) as Profile;
    const ofStatuses = Object.values(statuses).flatMap((one) => (typeof one === "string" ? [] : (one.notFinal ?? [])));
    return [
      ...ofStatuses.map((words) => `ALT has no final value: ${words} (R-9 is N)`),
      ...rows.flatMap(({ reason }) =>
        reason === undefined ? [] : `ALT has no final value: ${reason.replace(/\{.*\}/, "X")}`,
      ),
    ];
  });
  expect(reasons.length).toBeGreaterThan(3);
  const untranslated = reasons.filter((reason) => /rejected|device|capacity/.test(readingText(reason, "tr") ?? reason));
  expect(untranslated).toEqual([]);
});

/** Sentences about the bytes of one format, which support reads. */
const OF_THE_FORMAT =
  /column|unexpected close tag|characters, expected|expected (?:result|name)|a line is|a body of|line \d|does not follow|an item is|a result is|the condition is|BCC|END_RESULT/;

test("every note and reason of the recordings has its Turkish, but for those about the bytes of a format", () => {
  const found = globSync("**/*.json", { cwd: fixturesFolder }).flatMap((file) => {
    const sentences: string[] = [];
    JSON.parse(readFileSync(join(fixturesFolder, file), "utf8"), (key, value: unknown) => {
      if (["notes", "leftOut"].includes(key)) sentences.push(...(value as string[]));
      if (key === "reason" && typeof value === "string") sentences.push(value);
      return value;
    });
    return sentences;
  });
  expect(found.length).toBeGreaterThan(100);
  expect([...new Set(found)].filter((one) => readingText(one, "tr") === null && !OF_THE_FORMAT.test(one))).toEqual([]);
});

test("every protocol that the detection names has its Turkish", () => {
  const detection = join(import.meta.dirname, "../../../../agent/devices/detection");
  const protocols = globSync("*.ts", { cwd: detection }).flatMap((file) =>
    [...readFileSync(join(detection, file), "utf8").matchAll(/\bprotocol: "([^"]+)"(?! \|)/g)].map(
      ([, name = ""]) => name,
    ),
  );
  expect(protocols.length).toBeGreaterThan(10);
  expect(protocols.filter((name) => readingText(name, "tr") === null)).toEqual([]);
});
