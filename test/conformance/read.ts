import assert from "node:assert/strict";
import { assertShape, type Check, isObject } from "./check.ts";
import type { ApiResponse, Api, KeyName } from "./server.ts";
import * as shapes from "./shapes.ts";

// Readers of responses: they assert the status and the envelope, and return the data.

export type JsonObject = Record<string, unknown>;
export type ApiCheck = Check<Api>;

export interface Page {
  items: JsonObject[];
  total: number;
  page: number;
  page_size: number;
  has_more: boolean;
}

export function body(response: ApiResponse, status = 200): JsonObject {
  assert.equal(response.status, status, `status with ${response.text.slice(0, 300)}`);
  assert.ok(isObject(response.json), `the body is ${response.text.slice(0, 100)}`);
  return response.json;
}

export function record(response: ApiResponse): JsonObject {
  return body(response)["data"] as JsonObject;
}

export function page(response: ApiResponse): Page {
  const data = body(response)["data"];
  assertShape(data, shapes.page, "the page");
  return data as Page;
}

export function events(response: ApiResponse): JsonObject[] {
  assert.equal(response.status, 200, `status with ${response.text.slice(0, 300)}`);
  assert.ok(Array.isArray(response.json), `the body is ${response.text.slice(0, 100)}, expected an array`);
  return response.json as JsonObject[];
}

export interface ErrorBody {
  code: string;
  message: string;
  severity: string;
  details?: JsonObject;
}

/** Returns the error of a response. Asserts the envelope, and `code` and `severity` if `code` is given. */
export function errorOf(response: ApiResponse, status: number, code?: string, severity = "error"): ErrorBody {
  const envelope = body(response, status);
  assert.deepEqual(Object.keys(envelope).toSorted(), ["error", "success"], "the keys of the envelope");
  assert.equal(envelope["success"], false);
  const error = envelope["error"] as JsonObject;
  assertShape(error, "details" in error ? shapes.errorWithDetails : shapes.error, "the error");
  if (code !== undefined) assert.deepEqual([error["code"], error["severity"]], [code, severity]);
  assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
  return error as unknown as ErrorBody;
}

export function fps(rows: readonly { readonly fp?: unknown }[]): unknown[] {
  return rows.map(({ fp }) => fp);
}

/** Reads all items of a list, page after page until has_more is false. */
export async function walk(api: Api, path: string, pageSize: number, key: KeyName = "ours"): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  for (let number = 1; ; number += 1) {
    const separator = path.includes("?") ? "&" : "?";
    const part = page(await api.get(`${path}${separator}page=${number}&page_size=${pageSize}`, key));
    assert.deepEqual([part.page, part.page_size], [number, pageSize]);
    items.push(...part.items);
    assert.equal(part.has_more, items.length < part.total, `has_more of page ${number} of ${pageSize}`);
    if (!part.has_more) return items;
    assert.equal(part.items.length, pageSize, `items of page ${number} of ${pageSize}`);
  }
}
