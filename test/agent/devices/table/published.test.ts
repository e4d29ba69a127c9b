import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { profiles } from "../../../../agent/devices/index.ts";
import { readProfileText, shippedForm, shippedProfiles } from "../../../../agent/devices/table/load.ts";
import { FileProfileForm, namedFileParts } from "../../../../agent/devices/table/file.ts";
import { namedParts, ProfileForm } from "../../../../agent/devices/table/schema.ts";
import { fixturesFolder } from "../../../support/runner/fixtures.ts";

// The repository publishes two things of the profiles: the schema of their files, and the table of devices. `npm run contract` writes both.

const DEVICES = join(import.meta.dirname, "../../../../agent/devices");
const SCHEMA = join(DEVICES, "profile.schema.json");
const README = join(DEVICES, "README.md");

function isUpdate(): boolean {
  return process.env["UPDATE_CONTRACT"] === "1";
}

/** The larger parts come first, because they hold the others. */
const parts = { ...namedFileParts, ...namedParts };

/** A file that extends a profile states what differs: its whole is checked when it is read. */
function publishedSchema(): object {
  const names = new Map(Object.entries(parts).map(([name, part]) => [JSON.stringify(part), name]));
  const named = (value: unknown, isPart = true): unknown => {
    const name = isPart ? names.get(JSON.stringify(value)) : undefined;
    if (name !== undefined) return { $ref: `#/$defs/${name}` };
    if (Array.isArray(value)) return value.map((each) => named(each));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, named(each)]));
  };
  const formOf = (schema: object) =>
    named(JSON.parse(JSON.stringify(schema))) as { readonly properties: Record<string, object> };
  const [form, file] = [formOf(ProfileForm), formOf(FileProfileForm)];
  const { schema, profile, revision } = form.properties;
  const base = { type: "string", pattern: "^[a-z0-9][a-z0-9-]{0,62}@[1-9][0-9]{0,5}$" };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Profile of a device",
    $defs: Object.fromEntries(
      Object.entries(parts).map(([name, part]) => [name, named(JSON.parse(JSON.stringify(part)), false)]),
    ),
    anyOf: [
      form,
      file,
      {
        type: "object",
        properties: { schema, profile, revision, extends: base },
        required: ["schema", "profile", "revision", "extends"],
        propertyNames: {
          enum: [...new Set([...Object.keys(form.properties), ...Object.keys(file.properties), "extends"])],
        },
      },
    ],
  };
}

const texts = ["astm", "hl7", "text", "file"].flatMap((protocol) =>
  readdirSync(join(DEVICES, protocol))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => [`${protocol}/${name}`, readFileSync(join(DEVICES, protocol, name), "utf8")] as const),
);

test("the published schema is that of the form", () => {
  if (isUpdate()) writeFileSync(SCHEMA, JSON.stringify(publishedSchema(), null, 2));
  expect(JSON.parse(readFileSync(SCHEMA, "utf8"))).toEqual(publishedSchema());
});

test("each shipped file is valid by the published schema, and a misspelled key is not", () => {
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(SCHEMA, "utf8")) as object);
  for (const { form } of shippedProfiles().values()) {
    expect([form.profile, validate(form), validate.errors]).toEqual([form.profile, true, null]);
    expect(validate({ ...form, recognise: {} })).toBe(false);
  }
  const own = { schema: 1, profile: "own/acme", revision: 1, extends: "generic-hl7@1", orders: null };
  expect(validate(own)).toBe(true);
  expect(validate({ ...own, order: {} })).toBe(false);
  expect(validate({ ...own, extends: "own/other@1" })).toBe(false);
});

test.each(texts)("%s states its evidence, and a capture lies in the fixtures if it says so", (name, text) => {
  const folder = join(fixturesFolder, name.replace(/^.*\/|\.yaml$/g, ""));
  const captures = readdirSync(folder).filter((file) => !file.endsWith(".json")).length;
  const read = readProfileText(text, name, captures);
  const form = shippedForm(name.replace(/^.*\/|\.yaml$/g, ""));
  expect(form?.evidence).toMatchObject({ state: expect.any(String), protocol: expect.any(String) });
  // The program starts without these checks, and reads the same.
  expect(read).toMatchObject({ form });
});

type Evidence = Omit<NonNullable<ProfileForm["evidence"]>, "also">;

const FUJI = "BCC and ETB on a wire, types 3, A, B, marks but H, controls, urine, orders";

