import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, type ApiResponse, authorization } from "./server.ts";

// Rate-limit windows. A window can end between two requests, so a check begins in one that lasts long enough.

/** Min remaining seconds of a window in which a check begins. */
const WINDOW_LEFT_MIN_S = 20;

/** Max windows in which refusal() tries. Beyond it the check fails. */
const WINDOWS_MAX = 5;

/** The rate-limit headers of a response. */
interface Budget {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends. */
  readonly reset: number;
}

/** Reads the smallest page of the patients. */
export async function readPage(api: Api, key: string): Promise<ApiResponse> {
  return api.send("/api/v1/patients?page_size=1", { headers: { "x-api-key": key } });
}

/** Waits for the next window if the key's window is about to end. Spends one request. */
export async function awaitWindow(api: Api, key: string): Promise<void> {
  const { reset } = budgetOf(await readPage(api, key));
  if (reset < WINDOW_LEFT_MIN_S) await sleep(reset * 1000);
}

/** Spends the budget of a key, then requests a path with it. Returns the 429, whose window is not about to end. */
export async function refusal(api: Api, key: string, path: string): Promise<ApiResponse> {
  for (let windows = 0; windows < WINDOWS_MAX; windows += 1) {
    await exhaust(api, key);
    const response = await api.send(path, { headers: authorization(path, key) });
    const left = Number(response.headers.get("retry-after"));
    if (response.status === 429 && left >= WINDOW_LEFT_MIN_S) return response;
    await sleep(left * 1000);
  }
  throw new Error(`expected a 429 for ${path} within ${WINDOWS_MAX} windows, got none that lasts`);
}

async function exhaust(api: Api, key: string): Promise<void> {
  for (let count = 0; count < 5000; count += 1) {
    const { status } = await readPage(api, key);
    if (status === 429) return;
    assert.equal(status, 200);
  }
  throw new Error("expected a limit within 5000 requests, got none");
}

export function budgetOf({ headers }: ApiResponse): Budget {
  const numberIn = (name: string) => {
    const text = headers.get(name) ?? "";
    assert.match(text, /^\d+$/, name);
    return Number(text);
  };
  return {
    limit: numberIn("x-ratelimit-limit"),
    remaining: numberIn("x-ratelimit-remaining"),
    reset: numberIn("x-ratelimit-reset"),
  };
}
