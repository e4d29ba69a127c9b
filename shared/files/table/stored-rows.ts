import type { CsvRecord } from "./csv-records.ts";

/** Rows of a block. Reading one row reads its block. */
const BLOCK_ROWS = 32;

/** The rows of a file as bytes. As arrays of cells, 100 000 rows take ten times the memory of their file. */
export class StoredRows implements Iterable<CsvRecord> {
  readonly #blocks: Buffer[] = [];
  #open: CsvRecord[] = [];
  #skipped = 0;
  /** The block that `at` read last. */
  #last: { readonly block: number; readonly rows: readonly CsvRecord[] } | null = null;

  get length(): number {
    return this.#blocks.length * BLOCK_ROWS + this.#open.length - this.#skipped;
  }

  add(row: CsvRecord): void {
    this.#open.push(row);
    if (this.#open.length < BLOCK_ROWS) return;
    this.#blocks.push(Buffer.from(JSON.stringify(this.#open)));
    this.#open = [];
  }

  /** Leaves out the first rows. */
  skip(count: number): void {
    this.#skipped += count;
  }

  at(index: number): CsvRecord | undefined {
    const position = index + this.#skipped;
    const block = Math.floor(position / BLOCK_ROWS);
    if (this.#last?.block !== block) this.#last = { block, rows: this.#read(block) };
    return this.#last.rows[position % BLOCK_ROWS];
  }

  /** Returns the rows from a position on, without those from `to` on. */
  slice(from: number, to: number): CsvRecord[] {
    const rows: CsvRecord[] = [];
    for (let index = from; index < Math.min(to, this.length); index += 1) {
      const row = this.at(index);
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  *[Symbol.iterator](): Generator<CsvRecord> {
    let skipped = this.#skipped;
    for (let block = 0; block <= this.#blocks.length; block += 1) {
      const rows = this.#read(block);
      yield* rows.slice(skipped);
      skipped = Math.max(0, skipped - rows.length);
    }
  }

  #read(block: number): readonly CsvRecord[] {
    const bytes = this.#blocks[block];
    if (bytes !== undefined) return JSON.parse(bytes.toString()) as CsvRecord[];
    return block === this.#blocks.length ? this.#open : [];
  }
}
