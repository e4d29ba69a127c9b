import type { AuditRow } from "../records/audit/audit.ts";
import type { HeaderList } from "./response-headers.ts";

/** A complete response to GET: body, headers and ETag. */
export interface CachedResponse {
  /** One character per byte (latin1). Node writes a string together with the headers, and a Buffer in a second write. */
  readonly body: string;
  readonly etag: string;
  /** All headers of the body except the ETag. */
  readonly headers: HeaderList;
  readonly subject: Subject;
}

/** A cached response, and the status that this client gets: 304 if it already has the body. */
export interface CacheHit {
  readonly response: CachedResponse;
  readonly status: 200 | 304;
}

/** The requested record, or the number of records in a list, for the audit trail. */
export type Subject = Pick<AuditRow, "route" | "fp" | "count">;
