import Database from "better-sqlite3";
import { plural } from "../../shared/cli/output.ts";
import { trustedDatabase } from "../../shared/runtime/folder-owner.ts";
import { type CheckedValue, isWhole } from "../../shared/runtime/row-checksum.ts";
import type { Checksum } from "./database/checksum.ts";
import { IDENTIFIER, PATIENT } from "./patients/patient-checksum.ts";
import { SOAP } from "./soap.ts";
import { REVISION, STUDY, STUDY_DETAILS } from "./studies/study-checksum.ts";

// The rows of a SQLite file that are not as they were stored, for backups.

/** Rows of a read. The event loop runs between two reads. */
const PAGE_ROWS = 200;
/** Max rows in a sentence. */
const NAMED_MAX = 5;

interface Kind {
  readonly noun: string;
  readonly name: (row: Readonly<Record<string, CheckedValue>>) => string;
  readonly checksums: readonly Checksum[];
  readonly select: string;
  readonly remedy: string;
}

const SEND_AGAIN = "send it again with agent resend, or restore an older backup";
const IMPORT_AGAIN = "import it again, or restore an older backup";

const KINDS: readonly Kind[] = [
  {
    noun: "studies",
    name: ({ fp }) => String(fp),
    checksums: [STUDY, STUDY_DETAILS],
    select:
      "SELECT study.rowid, study.*, patient.fp AS patient_fp FROM study LEFT JOIN patient ON patient.id = patient_id",
    remedy: SEND_AGAIN,
  },
  {
    noun: "revisions",
    name: ({ fp, revision }) => `${revision} of ${fp ?? "an unknown study"}`,
    checksums: [REVISION],
    select:
      "SELECT study_revision.rowid, study_revision.*, study.fp FROM study_revision LEFT JOIN study ON study.id = study_id",
    remedy: SEND_AGAIN,
  },
  {
    noun: "patients",
    name: ({ fp }) => String(fp),
    checksums: [PATIENT],
    select:
      "SELECT patient.rowid, patient.*, customer.fp AS owner_customer_fp FROM patient LEFT JOIN customer ON customer.id = owner_customer_id",
    remedy: IMPORT_AGAIN,
  },
  {
    noun: "identifiers",
    name: ({ patient_fp }) => `one of ${patient_fp ?? "an unknown patient"}`,
    checksums: [IDENTIFIER],
    select:
      "SELECT patient_identifier.rowid, patient_identifier.*, patient.fp AS patient_fp FROM patient_identifier LEFT JOIN patient ON patient.id = patient_id",
    remedy: IMPORT_AGAIN,
  },
  {
    noun: "SOAP records",
    name: ({ fp }) => String(fp),
    checksums: [SOAP],
    select:
      "SELECT soap.rowid, soap.*, patient.fp AS patient_fp FROM soap LEFT JOIN patient ON patient.id = patient_id",
    remedy: "restore an older backup",
  },
];

/** Finds damaged rows. @returns a sentence with the remedy for each kind; none for a file of an older schema */
export async function damagedRows(file: string): Promise<string[]> {
  const db = new Database(trustedDatabase(file), { readonly: true, fileMustExist: true });
  try {
    const sentences: string[] = [];
    for (const kind of KINDS) {
      const names = await damagedNames(db, kind);
      if (names.length === 0) continue;
      const further = names.length > NAMED_MAX ? `, and ${names.length - NAMED_MAX} more` : "";
      const found = `the disk changed ${plural(names.length, "row")} of ${kind.noun}: ${names.slice(0, NAMED_MAX).join(", ")}${further}`;
      sentences.push(`${found}; ${kind.remedy}`);
    }
    return sentences;
  } finally {
    db.close();
  }
}

async function damagedNames(db: Database.Database, { name, checksums, select }: Kind): Promise<string[]> {
  const { table } = checksums[0]!;
  const known = new Set(db.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table));
  if (checksums.some(({ column }) => !known.has(column))) return [];
  const page = db.prepare(`${select} WHERE ${table}.rowid > ? ORDER BY ${table}.rowid LIMIT ${PAGE_ROWS}`);
  const names: string[] = [];
  for (let after = 0; ; ) {
    const rows = page.all(after) as Record<string, CheckedValue>[];
    for (const row of rows) {
      const whole = checksums.every(({ column, of }) =>
        isWhole(
          row[column] as number | null,
          of.map((each) => row[each] ?? null),
        ),
      );
      if (!whole) names.push(name(row));
    }
    if (rows.length < PAGE_ROWS) return names;
    after = Number(rows.at(-1)!["rowid"]);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
