// The import of animals, owners and stock from a file, as the server describes it to the page.

/** The meaning of a column. */
export const MEANINGS = [
  ...(["id", "name", "species", "breed", "sex", "neutered", "birth", "death", "deceased"] as const),
  ...(["weight", "weight_unit", "microchip", "card", "tattoo"] as const),
  ...(["owner_id", "owner", "owner_first", "owner_last", "phone", "email"] as const),
  ...(["item", "sku", "category", "stock_unit", "threshold", "quantity", "lot", "expiry"] as const),
] as const;
export type Meaning = (typeof MEANINGS)[number];

/** Why a column of a file is not imported: its header is empty, equal to another, or means what a better one means. */
export type ColumnNote = "empty_header" | "equal_header" | "second_column";

export const WEIGHT_UNITS = ["kg", "g", "lb", "oz"] as const;
export type WeightUnit = (typeof WEIGHT_UNITS)[number];

/** Decisions of a person about a file. Its content decides what is absent here. */
export interface FileChoices {
  readonly encoding?: "utf-8" | "utf-16le" | "utf-16be" | "windows-1254" | "windows-1252";
  readonly separator?: "," | ";" | "\t" | "|";
  readonly date_order?: "dmy" | "mdy";
  /** Unit of the weights without one. */
  readonly weight_unit?: WeightUnit;
  /** The meaning of each column; null for one that is not imported. */
  readonly columns?: readonly (Meaning | null)[];
}

export interface FileColumn {
  readonly header: string;
  /** The first values. */
  readonly samples: readonly string[];
  readonly meaning: Meaning | null;
  readonly note: ColumnNote | null;
}

/** A question that the content of a file leaves open. Nothing is imported before a person answers it. */
export type FileQuestion = "date_order" | "weight_unit" | "columns";

/** The decisions about a file. */
export interface FileReading {
  readonly kind: "animals" | "owners" | "stock";
  readonly format: "csv" | "xlsx";
  /** Null for xlsx. */
  readonly encoding: FileChoices["encoding"] | null;
  readonly separator: FileChoices["separator"] | null;
  /** The sheet; null for CSV. */
  readonly sheet: string | null;
  /** Null if no date of the file needs an order, or while it is undecided. */
  readonly date_order: FileChoices["date_order"] | null;
  readonly decimal_comma: boolean;
  /** Unit of the weights that name none; null if all do. */
  readonly weight_unit: WeightUnit | null;
  /** By what an animal is known again: its number, or its owner, name and species. An item of stock: its number, or its name. */
  readonly key: "number" | "name";
  /** Number of lines below the header. */
  readonly rows: number;
  readonly columns: readonly FileColumn[];
  readonly questions: readonly FileQuestion[];
  /** Meanings that the file needs and no column has. */
  readonly missing: readonly Meaning[];
}

/** Why a file or a value is refused. The words are in file-faults.ts. */
export interface FileFault {
  readonly code: string;
  /** Line of the file; null for the file as a whole. */
  readonly line: number | null;
  /** The value or the line that the sentence names. Empty if it names none. */
  readonly value: string;
}

/** A fault of a line. */
export interface LineFault {
  readonly field: string;
  readonly code: string;
  readonly value: string;
}

export const LINE_OUTCOMES = ["new", "changed", "unchanged", "refused"] as const;
export type LineOutcome = (typeof LINE_OUTCOMES)[number];

/** The outcome of a line. */
export interface FileLine {
  readonly line: number;
  /** Name of the animal, owner or item. */
  readonly name: string;
  /** Fields that change. */
  readonly changes: readonly string[];
  /** Why the line is refused. */
  readonly faults: readonly LineFault[];
}

export interface FileResult {
  readonly counts: Record<LineOutcome, number>;
  /** The first lines of each outcome. */
  readonly lines: Record<LineOutcome, FileLine[]>;
}

export type ImportPhase = "read" | "previewing" | "previewed" | "running" | "done" | "failed" | "undone";

/** The import of a file, as the page shows it. */
export interface ImportState {
  readonly id: string;
  readonly file_name: string;
  readonly phase: ImportPhase;
  readonly by: string;
  readonly started_at: string;
  readonly finished_at: string | null;
  /** The decisions, or why the file cannot be read. */
  readonly reading: FileReading | null;
  readonly fault: FileFault | null;
  readonly choices: FileChoices;
  /** Lines that are through. */
  readonly done: number;
  readonly result: FileResult | null;
  /** Until when the import can be undone; null if it cannot. */
  readonly undo_until: string | null;
}

/** Why an import cannot be undone, and the number of records that prevent it. */
export interface UndoRefusal {
  readonly code: "unknown" | "undone" | "changed" | "in_use";
  readonly total: number;
}

/** The response to an undo. */
export interface UndoAnswer {
  readonly state: ImportState;
  readonly refusal: UndoRefusal | null;
}

/** The response to `GET /clinic/v1/clinics/:clinic/imports`. */
export interface LastImport {
  readonly last: ImportState | null;
  /** Files of watched folders, the newest first. One in the phase `read` or `previewed` waits for a person. */
  readonly folder: readonly ImportState[];
}
