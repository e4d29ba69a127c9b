import assert from "node:assert/strict";
import { assertShape, type Check, isObject } from "./check.ts";
import type { Answer, Api, KeyName } from "./server.ts";
import * as shapes from "./shapes.ts";

// How the checks read an answer.

export type Row = Record<string, unknown>;
export type ApiCheck = Check<Api>;

export interface Page {
  items: Row[];
  total: number;
  page: number;
  page_size: number;
  has_more: boolean;
}

export function body(answer: Answer, status = 200): Row {
  assert.equal(answer.status, status, `status with ${answer.text.slice(0, 300)}`);
  assert.ok(isObject(answer.json), `the body is ${answer.text.slice(0, 100)}`);
  return answer.json;
}

export function record(answer: Answer): Row {
  return body(answer)["data"] as Row;
}

export function page(answer: Answer): Page {
  const data = body(answer)["data"];
  assertShape(data, shapes.page, "the page");
  return data as Page;
}

export function events(answer: Answer): Row[] {
  assert.equal(answer.status, 200, `status with ${answer.text.slice(0, 300)}`);
  assert.ok(Array.isArray(answer.json), `the body is ${answer.text.slice(0, 100)}, expected an array`);
  return answer.json as Row[];
}

export interface ErrorBody {
  code: string;
  message: string;
  severity: string;
  details?: Row;
}

/** The error of an envelope in order; `code` and `severity` as expected. */
export function errorOf(answer: Answer, status: number, code?: string, severity = "error"): ErrorBody {
  const envelope = body(answer, status);
  assert.deepEqual(Object.keys(envelope).toSorted(), ["error", "success"], "the keys of the envelope");
  assert.equal(envelope["success"], false);
  const error = envelope["error"] as Row;
  assertShape(error, "details" in error ? shapes.errorWithDetails : shapes.error, "the error");
  if (code !== undefined) assert.deepEqual([error["code"], error["severity"]], [code, severity]);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  return error as unknown as ErrorBody;
}

export function fps(rows: readonly { readonly fp?: unknown }[]): unknown[] {
  return rows.map(({ fp }) => fp);
}

/** All items of a list, page after page until has_more is false. */
export async function walk(api: Api, path: string, pageSize: number, key: KeyName = "ours"): Promise<Row[]> {
  const items: Row[] = [];
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
