import type { Logger } from "pino";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import type { FileResult, ImportPhase } from "../../dashboard/types/file-import.ts";
import { type Session, StoreUnavailable } from "../../database/query.ts";
import { rolledBack, type Store } from "../../database/store.ts";
import { type Batch, closeBatch, openBatch } from "../../records/registry/batches.ts";
import { FILE_SOURCE } from "../../records/registry/same-chip.ts";
import { type OpenFile, openFile } from "../table/read-thread.ts";
import { type StoredLine, storeItems } from "../table/store-items.ts";
import {
  claimImport,
  deleteOldImports,
  doOthersWait,
  endPhase,
  type FileImport,
  keepProgress,
  keepReading,
  partsOf,
} from "./file-imports.ts";
import { fromParts } from "./stored-file.ts";

// Previews and runs the imports of files in the background: some lines in a transaction, and other work between two of them. The
// transaction of the lines also keeps the progress, so that a server that is killed goes on with the next line.

/** Lines of one transaction. Other writers wait for it. */
const LINES_AT_ONCE = 100;
/** Lines of each outcome that are shown. */
const LINES_SHOWN = 50;
/** Lines of a turn. A file is read again at its next one. */
const LINES_OF_TURN = 5000;
/** Time after which another server takes an import. Longer than a transaction may wait. */
const LEASE_MS = 60_000;
const CHECK_MS = 2000;

interface RunnerOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly logger: Logger;
  /** Lines after which a file waits for those of other clinics. */
  readonly linesOfTurn?: number;
}

