import type { AuditDescription } from "../store/audit.ts";

// The audit as text for a person, as NDJSON for a program, as CSV for a spreadsheet.

export const auditFormats = ["text", "json", "csv"] as const;
export type AuditFormat = (typeof auditFormats)[number];

const columns = [
  "at",
  "clinic_fp",
  "key",
  "method",
  "route",
  "fp",
  "count",
  "status",
  "address",
  "request_id",
  "times",
] as const satisfies (keyof AuditDescription)[];

/** The rows as lines, each with its end. */
export async function* auditLines(rows: AsyncIterable<AuditDescription>, format: AuditFormat): AsyncGenerator<string> {
  if (format === "csv") yield csvLine(columns);
  for await (const row of rows) yield writers[format](row);
}

const writers: Record<AuditFormat, (row: AuditDescription) => string> = {
  text: (row) => `${sentence(row)}\n`,
  json: (row) => `${JSON.stringify(Object.fromEntries(columns.map((column) => [column, row[column]])))}\n`,
  csv: (row) => csvLine(columns.map((column) => row[column])),
};

function sentence(row: AuditDescription): string {
  const { at, method, route, fp, count, status, address, times } = row;
  const who = row.key ?? (status === null ? "" : "unknown key");
  if (route === null) {
    const what = status === null ? "entries lost" : `further requests answered ${status}`;
    return [at, `${times} ${what}`, who].filter((part) => part !== "").join("  ");
  }
  const what = fp ?? (count === null ? "-" : `${count} records`);
  const often = times === 1 ? [] : [`${times} times`];
  return [at, status ?? "-", method, route, what, who, address, row.request_id, ...often].join("  ");
}

/** A line of RFC 4180. */
function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(value: string | number | null): string {
  // A spreadsheet computes a text that begins like a formula; an apostrophe tells it not to.
  const text = String(value ?? "").replace(/^[=+\-@\t\r]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
