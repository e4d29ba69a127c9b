import { createHash } from "node:crypto";
import { animalSpecies, fold } from "../../../shared/clinical/species.ts";
import type { LineFault, Meaning } from "../../dashboard/types/file-import.ts";
import { readMicrochip } from "../../records/registry/microchip.ts";
import { type ReadOwner, readOwners, type ReadPatient, readPatients } from "../../records/registry/sync/items.ts";
import { cellOf, widthFaults } from "./cells.ts";
import type { CsvRecord } from "../../../shared/files/table/csv-records.ts";
import { readDay } from "./dates.ts";
import type { FileTable } from "./read-table.ts";
import { readSexes } from "./sexes.ts";
import { type FileStock, StockRowReader } from "./stock-rows.ts";
import { readWeight, unitOf } from "./weights.ts";

// Turns the lines of a table into items of practice software, so that the same checks and the same store follow.

/** A line of a file, as it was read. */
export interface FileItem {
  readonly line: number;
  readonly name: string;
  /** Null if the line is refused, or repeats another one. */
  readonly animal: ReadPatient | null;
  readonly owner: ReadOwner | null;
  readonly stock: FileStock | null;
  readonly isDeceased: boolean;
  readonly faults: readonly LineFault[];
}

/** The lines of a file with an animal, an owner or an item of stock. */
export interface FileItems {
  readonly size: number;
  items(from: number, to: number): FileItem[];
}

interface OwnerFacts {
  readonly externalId: string;
  name: string | null;
  phone: string | null;
  email: string | null;
}

const VALUE_CHARS_MAX = 60;

/** Reads the lines of a table. `now` bounds the dates. */
export function readItems(table: FileTable, now: number): FileItems {
  const read = table.reading.kind === "stock" ? stockReader(table, now) : new RowReader(table, now);
  return {
    size: table.rows.length,
    items: (from, to) => table.rows.slice(from, to).map((row, at) => read.item(row, from + at)),
  };
}

function stockReader(table: FileTable, now: number): Pick<RowReader, "item"> {
  const read = new StockRowReader(table, now);
  const none = { animal: null, owner: null, isDeceased: false };
  return { item: (row, index) => ({ line: row.line, ...none, ...read.item(row, index) }) };
}

class RowReader {
  readonly #table: FileTable;
  readonly #now: number;
  /** The key of each row. */
  readonly #keyOfRow: string[] = [];
  /** The first row of each key and of each chip. */
  readonly #keys = new Map<string, number>();
  readonly #chips = new Map<string, number>();
  /** By the first row of a key or of a chip: the first row that contradicts it. */
  readonly #otherOfKey = new Map<number, number>();
  readonly #otherOfChip = new Map<number, number>();
  readonly #owners = new Map<string, OwnerFacts>();

  constructor(table: FileTable, now: number) {
    this.#table = table;
    this.#now = now;
    let index = 0;
    for (const row of table.rows) {
      const owner = this.#ownerOf(row);
      this.#noteOwner(owner);
      const key = table.reading.kind === "owners" ? owner.externalId : this.#keyOf(row, owner);
      this.#keyOfRow.push(key);
      this.#noteKey(key, row, index);
      this.#noteChip(row, key, index);
      index += 1;
    }
  }

