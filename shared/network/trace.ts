import { AsyncLocalStorage } from "node:async_hooks";
import { createHash, randomUUID } from "node:crypto";

// W3C Trace Context, level 1 (www.w3.org/TR/trace-context-1): an agent, a server and the receiver of a webhook name the way of one
// result by one trace id. `tracestate` belongs to other vendors, and is not passed on (section 3.5 allows it).

/** One step of a way: a push of an agent, a request at the server, an attempt of a webhook. */
export interface Trace {
  /** 32 hexadecimal digits, the same for the complete way. */
  readonly traceId: string;
  /** 16 hexadecimal digits, of this step alone. */
  readonly spanId: string;
  /** The step that caused this one; null for the first. */
  readonly parentId: string | null;
  /** Whether the caller may record its steps. Who records follows it. */
  readonly isSampled: boolean;
}

const current = new AsyncLocalStorage<Trace | undefined>();

/** Runs the work, and all that it awaits, as a step of a trace. */
export function inTrace<T>(trace: Trace | undefined, work: () => T): T {
  return current.run(trace, work);
}

/** @returns the step in which this runs; undefined outside of any */
export function currentTrace(): Trace | undefined {
  return current.getStore();
}

/** Begins a trace. With a name its id is always the same, so that repetitions of a delivery are one trace. */
export function beginTrace(name?: string): Trace {
  const traceId = name === undefined ? randomHex() : createHash("sha256").update(name).digest("hex").slice(0, 32);
  return { traceId, spanId: newSpanId(), parentId: null, isSampled: true };
}

/** Begins a step that the caller of `traceparent` caused. Without a valid one it begins a trace (section 4.3). */
export function continueTrace(traceparent: string | string[] | null | undefined): Trace {
  const [, version, traceId, parentId, flags, more] = FORM.exec(String(traceparent)) ?? [];
  // Later versions may append fields to those of version 00 (section 3.2.4).
  if (traceId === undefined || parentId === undefined || (version === "00" && more !== undefined)) return beginTrace();
  const isSampled = (Number.parseInt(flags ?? "", 16) & SAMPLED) !== 0;
  return { traceId, spanId: newSpanId(), parentId, isSampled };
}

/** Version ff and ids of zeros alone are invalid (section 3.2.2). */
const FORM = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** @returns the header by which the receiver continues the trace */
export function traceparentOf({ traceId, spanId, isSampled }: Trace): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** @returns the fields of a log line, in the names of OpenTelemetry; none outside of a trace */
export function traceFields(): object {
  const trace = current.getStore();
  return trace === undefined ? {} : { trace_id: trace.traceId, span_id: trace.spanId };
}

/** A UUID's version is not zero, in the first half either, and it costs a tenth of other random bytes. */
function randomHex(): string {
  return randomUUID().replaceAll("-", "");
}

function newSpanId(): string {
  return randomHex().slice(0, 16);
}
