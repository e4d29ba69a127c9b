import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { doctorText } from "../../../../agent/page/types/words/doctor-words.ts";

// The doctor's words on a Turkish page.

test("every title of a check has its Turkish", () => {
  const doctor = join(import.meta.dirname, "../../../../agent/doctor");
  const titles = globSync("**/*.ts", { cwd: doctor }).flatMap((file) =>
    [
      ...readFileSync(join(doctor, file), "utf8").matchAll(
        /(?:(?:config|spool)Check\(\s*"[^"]+",\s*|\btitle: )"(?<title>[^"]+)"/g,
      ),
    ].map(({ groups }) => groups?.["title"] ?? ""),
  );
  expect(titles.length).toBeGreaterThan(14);
  expect(titles.filter((title) => doctorText(title, "tr") === null)).toEqual([]);
});

test.each([
  [
    "2 of the last 8 results of hema-1 have codes that the catalogue lacks",
    "hema-1 cihazının son 8 sonucundan 2 tanesinin kodu katalogda yok",
  ],
  ["no message of blood-1 has ever arrived", "blood-1 cihazından hiç ileti gelmedi"],
  ["2 messages without a certain patient", "2 iletinin hastası kesin değil"],
  [
    'pims did not take the last result: the receiver cannot store it now (AE), "database busy"',
    'pims son sonucu almadı: alıcı şu anda kaydedemiyor (AE), "database busy"',
  ],
  ["pims did not take the last result: no acknowledgement in time", "pims son sonucu almadı: süresinde onay gelmedi"],
  [
    "write profile: generic-astm-raw for dry-1 in agent.yaml",
    "agent.yaml içinde dry-1 için profile: generic-astm-raw yazın",
  ],
])("%s", (english, turkish) => {
  expect([doctorText(english, "en"), doctorText(english, "tr")]).toEqual([english, turkish]);
});

test("a sentence without Turkish is not half translated", () => {
  expect(doctorText("the server is on fire", "tr")).toBe(null);
});
