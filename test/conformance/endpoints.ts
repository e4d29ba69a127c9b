import { patients, soaps, studies } from "./data.ts";
import type { KeyName } from "./server.ts";

// The documented endpoints.

export interface Endpoint {
  readonly path: string;
  readonly header: "x-api-key" | "authorization";
  /** The keys with a single permission that open it. */
  readonly openedBy: readonly KeyName[];
}

export const endpoints: readonly Endpoint[] = [
  { path: "/api/v1/patients", header: "x-api-key", openedBy: ["patient"] },
  { path: `/api/v1/patients/${patients.shared.fp}`, header: "x-api-key", openedBy: ["patient"] },
  { path: "/api/v1/soap", header: "authorization", openedBy: ["patient", "soap"] },
  { path: `/api/v1/soap/${soaps.signed.fp}`, header: "authorization", openedBy: ["patient", "soap"] },
  { path: "/api/v1/lab/analytes", header: "authorization", openedBy: ["patient", "lab"] },
  { path: "/api/v1/lab/diagnostics", header: "authorization", openedBy: ["patient", "lab"] },
  { path: `/api/v1/lab/diagnostics/${studies.full.fp}`, header: "authorization", openedBy: ["patient", "lab"] },
  { path: "/api/v1/calendar/events", header: "x-api-key", openedBy: ["calendar"] },
  { path: "/api/v1/inventory", header: "x-api-key", openedBy: ["inventory"] },
  { path: "/api/v1/changes", header: "x-api-key", openedBy: ["patient", "lab", "soap", "calendar", "inventory"] },
  { path: "/api/v1/events", header: "x-api-key", openedBy: ["patient", "lab", "soap", "calendar", "inventory"] },
];