  item(row: CsvRecord, index: number): FileItem {
    const { line } = row;
    const key = this.#keyOfRow[index] ?? "";
    const isAnimal = this.#table.reading.kind === "animals";
    const owner = this.#ownerOf(row);
    const name = (isAnimal ? this.#cell(row, "name") : (owner.name ?? "")).slice(0, VALUE_CHARS_MAX);
    const faults = [...widthFaults(this.#table, row), ...this.#sharedFaults(key, index, row)];
    const base = { line, name, isDeceased: false, animal: null, owner: null, stock: null };
    if (faults.length > 0) return { ...base, faults };
    if (this.#keys.get(key) !== index) return { ...base, faults };
    return isAnimal ? { ...base, ...this.#animal(row, key, owner) } : { ...base, ...this.#owner(row, owner) };
  }

  #cell(row: CsvRecord, meaning: Meaning): string {
    return cellOf(this.#table, row, meaning);
  }

  /** The owner as the line has it. Without a number it is known by name and address. */
  #ownerOf(row: CsvRecord): OwnerFacts {
    const names = [this.#cell(row, "owner_first"), this.#cell(row, "owner_last")].filter(Boolean).join(" ");
    const name = this.#cell(row, "owner") || names || null;
    const phone = this.#cell(row, "phone") || null;
    const email = this.#cell(row, "email") || null;
    const number = this.#cell(row, "owner_id");
    const isUnknown = number === "" && name === null && phone === null && email === null;
    const address = (phone ?? "").replaceAll(/\D/g, "") || (email ?? "").toLowerCase();
    const externalId = number !== "" ? number : isUnknown ? "" : keyFor(fold(name ?? ""), address);
    return { externalId, name, phone, email };
  }

  /** Collects what the lines of an owner have: for each fact the first line counts, so that the order of storing does not. */
  #noteOwner(owner: OwnerFacts): void {
    if (owner.externalId === "") return;
    const noted = this.#owners.get(owner.externalId);
    if (noted === undefined) {
      this.#owners.set(owner.externalId, owner);
      return;
    }
    noted.name ??= owner.name;
    noted.phone ??= owner.phone;
    noted.email ??= owner.email;
  }

  /** An animal is known by its number, else by its owner, name and species. */
  #keyOf(row: CsvRecord, owner: OwnerFacts): string {
    const id = this.#cell(row, "id");
    if (id !== "") return id;
    const words = this.#cell(row, "species");
    const species = animalSpecies(words);
    const kind = species === null ? fold(words) : (species.precise ?? species.served);
    const ownerKey = this.#cell(row, "owner_id") || fold(owner.name ?? "");
    return keyFor(ownerKey, fold(this.#cell(row, "name")), kind);
  }

  #noteKey(key: string, row: CsvRecord, index: number): void {
    const first = this.#keys.get(key);
    if (first === undefined) this.#keys.set(key, index);
    else if (!this.#otherOfKey.has(first) && !isEqual(this.#table.rows.at(first), row))
      this.#otherOfKey.set(first, index);
  }

  #noteChip(row: CsvRecord, key: string, index: number): void {
    const chip = chipOf(this.#cell(row, "microchip"));
    if (chip === null || "code" in chip) return;
    const first = this.#chips.get(chip.number);
    if (first === undefined) this.#chips.set(chip.number, index);
    else if (!this.#otherOfChip.has(first) && this.#keyOfRow[first] !== key) this.#otherOfChip.set(first, index);
  }

  /** Refuses all lines of a key or a chip that differ: each may be the right one. */
  #sharedFaults(key: string, index: number, row: CsvRecord): LineFault[] {
    const lineOf = (first: number, other: number) => String(this.#table.rows.at(index === first ? other : first)?.line);
    const first = this.#keys.get(key) ?? index;
    const other = this.#otherOfKey.get(first);
    if (other !== undefined) {
      const hasNumber = this.#cell(row, this.#table.reading.kind === "animals" ? "id" : "owner_id") !== "";
      const code = hasNumber ? "same_number" : "same_animal";
      return [{ field: hasNumber ? "id" : "name", code, value: lineOf(first, other) }];
    }
    const chip = chipOf(this.#cell(row, "microchip"));
    const withChip = chip === null || "code" in chip ? undefined : this.#chips.get(chip.number);
    const otherAnimal = withChip === undefined ? undefined : this.#otherOfChip.get(withChip);
    if (withChip === undefined || otherAnimal === undefined) return [];
    return [{ field: "microchip", code: "same_chip", value: lineOf(withChip, otherAnimal) }];
  }

  #owner(row: CsvRecord, owner: OwnerFacts): Pick<FileItem, "owner" | "faults"> {
    const faults = this.#phoneFaults(row);
    if (owner.name === null) faults.push({ field: "owner", code: "missing", value: "" });
    const [read] = readOwners([ownerItem(this.#owners.get(owner.externalId) ?? owner)], this.#now);
    if (read === undefined || "faults" in read) faults.push(...this.#named(row, read?.faults ?? []));
    return { owner: read === undefined || "faults" in read || faults.length > 0 ? null : read, faults };
  }

  #animal(row: CsvRecord, key: string, given: OwnerFacts): Pick<FileItem, "animal" | "isDeceased" | "faults"> {
    const faults: LineFault[] = this.#phoneFaults(row);
    const note = (field: Meaning, code: string) => faults.push({ field, code, value: this.#shown(row, field) });
    const species = this.#cell(row, "species");
    if (species === "") note("species", "missing");
    if (this.#cell(row, "name") === "") note("name", "missing");
    const day = (meaning: Meaning): string | null => {
      const { dateOrder } = this.#table;
      const read = readDay(this.#cell(row, meaning), dateOrder, new Date(this.#now).getUTCFullYear());
      if ("code" in read) note(meaning, read.code);
      return "code" in read ? null : read.day;
    };
    const sex = readSexes(this.#sexOf(row), this.#cell(row, "neutered"), species);
    if ("code" in sex) note(sex.field, sex.code);
    const isDeceased = readYes(this.#cell(row, "deceased"));
    if (isDeceased === undefined) note("deceased", "not_yes_or_no");
    const owner = this.#owners.get(given.externalId) ?? { ...given, externalId: keyFor("of", key) };
    const item = {
      external_id: key,
      name: this.#cell(row, "name") || "?",
      species: species || "cat",
      breed: this.#cell(row, "breed") || null,
      sex: "sex" in sex ? sex.sex : null,
      date_of_birth: day("birth"),
      weight_kg: this.#weight(row, note),
      deceased_at: day("death"),
      identifiers: this.#identifiers(row, note),
      owner: ownerItem(owner),
    };
    const [read] = readPatients([item], this.#now);
    if (read === undefined || "faults" in read) faults.push(...this.#named(row, read?.faults ?? []));
    if (faults.length > 0 || read === undefined || "faults" in read) return { animal: null, isDeceased: false, faults };
    return { animal: namelessAgain(read, owner), isDeceased: isDeceased === true, faults };
  }

  /** A Turkish column has `E` for erkek and `D` for dişi, which mean nothing elsewhere. */
  #sexOf(row: CsvRecord): string {
    const { columns, reading } = this.#table;
    const header = reading.columns[columns.get("sex") ?? -1]?.header ?? "";
    const words = this.#cell(row, "sex");
    return /cinsiyet/i.test(header) ? (TURKISH_SEXES.get(words.toUpperCase()) ?? words) : words;
  }

  #weight(row: CsvRecord, note: (field: Meaning, code: string) => void): number | null {
    const { weightUnit, reading } = this.#table;
    const unit = unitOf(this.#cell(row, "weight_unit")) ?? weightUnit;
    const read = readWeight(this.#cell(row, "weight"), { unit, decimalComma: reading.decimal_comma });
    if ("code" in read) note("weight", read.code);
    return "code" in read ? null : read.kg;
  }

  #identifiers(row: CsvRecord, note: (field: Meaning, code: string) => void): { type: string; value: string }[] {
    const chip = chipOf(this.#cell(row, "microchip"));
    if (chip !== null && "code" in chip) note("microchip", chip.code);
    const others = (["card", "tattoo"] as const).map((type) => ({ type, value: this.#cell(row, type) }));
    const chips = chip !== null && "number" in chip ? [{ type: "microchip", value: chip.number }] : [];
    return [...chips, ...others.filter(({ value }) => value !== "" && !NO_NUMBER.test(value))];
  }

  #phoneFaults(row: CsvRecord): LineFault[] {
    const isLost = /^\d(?:[.,]\d+)?E\+?\d+$/i.test(this.#cell(row, "phone"));
    return isLost ? [{ field: "phone", code: "lost_digits", value: "" }] : [];
  }

  /** Names the columns of faults that the checks of items found. */
  #named(row: CsvRecord, faults: readonly { field: string; code: string }[]): LineFault[] {
    return faults.map(({ field: path, code }) => {
      const field = MEANING_OF[path] ?? (path.startsWith("identifiers") ? "card" : "");
      return {
        field,
        code: code === "too_short" || code === "blank" ? "missing" : code,
        value: this.#shown(row, field),
      };
    });
  }

  /** The value of a fault. Those of owners stay out. */
  #shown(row: CsvRecord, field: Meaning | ""): string {
    const isOfOwner = field === "" || ["owner", "owner_first", "owner_last", "phone", "email"].includes(field);
    return isOfOwner ? "" : this.#cell(row, field).slice(0, VALUE_CHARS_MAX);
  }
}

function isEqual(one: CsvRecord | undefined, other: CsvRecord): boolean {
  return one?.cells.length === other.cells.length && one.cells.every((cell, index) => cell === other.cells[index]);
}

const TURKISH_SEXES: ReadonlyMap<string, string> = new Map([
  ["E", "erkek"],
  ["D", "dişi"],
]);

const MEANING_OF: Readonly<Record<string, Meaning>> = {
  external_id: "id",
  name: "name",
  species: "species",
  breed: "breed",
  sex: "sex",
  date_of_birth: "birth",
  weight_kg: "weight",
  deceased_at: "death",
  "owner/external_id": "owner_id",
  "owner/name": "owner",
  "owner/phone": "phone",
  "owner/email": "email",
  phone: "phone",
  email: "email",
};

/** Words for no number. */
const NO_NUMBER = /^(?:0+|[-–?.]+|yok|none|no|nein|kein|keine|n\/?a)$/i;

function chipOf(text: string): ReturnType<typeof readMicrochip> | null {
  return text === "" || NO_NUMBER.test(text) ? null : readMicrochip(text);
}

/** An id for what a file gives no number: it is the same in each file with the same words. */
function keyFor(...parts: readonly string[]): string {
  return `name:${createHash("sha256")
    .update(parts.map((part) => part.trim()).join("\n"))
    .digest("hex")
    .slice(0, 32)}`;
}

/** An owner without a name has the number for the checks. */
function ownerItem({ externalId, name, phone, email }: OwnerFacts): object {
  return { external_id: externalId, name: name ?? externalId, phone, email };
}

function namelessAgain(read: ReadPatient, { name }: OwnerFacts): ReadPatient {
  const { patient } = read;
  return name !== null || patient === null
    ? read
    : { ...read, patient: { ...patient, owner: { ...patient.owner, name: null } } };
}

const YES = /^(?:y|yes|true|1|x|e|evet|j|ja|o|oui|s|si|sí|öldü|ölü|dead|deceased|tot|verstorben)$/i;
const NO = /^(?:n|no|false|0|h|hayır|nein|non|alive|canlı|[-–])?$/i;

/** @returns null for no, undefined for another word */
function readYes(text: string): true | null | undefined {
  return YES.test(text) ? true : NO.test(text) ? null : undefined;
}
