import { expect, test } from "vitest";
import { checkConfig } from "../../../../agent/config/check.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";
import { makeCertificates } from "../../../support/peers/certificates.ts";
import fs from "node:fs";
import { Compile } from "typebox/compile";
import { AgentDestinations } from "../../../../shared/api/agent/destinations.ts";

const PIN = `sha256/${"A".repeat(43)}=`;

function check(...destinations: readonly object[]) {
  const folder = temporaryFolder();
  fs.writeFileSync(`${folder}/agent.key`, "sk_live_test\n", { mode: 0o600 });
  const server = { url: "https://v.example", keyFile: "agent.key" };
  const text = JSON.stringify({ server, data: "data", timeZone: "UTC", devices: [], destinations });
  return { folder, result: checkConfig(text, folder) };
}

const problemsOf = (...destinations: readonly object[]) => {
  const { result } = check(...destinations);
  return "problems" in result ? result.problems.map(({ message }) => message) : [];
};

test("a destination of results is practice software or a folder, apart from the archives of images", () => {
  const pims = { id: "pims", kind: "hl7", dial: "192.168.1.9:6661" };
  const { result } = check(
    pims,
    {
      ...pims,
      id: "far",
      tls: { pin: PIN },
      nameOrder: "animal-first",
      localFirst: true,
      pdf: true,
      facility: "CLINIC",
    },
    { id: "sheet", kind: "csv", folder: "/srv/results" },
    { id: "pacs", dial: "192.168.1.10:104", aeTitle: "PACS" },
  );
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  expect(result.config.resultDestinations).toEqual([
    { id: "pims", kind: "hl7", address: { host: "192.168.1.9", port: 6661 }, tls: null, options: {} },
    {
      id: "far",
      kind: "hl7",
      address: { host: "192.168.1.9", port: 6661 },
      tls: { pin: PIN },
      options: { name_order: "animal_first", local_first: true, pdf: true, facility: "CLINIC" },
    },
    { id: "sheet", kind: "csv", folder: "/srv/results" },
  ]);
  expect(result.config.destinations.map(({ id }) => id)).toEqual(["pacs"]);
});

test("an authority is a file that can be read, relative to agent.yaml", () => {
  const folder = temporaryFolder();
  const { ca } = makeCertificates(folder);
  const { result } = check({ id: "pims", kind: "hl7", dial: "pims:6661", tls: { ca } });
  expect("config" in result && result.config.resultDestinations[0]).toMatchObject({ tls: { ca } });
  expect(problemsOf({ id: "pims", kind: "hl7", dial: "pims:6661", tls: { ca: "none.pem" } })).toEqual([
    expect.stringMatching(/^destinations\[0\]\.tls\.ca cannot be used: .*none\.pem/),
  ]);
});

test("the server takes as many destinations as agent.yaml may have", () => {
  const destinations = Array.from({ length: 100 }, (_, index) => ({
    id: `d-${index}`,
    kind: "csv",
    folder: "/srv/results",
  }));
  expect(problemsOf(...destinations)).toEqual([]);
  expect(problemsOf(...destinations, { id: "more", kind: "csv", folder: "/srv/results" })).toHaveLength(1);
  expect(Compile(AgentDestinations).Check({ destinations })).toBe(true);
});

test.each<[string, object, readonly string[]]>([
  ["TLS as a yes", { kind: "hl7", dial: "1.2.3.4:5", tls: true }, ["destinations[0].tls is true, expected an object"]],
  [
    "no port",
    { kind: "hl7", dial: "1.2.3.4:0" },
    ['destinations[0].dial is "1.2.3.4:0", expected host:port such as 192.168.1.9:6661'],
  ],
  [
    "a short pin",
    { kind: "hl7", dial: "1.2.3.4:5", tls: { pin: "sha256/AA=" } },
    ['destinations[0].tls.pin is "sha256/AA=", expected sha256/ and 44 characters of base64, as pairing writes it'],
  ],
  [
    "an application with a delimiter",
    { kind: "hl7", dial: "1.2.3.4:5", application: "A|B" },
    ['destinations[0].application is "A|B", expected 1 to 180 characters without the delimiters of HL7'],
  ],
  [
    "an order of names that there is not",
    { kind: "hl7", dial: "1.2.3.4:5", nameOrder: "animal_first" },
    ['destinations[0].nameOrder is "animal_first", expected one of owner-first, animal-first'],
  ],
  [
    "a word for a switch",
    { kind: "hl7", dial: "1.2.3.4:5", pdf: "yes" },
    ['destinations[0].pdf is "yes", expected a boolean'],
  ],
  [
    "an id with capitals",
    { id: "PIMS", kind: "csv", folder: "/srv/results" },
    ['destinations[0].id is "PIMS", expected lower-case letters, digits and dashes such as chem-1, at most 63'],
  ],
  ["no address", { kind: "hl7" }, ["destinations[0] has no dial, which kind: hl7 needs"]],
  [
    "a wrong address",
    { kind: "hl7", dial: "pims" },
    ['destinations[0].dial is "pims", expected host:port such as 192.168.1.9:6661'],
  ],
  ["no folder", { kind: "csv" }, ["destinations[0] has no folder, which kind: csv needs"]],
  [
    "a relative folder",
    { kind: "csv", folder: "results" },
    [
      "destinations[0].folder is results, expected a complete path such as C:\\Results, \\\\server\\results or /srv/results",
    ],
  ],
  [
    "keys of the other kind",
    { kind: "csv", folder: "/srv/results", dial: "1.2.3.4:5", pdf: true },
    ["destinations[0].dial has no effect with kind: csv", "destinations[0].pdf has no effect with kind: csv"],
  ],
  ["an unknown kind", { kind: "xml", dial: "1.2.3.4:5" }, ['destinations[0].kind is "xml", expected one of hl7, csv']],
  [
    "two ways to trust",
    { kind: "hl7", dial: "1.2.3.4:5", tls: { ca: "none.pem", pin: PIN } },
    [
      "destinations[0].tls has ca and pin, expected one",
      expect.stringMatching(/^destinations\[0\]\.tls\.ca cannot be used/),
    ],
  ],
  [
    "no kind",
    { folder: "/srv/results" },
    ["destinations[0].folder belongs to destinations of results: add kind: hl7 or kind: csv"],
  ],
  [
    "an unknown key of tls",
    { kind: "hl7", dial: "1.2.3.4:5", tls: { pn: PIN } },
    ["destinations[0].tls.pn is an unknown key, did you mean pin?"],
  ],
])("a destination with %s is a problem that names its remedy", (_, destination, problems) => {
  expect(problemsOf({ id: "pims", ...destination })).toEqual(problems);
});
