import type { Bundle, BundleEntry, FhirResource } from "fhir/r4.js";

/** A response to a search. */
export interface SearchResponse {
  readonly base: string;
  /** The path and query of the request, below the base. */
  readonly self: string;
  /** The same of the next page. Null after the last one. */
  readonly next: string | null;
  /** Number of all matches; null if pages precede or follow. */
  readonly total: number | null;
  /** The time that a client sends as `_lastUpdated=ge` next, ms since 1970. Null for a list that does not change. */
  readonly cursor: number | null;
  readonly matches: readonly FhirResource[];
  readonly included: readonly FhirResource[];
  /** Number of records of this page that are damaged in the database. */
  readonly leftOut: number;
}

/** Makes the Bundle of a search. */
export function searchset(response: SearchResponse): Bundle {
  const { base, self, next, total, cursor, matches, included, leftOut } = response;
  const entry: BundleEntry[] = [
    ...matches.map((resource) => entryOf(base, resource, "match")),
    ...included.map((resource) => entryOf(base, resource, "include")),
    ...(leftOut === 0 ? [] : [{ search: { mode: "outcome" as const }, resource: incomplete(leftOut) }]),
  ];
  return {
    resourceType: "Bundle",
    ...(cursor === null ? {} : { meta: { lastUpdated: new Date(cursor).toISOString() } }),
    type: "searchset",
    ...(total === null ? {} : { total }),
    link: [
      { relation: "self", url: `${base}/${self}` },
      ...(next === null ? [] : [{ relation: "next", url: `${base}/${next}` }]),
    ],
    ...(entry.length === 0 ? {} : { entry }),
  };
}

function entryOf(base: string, resource: FhirResource, mode: "match" | "include"): BundleEntry {
  return { fullUrl: `${base}/${resource.resourceType}/${resource.id}`, search: { mode }, resource };
}

function incomplete(leftOut: number): FhirResource {
  const text = `${leftOut} records of this page are damaged in the database, and not in it.`;
  return { resourceType: "OperationOutcome", issue: [{ severity: "warning", code: "incomplete", details: { text } }] };
}
