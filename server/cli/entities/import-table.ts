import fs from "node:fs";
import { plural, printError, printLine } from "../../../shared/platform/cli/output.ts";
import { faultWords, fieldWord } from "../../dashboard/types/file-faults.ts";
import type { FileChoices, FileReading } from "../../dashboard/types/file-import.ts";
import { importTable, type TableOutcome } from "../../import/table/import-table.ts";
import { FILE_BYTES_MAX } from "../../import/table/read-table.ts";
import type { Store } from "../../database/store.ts";

// The import of a CSV or Excel file by the command: prints what was decided, and each line that is refused with its remedy.

/** Refused lines that are printed. */
const REFUSED_SHOWN = 100;

export interface TableOptions {
  readonly clinicId: number;
  readonly source: string;
  readonly dryRun: boolean;
  readonly choices: FileChoices;
}

/** Imports a file. @throws Error for a file that cannot be read, and for an open question */
export async function importTableFile(
  store: Store,
  path: string,
  { clinicId, source, dryRun, choices }: TableOptions,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const { size } = fs.statSync(path);
  const bytes = size > FILE_BYTES_MAX ? null : fs.readFileSync(path);
  const options = { clinicId, source, choices, isDryRun: dryRun, now: Date.now };
  const outcome: TableOutcome =
    bytes === null
      ? { fault: { code: "too_large", line: null, value: "" } }
      : await importTable(store, bytes, options, progress);
  if ("fault" in outcome) {
    const { what, remedy } = faultWords(outcome.fault, "en");
    const place = outcome.fault.line === null ? "" : `, line ${outcome.fault.line}`;
    throw new Error(`${path}${place}: ${what}. ${remedy}`);
  }
  const { reading, counts } = outcome;
  for (const line of decisions(reading)) printLine(line);
  if (counts === null)
    throw new Error(`${path}: ${reading.questions.map((question) => questionText(question, reading)).join(" ")}`);
  for (const { line, name, faults } of outcome.refused.slice(0, REFUSED_SHOWN)) {
    for (const fault of faults) {
      const { what, remedy } = faultWords(fault, "en");
      printError(
        `line ${line}${reading.kind === "owners" ? "" : `, ${name}`}: ${`${fieldWord(fault.field, "en")} ${what}`.trim()}. ${remedy}`,
      );
    }
  }
  const more = counts.refused - REFUSED_SHOWN;
  if (more > 0) printError(`and ${plural(more, "more refused line")}`);
  const text = `${counts.new} new, ${counts.changed} changed, ${counts.unchanged} unchanged, ${counts.refused} refused`;
  printLine(`${path}: ${text}${dryRun ? "; nothing was stored (--dry-run)" : ""}`);
}

const SEPARATOR_NAMES = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" } as const;
const ORDER_NAMES = { dmy: "day.month.year", mdy: "month/day/year" } as const;

/** The facts that identify a line of each kind without a number. */
const KINDS = {
  animals: { subject: "an animal", name: "its owner, name and species" },
  owners: { subject: "an owner", name: "its name and address" },
  stock: { subject: "an item", name: "its name" },
} as const;

function decisions({ columns, rows, kind, ...reading }: FileReading): string[] {
  const { format, encoding, separator, sheet, date_order, decimal_comma, weight_unit, key } = reading;
  const facts = [
    format === "csv" ? `CSV, ${encoding}, ${SEPARATOR_NAMES[separator ?? ","]}` : `Excel, sheet ${sheet}`,
    decimal_comma ? "decimal comma" : "decimal point",
    ...(date_order == null ? [] : [ORDER_NAMES[date_order]]),
    ...(weight_unit === null ? [] : [`weights in ${weight_unit}`]),
  ];
  const known = columns.filter(({ meaning }) => meaning !== null);
  const left = columns.filter(({ meaning }) => meaning === null);
  const noteOf = {
    empty_header: "without a name",
    equal_header: "name twice",
    second_column: "another column is better",
  };
  const shown = left.map(({ header, note }) => `${header || "?"}${note === null ? "" : ` (${noteOf[note]})`}`);
  const { subject, name } = KINDS[kind];
  const by = key === "number" ? "its number" : name;
  return [
    `${plural(rows, "line")} of ${kind}: ${facts.join(", ")}; ${subject} is known by ${by}`,
    `columns: ${known.map(({ header, meaning }) => `${header} = ${fieldWord(meaning ?? "", "en")}`).join(", ")}`,
    ...(left.length === 0 ? [] : [`not imported: ${shown.join(", ")}`]),
  ];
}

function questionText(question: FileReading["questions"][number], { missing }: FileReading): string {
  switch (question) {
    case "date_order":
      return "3/4/2020 has two meanings, and no date of the file decides: pass --date-order dmy or --date-order mdy.";
    case "weight_unit":
      return "The weights have no unit: pass --weight-unit kg, g, lb or oz.";
    case "columns":
      return `No column is known for ${missing.map((name) => fieldWord(name, "en")).join(", ")}: name the column so.`;
  }
}