/** Profiles that are code, and devices without a profile of results. */
const OF_CODE: Readonly<Record<string, Evidence>> = {
  "mindray-bc2800vet": proof(
    "Mindray BC-2800Vet",
    "own serial protocol",
    "printout",
    "also the document",
    "18 of 18",
    "other species, QC",
  ),
  "mindray-bc2800vet-one-way": proof(
    "Mindray BC-2800Vet, one-way",
    "own serial protocol",
    "printout",
    "also the document",
    "18 of 18",
    "other species, QC",
  ),
  "fuji-dri-chem-nx": proof(
    "Fujifilm DRI-CHEM NX500, NX600, NX700",
    "text with BCC",
    "capture",
    "log, document 027-004-01E",
    "15 of 15",
    FUJI,
  ),
  "fuji-au": proof("Fujifilm IMMUNO AU10V, AU20V", "text with BCC", "document", "Z39N201285C", "", "all on a device"),
  mythic: proof(
    "Abbott CELL-DYN Emerald, Orphée Mythic 18, 22, Vet",
    "lines with CRC",
    "capture",
    "log, notes on documents",
    "22 of 22",
    "Vet models, one-line header (notes), dialogue on a wire, controls, unit of PDW, unit systems 0 and 2",
  ),
  "hti-microcc-20": proof(
    "HTI MicroCC-20 Plus Vet",
    "text with sums",
    "capture",
    "log",
    "20 of 20",
    "identifier's place, sums of histograms, line ends, serial format, other species, controls",
  ),
  "generic-poct1a": proof(
    "any point-of-care device with POCT1-A over TCP",
    "POCT1-A",
    "document",
    "notes of vendors, one DCA session",
    "",
    "all on a device",
  ),
  "practice-system": proof(
    "practice software",
    "HL7 ADT, ORM^O01, OML^O21 over MLLP",
    "parser",
    "sources of OpenVPMS and dcm4chee",
    "",
    "all with a real system",
  ),
  "practice-files": proof(
    "practice software that exports lists",
    "CSV, text and xlsx in a folder",
    "unverified",
    "own files",
    "",
    "all with a real system",
  ),
  dicom: proof("imaging devices", "DICOM", "parser", "DCMTK 3.6.7", "", "all on a device"),
};

function proof(
  models: string,
  protocol: string,
  state: Evidence["state"],
  source: string,
  read: string,
  unverified: string,
): Evidence {
  return { models, protocol, state, source, read, unverified: [unverified] };
}

function deviceTable(): string {
  const ids = [...profiles.map(({ id }) => id), "dicom"];
  const rows = ids.flatMap((id) => {
    const form = shippedForm(id);
    const { also = [], ...first } = form?.evidence ?? { ...OF_CODE[id]! };
    const models = first.models ?? form?.device.name;
    return [{ ...first, models }, ...also].map(({ state, source, read = "", unverified = [], ...row }) => {
      const evidence = source === undefined ? state : `${state} (${source})`;
      return `| ${row.models} | ${first.protocol} | \`${id}\` | ${evidence} | ${read} | ${unverified.join(", ")} |`;
    });
  });
  const head = "| device | protocol | profile | evidence | read | unverified |\n| --- | --- | --- | --- | --- | --- |";
  return [head, ...rows].join("\n").replaceAll(/ +\|/g, " |");
}

test("the table of devices is that of the files, with a row for each profile", () => {
  const readme = readFileSync(README, "utf8");
  const table = /^\| device \| protocol [^]*?(?=\n\n)/m;
  if (isUpdate())
    writeFileSync(
      README,
      readme.replace(table, () => deviceTable()),
    );
  expect(table.exec(readFileSync(README, "utf8"))?.[0]).toBe(deviceTable());
});

test("what is data, data with a capability, and code", () => {
  const forms = [...shippedProfiles().values()].map(({ form }) => form);
  const withCapability = forms
    .filter((form) => "capabilities" in form && form.capabilities !== undefined)
    .map(({ profile }) => profile);
  expect({ data: forms.length - withCapability.length, withCapability }).toEqual({
    data: 35,
    withCapability: [
      "generic-astm",
      "radiometer-abl9",
      "bionote-vcheck-m10",
      "bionote-vcheck",
      "fuji-dri-chem-nx-hl7",
      "mindray-bs",
    ],
  });
  const ofCode = profiles.filter(({ id }) => shippedForm(id) === null).map(({ id }) => id);
  expect([...ofCode, "dicom"].toSorted()).toEqual(Object.keys(OF_CODE).toSorted());
});
