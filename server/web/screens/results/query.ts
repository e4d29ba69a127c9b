import type { ResultFilters } from "../../../dashboard/types/results/results.ts";

// The filters of the list in the page's address, so that links, reload and the back button restore them.

const names = ["q", "patient", "device", "modality", "flag", "follow", "from", "to"] as const;

export type FilterName = (typeof names)[number];

/** Reads only the filters from the query of an address. */
export function filtersOf(query: Record<string, string>): ResultFilters {
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}

/** Returns the query text of filters, with `?` unless there is none. */
export function queryText(filters: object): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text === "" ? "" : `?${text}`;
}