/** Runs the imports of all clinics, one after the other, the clinics by turns. Every server has one. */
export class ImportRunner {
  readonly #options: RunnerOptions;
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> | undefined;
  #isStopped = false;
  /** The clinic of the last turn. */
  #lastClinicId = 0;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.check(), CHECK_MS).unref();
  }

  /** Runs what waits. Resolves when nothing waits any more. Never rejects. */
  async check(): Promise<void> {
    this.#work ??= this.#runAll()
      .catch((error: unknown) => this.#options.logger.warn({ err: error }, "an import of a file waits"))
      .finally(() => (this.#work = undefined));
    return this.#work;
  }

  /** Ends the import under way after its transaction. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#work;
  }

  async #runAll(): Promise<void> {
    const { store, now } = this.#options;
    for (;;) {
      if (this.#isStopped) return;
      const found = await claimImport(store, { now: now(), leaseMs: LEASE_MS, lastClinicId: this.#lastClinicId });
      if (found === undefined) return;
      this.#lastClinicId = found.clinicId;
      await this.#run(found);
    }
  }

  async #run(found: FileImport): Promise<void> {
    const { store, now, logger } = this.#options;
    try {
      const bytes = await fromParts(await partsOf(store, found.id));
      const file = await openFile(bytes, { ...found, now: found.startedAt });
      if ("fault" in file) {
        const { choices, userId } = found;
        await store.transaction((session) =>
          keepReading(session, found.id, { choices, reading: null, fault: file.fault, userId }),
        );
        return;
      }
      try {
        await this.#lines(found, file);
      } finally {
        await file.close();
      }
    } catch (error) {
      // The lease ends, and the import goes on.
      if (error instanceof StoreUnavailable) throw error;
      logger.error({ import: found.publicId, reason: errorMessage(error) }, "the import of a file failed");
      await store.transaction((session) => endPhase(session, found.id, "failed", now(), true));
    }
  }

  async #lines(found: FileImport, file: OpenFile): Promise<void> {
    const { store, now } = this.#options;
    const { rows } = file.reading;
    let current = found;
    while (current.done < rows && !this.#isStopped && !(await this.#isTurnOver(found, current))) {
      const items = await file.items(current.done, current.done + LINES_AT_ONCE);
      const at = current;
      const next = await this.#step(at, (session, batch) =>
        storeItems(session, items, {
          ...{ clinicId: at.clinicId, source: FILE_SOURCE, now: at.startedAt, clock: now, batch },
          by: { requestId: at.publicId, ...actorOf(at), address: at.by },
        }),
      );
      if (next === null) return;
      current = next;
    }
    if (current.done < rows) {
      await store.transaction((session) => keepLease(session, current));
      return;
    }
    await store.transaction(async (session) => {
      if (current.phase === "previewing") return endPhase(session, current.id, "previewed", now(), false);
      const { batch, clinicId } = current;
      const hasBatch = batch !== null && (await closeBatch(session, batch, { clinicId, now: now() }));
      return endPhase(session, current.id, "done", now(), hasBatch);
    });
    await store.transaction((session) => deleteOldImports(session, now()));
  }

  async #isTurnOver({ clinicId, done: begin }: FileImport, { done }: FileImport): Promise<boolean> {
    const { store, now, linesOfTurn = LINES_OF_TURN } = this.#options;
    return done - begin >= linesOfTurn && (await doOthersWait(store, { now: now(), leaseMs: LEASE_MS, clinicId }));
  }

  /** Stores some lines, or tries to, with the progress. @returns null if somebody else has changed the import */
  async #step(
    at: FileImport,
    storeLines: (session: Session, batch: Batch | null) => Promise<StoredLine[]>,
  ): Promise<FileImport | null> {
    const { store } = this.#options;
    if (at.phase === "previewing") {
      const lines = await rolledBack(store, (session) => storeLines(session, null));
      return store.transaction((session) => this.#keep(session, at, lines, null));
    }
    try {
      return await store.transaction(async (session) => {
        const batch = at.batch ?? (await openBatch(session, this.#batchOf(at)));
        const next = await this.#keep(session, at, await storeLines(session, batch), batch);
        // The lines are rolled back: another server has stored them.
        if (next === null) throw new TakenByOthers();
        return next;
      });
    } catch (error) {
      if (error instanceof TakenByOthers) return null;
      throw error;
    }
  }

  #batchOf(at: FileImport) {
    const { clinicId } = at;
    return { clinicId, door: "file", source: FILE_SOURCE, by: actorOf(at), now: this.#options.now() } as const;
  }

  async #keep(
    session: Session,
    at: FileImport,
    lines: readonly StoredLine[],
    batch: Batch | null,
  ): Promise<FileImport | null> {
    const done = at.done + lines.length;
    const result = withLines(at.result, lines);
    const leaseUntil = this.#options.now() + LEASE_MS;
    const refused = lines.flatMap(({ outcome, line, faults }, index) =>
      outcome === "refused" ? { position: at.done + index, line, faults } : [],
    );
    const isKept = await keepProgress(session, at, { done, result, batch, leaseUntil, refused });
    return isKept ? { ...at, done, result, batch } : null;
  }
}

class TakenByOthers extends Error {}

/** The user who sent or answered the file, else the key of the agent. */
function actorOf({ userId, keyId }: FileImport): { userId: number } | { keyId: number } {
  if (userId !== null) return { userId };
  if (keyId === null) throw new Error("expected a file of a user or of a key");
  return { keyId };
}

/** Lets another server go on immediately. */
async function keepLease(session: Session, { result, ...at }: FileImport): Promise<void> {
  if (result === null) return;
  await keepProgress(session, at, { done: at.done, result, batch: at.batch, leaseUntil: 0, refused: [] });
}

/** Adds lines to the result. */
function withLines(before: FileResult | null, lines: readonly StoredLine[]): FileResult {
  const counts = { new: 0, changed: 0, unchanged: 0, refused: 0, ...before?.counts };
  const shown = {
    new: [...(before?.lines.new ?? [])],
    changed: [...(before?.lines.changed ?? [])],
    unchanged: [...(before?.lines.unchanged ?? [])],
    refused: [...(before?.lines.refused ?? [])],
  };
  for (const { outcome, ...line } of lines) {
    counts[outcome] += 1;
    if (shown[outcome].length < LINES_SHOWN) shown[outcome].push(line);
  }
  return { counts, lines: shown };
}

export function isBusy(phase: ImportPhase): boolean {
  return phase === "previewing" || phase === "running";
}
