import { stat } from "node:fs/promises";
import { shown } from "../../shared/schema/problems.ts";
import { ConcurrentLines } from "./concurrent-lines.ts";
import type { Change } from "../records/registry/animals.ts";
import type { ImportContext } from "./context.ts";
import { lineProblems, parseLine } from "./line-checks.ts";
import { LINE_TOO_LONG, readLines } from "./line-reader.ts";
import { type Entity } from "./lines.ts";
import { checkChain, linkMerged, storeEntity } from "./entities.ts";
import { lastPatientId } from "./patients.ts";
import { servedClinics } from "../records/clinics/keys.ts";
import type { Session } from "../database/query.ts";
import { listSharedNumbers, type SharedNumber } from "../records/patients/shared-numbers.ts";
import type { Store } from "../database/store.ts";

// Imports a file of one JSON object a line, all or nothing. Reads the file once to check it, then once for each stage. Lines
// may thus have any order, no line stays in memory, and an invalid file blocks no writer.

/** Receives the progress of an import, in bytes of all passes over the file. */
export type Progress = (bytesRead: number, bytesTotal: number) => void;

export interface ImportResult {
  new: number;
  changed: number;
  unchanged: number;
  /** Warnings about stored data; absent if there are none. */
  warnings?: { shown: readonly string[]; total: number };
}

/** Reports a refused file, of which nothing was stored. Holds the first problems by line. */
export class ImportError extends Error {
  readonly problems: readonly LineProblem[];
  readonly total: number;

  constructor(list: LineProblem[], total: number) {
    super(`${total} problems, nothing was imported`);
    this.problems = list;
    this.total = total;
  }
}

export interface LineProblem {
  line: number;
  problem: string;
}

const PROBLEMS_SHOWN_MAX = 100;
const WARNINGS_SHOWN_MAX = 100;

/** Step of a stage for a line of one type. A null result is not counted. */
type Step = (session: Session, entity: Entity, current: ImportContext) => Promise<Change | { problem: string } | null>;

// A line refers to entities of earlier stages.
const stages: readonly Partial<Record<Entity["type"], Step>>[] = [
  { clinic: storeEntity, customer: storeEntity },
  { user: storeEntity, patient: storeEntity },
  { patient: linkMerged, patient_source: storeEntity, customer_source: storeEntity, connection: storeEntity },
  // After the connections: lines run concurrently, and a connection changes the lists of the records that its patient has.
  {
    study: storeEntity,
    soap: storeEntity,
    calendar_event: storeEntity,
    inventory_item: storeEntity,
  },
  // A file may contain an amendment before the amended record, so that a later stage checks amendments; and merges likewise.
  { event_source: storeEntity, inventory_batch: storeEntity, soap: checkChain, patient: checkChain },
  { stock_movement: storeEntity },
];

/**
 * Imports an NDJSON file in one transaction. The SOAP records of the clinic `recordOwnerId` may move to another clinic.
 * Rejects with an ImportError if the file is invalid.
 */
export async function importFile(
  store: Store,
  path: string,
  progress: Progress,
  now: () => number = Date.now,
  recordOwnerId: number | null = null,
): Promise<ImportResult> {
  const { size } = await stat(path);
  const startedAt = now();
  /** Reports the progress of a pass over the file; pass 0 checks the lines. */
  const progressOf = (pass: number) => (bytesRead: number) =>
    progress(size * pass + bytesRead, size * (1 + stages.length));
  await checkLines(path, progressOf(0), startedAt);

  return store.transaction(async (session) => {
    const context: ImportContext = {
      now: startedAt,
      clock: now,
      served: await servedClinics(session),
      lastPatientId: await lastPatientId(session),
      recordOwnerId,
      histories: new Map(),
    };
    const tally: Tally = { new: 0, changed: 0, unchanged: 0, problems: new ProblemList(), mayShareNumbers: false };
    for (const [index, steps] of stages.entries()) {
      await runStage(session, path, steps, context, tally, progressOf(index + 1));
    }
    const { problems, mayShareNumbers, ...result } = tally;
    problems.throwIfAny();
    const numbers = mayShareNumbers ? await listSharedNumbers(session, WARNINGS_SHOWN_MAX) : { shared: [], total: 0 };
    if (numbers.total === 0) return result;
    return { ...result, warnings: { shown: numbers.shared.map(sharedNumberWarning), total: numbers.total } };
  });
}

async function checkLines(path: string, progress: (bytesRead: number) => void, now: number): Promise<void> {
  const problems = new ProblemList();
  for await (const { number, bytes, bytesRead } of readLines(path)) {
    problems.add(number, bytes === null ? [LINE_TOO_LONG] : lineProblems(bytes, now));
    progress(bytesRead);
  }
  problems.throwIfAny();
}

/** Counts of an import. */
interface Tally extends Omit<ImportResult, "warnings"> {
  readonly problems: ProblemList;
  /** Whether a stored line may give one card number to several patients of a clinic. */
  mayShareNumbers: boolean;
}

async function runStage(
  session: Session,
  path: string,
  steps: (typeof stages)[number],
  context: ImportContext,
  tally: Tally,
  progress: (bytesRead: number) => void,
): Promise<void> {
  const concurrent = new ConcurrentLines();
  try {
    for await (const { number, bytes, bytesRead } of readLines(path)) {
      progress(bytesRead);
      // `checkLines` accepted the line. If the file changed in the meantime, an invalid line throws and nothing is stored.
      const entity = parseLine(bytes ?? Buffer.alloc(0)) as Entity;
      const step = steps[entity.type];
      if (step === undefined) continue;
      await concurrent.run(subjectOf(entity), async () => {
        const change = await step(session, entity, context);
        if (change === null) return;
        if (typeof change === "object") tally.problems.add(number, [change.problem]);
        else {
          tally[change] += 1;
          if (change !== "unchanged") tally.mayShareNumbers ||= hasNumbers(entity);
        }
      });
    }
  } finally {
    await concurrent.finish();
  }
}

/** Whether the entity decides which patients of a clinic a card number names. */
function hasNumbers({ type }: Entity): boolean {
  return type === "patient" || type === "connection";
}

function sharedNumberWarning({ clinic_fp, identifier, patients, first_fp, last_fp }: SharedNumber): string {
  const names = patients > 2 ? `${first_fp}, ${last_fp} and ${patients - 2} more` : `${first_fp} and ${last_fp}`;
  return `external_id ${shown(identifier)} names ${patients} patients of ${clinic_fp}, ${names}: a result with it stays unmatched`;
}

/** @returns the record that a line writes, apart from a customer that it may create */
function subjectOf(entity: Entity): string {
  switch (entity.type) {
    case "connection":
      return entity.patient_fp;
    case "inventory_batch":
    case "stock_movement":
      return entity.item_fp;
    case "patient_source":
    case "customer_source":
    case "event_source":
      return JSON.stringify([entity.type, entity.clinic_fp, entity.source, entity.external_id]);
    default:
      return entity.fp;
  }
}

/** Collects the problems of a file. Counts all and keeps the first PROBLEMS_SHOWN_MAX. */
class ProblemList {
  readonly #list: LineProblem[] = [];
  #total = 0;

  add(line: number, found: readonly string[]): void {
    this.#total += found.length;
    const room = PROBLEMS_SHOWN_MAX - this.#list.length;
    this.#list.push(...found.slice(0, Math.max(0, room)).map((problem) => ({ line, problem })));
  }

  throwIfAny(): void {
    if (this.#total === 0) return;
    throw new ImportError(
      this.#list.toSorted((a, b) => a.line - b.line),
      this.#total,
    );
  }
}
