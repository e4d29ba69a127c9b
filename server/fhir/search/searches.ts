// The types of resources and what R4 calls their search parameters. The CapabilityStatement is made of this table.

export type SearchType =
  | "Patient"
  | "DiagnosticReport"
  | "Observation"
  | "Specimen"
  | "Device"
  | "ServiceRequest"
  | "ImagingStudy";

interface SearchTerms {
  /** The name of its date. Null for a type without one. */
  readonly date: string | null;
  /** Whether it belongs to an animal. */
  readonly subject: boolean;
  /** Results have no number of their own. */
  readonly identifier: boolean;
  readonly includes: readonly string[];
}

export const SEARCHES: Readonly<Record<SearchType, SearchTerms>> = {
  Patient: { date: null, subject: false, identifier: true, includes: [] },
  DiagnosticReport: {
    date: "date",
    subject: true,
    identifier: true,
    includes: ["subject", "patient", "result", "specimen", "based-on"],
  },
  Observation: {
    date: "date",
    subject: true,
    identifier: false,
    includes: ["subject", "patient", "specimen", "device", "based-on"],
  },
  // The time at which a sample was taken is not known.
  Specimen: { date: null, subject: true, identifier: true, includes: ["subject", "patient"] },
  Device: { date: null, subject: false, identifier: true, includes: [] },
  ServiceRequest: { date: "authored", subject: true, identifier: true, includes: ["subject", "patient"] },
  ImagingStudy: { date: "started", subject: true, identifier: true, includes: ["subject", "patient", "basedon"] },
};

/** Names of the parameters that a type has. */
export function parameterNames(type: SearchType): string[] {
  const { date, subject, identifier, includes } = SEARCHES[type];
  return [
    ...["_id", "_count"],
    // A device has no time of a change: it is a name.
    ...(type === "Device" ? [] : ["_lastUpdated"]),
    ...(identifier ? ["identifier"] : []),
    ...(subject ? ["patient", "subject"] : []),
    ...(date === null ? [] : [date]),
    ...(includes.length === 0 ? [] : ["_include"]),
  ];
}
