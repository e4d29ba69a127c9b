import { createHash } from "node:crypto";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { ucumOf } from "../../../shared/clinical/analytes/unit-spellings.ts";
import { unitText } from "../../../shared/clinical/units/unit-text.ts";
import type { Device, TestCode } from "./sources.ts";

// The resources of a LIVD bundle for a device and for each of its tests (HL7 LIVD 1.0.0 on FHIR R4).

export const LIVD = "http://hl7.org/fhir/uv/livd";
/** Base of this publication's own addresses. No server responds there. */
export const BASE = "https://vetwire.example/livd";

/** Returns the device, which refers to the tests that it is known to send. */
export function deviceDefinition({ profile, manufacturer, model }: Device, tests: readonly TestCode[]) {
  return {
    resourceType: "DeviceDefinition" as const,
    id: profile,
    manufacturerString: manufacturer,
    modelNumber: model,
    ...(tests.length > 0 && {
      capability: [
        {
          extension: tests.map((test) => ({
            url: `${LIVD}/StructureDefinition/ext-analyte`,
            valueReference: { reference: `ObservationDefinition/${testId(test)}` },
          })),
          type: { coding: [{ system: "http://hl7.org/fhir/resource-types", code: "ObservationDefinition" }] },
        },
      ],
    }),
  };
}

/** Returns a test of a device: its code, its name and its unit. */
export function observationDefinition(test: TestCode) {
  const { profile, code, analyte, unit } = test;
  return {
    resourceType: "ObservationDefinition" as const,
    id: testId(test),
    extension: [
      {
        url: `${LIVD}/StructureDefinition/ext-livd-devicedefinition`,
        valueReference: { reference: `DeviceDefinition/${profile}` },
      },
    ],
    code: {
      coding: [{ system: `${BASE}/CodeSystem/${profile}`, code, display: analyteByCode(analyte)?.name ?? code }],
    },
    ...(unit !== null && {
      quantitativeDetails: {
        unit: {
          coding: [{ system: "http://unitsofmeasure.org", code: ucumOf(unit) ?? unit }],
          ...(unitText(unit) !== "" && { text: unitText(unit) }),
        },
      },
    }),
  };
}

/** Returns an id that R4 allows and that stays when other tests come: of letters, digits and dashes, at most 64. */
export function testId({ profile, code, analyte, unit }: TestCode): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([code, analyte, unit]))
    .digest("hex");
  return `${profile}-${analyte}-${hash.slice(0, 8)}`;
}
