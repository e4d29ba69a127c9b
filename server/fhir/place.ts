import type { Place } from "./resources/facts.ts";

/** Makes the addresses and systems of a server from the start of its addresses, such as `https://vetwire.example.com`. */
export function placeOf(origin: string): Place {
  return {
    base: `${origin}/fhir/R4`,
    systemOf: (kind) => `${origin}/id/${kind}`,
    sourceSystem: (source, kind) => `${origin}/id/${kind}/${encodeURIComponent(source)}`,
    reportUrl: (studyFp) => `${origin}/api/v1/lab/diagnostics/${studyFp}/report.pdf`,
  };
}
