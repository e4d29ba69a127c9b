import { defaultTimeouts, type HttpTimeouts } from "../../../server/http/http-server.ts";
import { defaultLimits, type Limits } from "../../../server/http/rate-limit/rate-limiter.ts";

/** Short, but long enough to open 10,000 connections before the first one times out. */
export const hostileTimeouts: HttpTimeouts = {
  ...defaultTimeouts,
  headersMs: 5000,
  requestMs: 8000,
  idleMs: 8000,
};

export const hostileLimits: Limits = { ...defaultLimits, device: { minute: 1_000_000, hour: 1_000_000 } };
