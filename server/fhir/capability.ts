import type { CapabilityStatement, CapabilityStatementRestResource } from "fhir/r4.js";
import { parameterNames, SEARCHES, type SearchType } from "./search/searches.ts";

/** The day on which this statement last changed. */
const CHANGED = "2026-11-29";

const PARAMETER_TYPES: Readonly<Record<string, "token" | "date" | "reference">> = {
  _id: "token",
  identifier: "token",
  _lastUpdated: "date",
  patient: "reference",
  subject: "reference",
  date: "date",
  authored: "date",
  started: "date",
};

const DOCUMENTATION =
  "Read only. A key of the clinic as for /api/v1 opens it: `Authorization: Bearer sk_live_...`. A client that mirrors a clinic asks " +
  "with `_lastUpdated=ge` and the `meta.lastUpdated` of its last Bundle, follows the next links, and reads " +
  "`/api/v1/changes` for what left the lists. An unknown parameter is an error, since ignoring it would return other animals.";

/** Makes the statement of what this server offers at `base`. */
export function capabilityStatement(base: string): CapabilityStatement {
  return {
    resourceType: "CapabilityStatement",
    status: "active",
    date: CHANGED,
    kind: "instance",
    software: { name: "Vetwire" },
    implementation: { description: "Animals, their studies and orders of a veterinary clinic", url: base },
    fhirVersion: "4.0.1",
    format: ["application/fhir+json"],
    rest: [
      {
        mode: "server",
        documentation: DOCUMENTATION,
        security: { description: "API keys of Settings, API keys, with clinic.patient.view or clinic.lab.view." },
        resource: (Object.keys(SEARCHES) as SearchType[]).map(resourceOf),
      },
    ],
  };
}

function resourceOf(type: SearchType): CapabilityStatementRestResource {
  const { includes } = SEARCHES[type];
  return {
    type,
    interaction: [{ code: "read" }, { code: "search-type" }],
    versioning: "no-version",
    readHistory: false,
    ...(includes.length === 0 ? {} : { searchInclude: includes.map((name) => `${type}:${name}`) }),
    searchParam: parameterNames(type).flatMap((name) => {
      const kind = PARAMETER_TYPES[name];
      return kind === undefined ? [] : [{ name, type: kind }];
    }),
  };
}
