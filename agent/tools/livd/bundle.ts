import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { BASE, deviceDefinition, LIVD, observationDefinition, testId } from "./definitions.ts";
import { loincTargets } from "./loinc-targets.ts";
import type { Device, TestCode } from "./sources.ts";

// The LIVD publication of the devices that Vetwire reads: the tests of each device with their LOINC codes.

const LOINC = "http://loinc.org";
/** The lists in which the names were read state no release of LOINC. */
const LOINC_VERSION = "unspecified";
const NOTICE =
  "This material contains content from LOINC (http://loinc.org). LOINC is copyright © Regenstrief Institute, Inc. and the Logical Observation Identifiers Names and Codes (LOINC) Committee and is available at no cost under the license at http://loinc.org/license. LOINC® is a registered United States trademark of Regenstrief Institute, Inc.";
const PUBLISHER = "Vetwire";
const IDENTIFIER = { system: BASE, value: "vetwire-devices", assigner: { display: PUBLISHER } };
const VALUE_SET = `${BASE}/ValueSet/loinc`;

export interface Publication {
  readonly devices: readonly Device[];
  readonly tests: readonly TestCode[];
  /** Version of the program. */
  readonly version: string;
  /** Day of the publication: `2026-11-29`. */
  readonly date: string;
}

/** Makes the bundle of HL7 LIVD 1.0.0. */
export function livdBundle({ devices, tests, version, date }: Publication) {
  const definitions = devices.map((device) =>
    deviceDefinition(
      device,
      tests.filter(({ profile }) => profile === device.profile),
    ),
  );
  const observations = tests.map(observationDefinition);
  const map = conceptMap(tests);
  const sections = { devices: definitions, "observation-definitions": observations, "concept-map": [map] };
  const resources = [
    composition(sections, { version, date }),
    ...definitions,
    ...observations,
    map,
    valueSet(tests, version),
  ];
  return {
    resourceType: "Bundle" as const,
    identifier: IDENTIFIER,
    type: "collection" as const,
    entry: resources.map((resource) => ({ fullUrl: `${BASE}/${resource.resourceType}/${resource.id}`, resource })),
  };
}

const TITLES = {
  devices: "Devices",
  "observation-definitions": "Tests of the devices",
  "concept-map": "LOINC codes of the tests",
};
type Section = keyof typeof TITLES;
type Identified = { readonly resourceType: string; readonly id: string };

function composition(
  sections: Readonly<Record<Section, readonly Identified[]>>,
  { version, date }: Pick<Publication, "version" | "date">,
) {
  return {
    resourceType: "Composition" as const,
    id: "vetwire-devices",
    language: "en",
    extension: [
      { url: `${LIVD}/StructureDefinition/ext-version`, valueCodeableConcept: { text: version } },
      {
        url: `${LIVD}/StructureDefinition/ext-language`,
        valueCodeableConcept: { coding: [{ system: "urn:ietf:bcp:47", code: "en" }] },
      },
    ],
    identifier: IDENTIFIER,
    status: "final",
    type: {
      coding: [{ system: LOINC, version: LOINC_VERSION, code: "90370-8", display: "LIVD mapping data set" }],
    },
    date,
    author: [{ display: PUBLISHER }],
    title: "Veterinary analyzers that Vetwire reads, with LOINC codes",
    section: (Object.keys(TITLES) as Section[]).map((code) => ({
      title: TITLES[code],
      code: { coding: [{ system: `${LIVD}/CodeSystem/livd-section-type`, code }] },
      entry: sections[code].map(({ resourceType, id }) => ({ reference: `${resourceType}/${id}` })),
    })),
  };
}

/** Maps each test, by the id of its ObservationDefinition. A test without a known LOINC code has no target. */
function conceptMap(tests: readonly TestCode[]) {
  return {
    resourceType: "ConceptMap" as const,
    id: "vetwire-loinc",
    url: `${BASE}/ConceptMap/vetwire-loinc`,
    name: "VetwireDeviceTestsToLoinc",
    status: "active",
    sourceUri: `${BASE}/ObservationDefinition`,
    targetCanonical: VALUE_SET,
    group: [
      {
        target: LOINC,
        element: tests.map((test) => {
          const targets = targetsOf(test).map(({ specimen, ...target }) => ({
            ...target,
            dependsOn: [
              { property: "specimen", value: specimen },
              { property: "result", value: test.unit ?? "rank or word" },
            ],
          }));
          return { code: testId(test), display: test.code, ...(targets.length > 0 && { target: targets }) };
        }),
      },
    ],
  };
}

function valueSet(tests: readonly TestCode[], version: string) {
  const concepts = new Map(tests.flatMap(targetsOf).map(({ code, display }) => [code, display]));
  return {
    resourceType: "ValueSet" as const,
    id: "loinc",
    url: VALUE_SET,
    version,
    name: "VetwireLoincCodes",
    status: "active",
    copyright: NOTICE,
    compose: {
      include: [
        {
          system: LOINC,
          version: LOINC_VERSION,
          concept: [...concepts].map(([code, display]) => ({ code, display })),
        },
      ],
    },
  };
}

function targetsOf({ analyte: code, unit }: TestCode) {
  const analyte = analyteByCode(code);
  return analyte === undefined ? [] : loincTargets(analyte, unit);
}
