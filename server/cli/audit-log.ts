import { csvLine } from "../dashboard/csv.ts";
import { printable } from "../../shared/runtime/printable.ts";
import { type Table, tableText } from "../../shared/platform/cli/output.ts";
import { type AuditDescription, requestColumns } from "../records/audit/audit.ts";

// Formats the audit: text for a reader, NDJSON for a program, CSV for a spreadsheet.

export const auditFormats = ["text", "json", "csv"] as const;
export type AuditFormat = (typeof auditFormats)[number];

const columns = ["at", "clinic_fp", ...requestColumns, "user"] as const;

/** Formats the rows as lines, each with its line end. */
export async function* auditLines(rows: AsyncIterable<AuditDescription>, format: AuditFormat): AsyncGenerator<string> {
  if (format === "text") {
    for await (const line of tableText(auditTable, rows)) yield `${printable(line)}\n`;
    return;
  }
  if (format === "csv") yield csvLine(columns);
  for await (const row of rows) yield formatters[format](row);
}

const formatters: Record<Exclude<AuditFormat, "text">, (row: AuditDescription) => string> = {
  json: (row) => `${printable(JSON.stringify(Object.fromEntries(columns.map((column) => [column, row[column]]))))}\n`,
  csv: (row) => csvLine(columns.map((column) => row[column])),
};

const auditTable: Table<AuditDescription> = {
  head: ["TIME", "STATUS", "METHOD", "ROUTE", "RECORD", "CALLER", "ADDRESS", "REQUEST", "TIMES"],
  cells: auditCells,
};

function auditCells(row: AuditDescription): string[] {
  const { at, method, route, fp, count, status, address, times } = row;
  const caller = row.user ?? row.key ?? (status === null ? "" : "unknown key");
  if (route === null) {
    const what = status === null ? "entries lost" : `further requests with status ${status}`;
    return [at, `${times} ${what}`, caller];
  }
  const subject = fp ?? (count === null ? "-" : `${count} records`);
  const often = times === 1 ? "" : `${times} times`;
  const words = [status, method, route, subject, caller, address, row.request_id];
  return [at, ...words.map((word) => String(word ?? "-")), often];
}
