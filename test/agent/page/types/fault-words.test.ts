import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reasonOf } from "../../../../shared/api/reason.ts";
import { lineText } from "../../../../shared/network/line-reasons.ts";
import { faultText } from "../../../../agent/page/types/words/fault-words.ts";

// The sentences with which the agent's page refuses something, on a Turkish page.

/** Only a program meets these: the page has no place that shows them. */
const OF_PROGRAMS = [
  "another site's page sent this request",
  "the body is not JSON",
  "before is not the number of a row",
  "this device is not configured, or it sends files",
  "chem-1 pages are open already: close one",
];

/** The page for the PIN has words for their codes. */
const WITH_CODE = /PIN/;

test("every sentence of the routes and of the set-up has its Turkish", () => {
  const agent = join(import.meta.dirname, "../../../../agent");
  const sentences = globSync(["page/routes/**/*.ts", "page/page-app.ts", "setup/steps.ts"], { cwd: agent }).flatMap(
    (file) =>
      [
        ...readFileSync(join(agent, file), "utf8").matchAll(
          /(?:new PageError\(\d+, |fault: |fault = )(?<quote>["`])(?<sentence>(?:(?!\k<quote>).)+)\k<quote>/gu,
        ),
      ].map(({ groups }) => (groups?.["sentence"] ?? "").replace(/\$\{[^}]+\}/g, "chem-1")),
  );
  expect(sentences.length).toBeGreaterThan(30);
  const untranslated = sentences.filter((sentence) => faultText(sentence, "tr") === null);
  expect(untranslated.filter((sentence) => !OF_PROGRAMS.includes(sentence) && !WITH_CODE.test(sentence))).toEqual([]);
});

test.each([
  [
    "chem-1 is no longer in the configuration: load the page again",
    "chem-1 artık yapılandırmada yok: sayfayı yeniden yükleyin",
  ],
  [
    "the server cannot be reached: nothing listens there (ECONNREFUSED): check the address and the network, and that the server runs, then try again with the same code",
    "sunucuya ulaşılamıyor: orada dinleyen yok (ECONNREFUSED): adresi, ağı ve sunucunun çalıştığını denetleyin, sonra aynı kodla yeniden deneyin",
  ],
  [
    `timeZone is "Europe/Atlantis", expected an IANA time zone such as Europe/Istanbul`,
    "timeZone “Europe/Atlantis”, Europe/Istanbul gibi bir saat dilimi bekleniyordu",
  ],
  [
    `cannot open: no such port /dev/ttyUSB0: plug its adapter in, or take a path that "agent ports" lists`,
    `açılamıyor: ${lineText(reasonOf("PORT.MISSING", "/dev/ttyUSB0"), "tr")}`,
  ],
  [
    "cannot listen: port 5600 is in use by another program: end that program, or choose another port",
    `dinlenemiyor: ${lineText(reasonOf("LISTEN.IN_USE", "5600"), "tr")}`,
  ],
  [
    "cannot listen: port 5600 is in use by node, nginx: end that program, or choose another port",
    `dinlenemiyor: ${lineText(reasonOf("LISTEN.IN_USE", "5600", "node", "nginx"), "tr")}`,
  ],
  [
    "this looks like Abaxis VetScan VS2 (abaxis-vetscan-vs2), not generic-hl7: choose abaxis-vetscan-vs2, or insist on generic-hl7",
    "bu generic-hl7 değil, Abaxis VetScan VS2 (abaxis-vetscan-vs2) gibi görünüyor: abaxis-vetscan-vs2 seçin ya da generic-hl7 için ısrar edin",
  ],
])("%s", (english, turkish) => {
  expect([faultText(english, "tr"), faultText(english, "en")]).toEqual([turkish, null]);
});

test("a sentence without Turkish stays whole", () => {
  expect(faultText("the disk is odd (EODD)", "tr")).toBe(null);
});
