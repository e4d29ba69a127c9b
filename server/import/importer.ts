import { stat } from "node:fs/promises";
import { shown } from "../../shared/api/problems.ts";
import { ConcurrentLines } from "./concurrent-lines.ts";
import type { Change, ImportContext } from "./context.ts";
import { faultsOf, parse } from "./line-checks.ts";
import { lines, tooLong } from "./line-reader.ts";
import type { Entity } from "./lines.ts";
import { checkAmendment, storeEntity } from "./entities.ts";
import { servedClinics } from "../store/keys.ts";
import type { Session } from "../store/database/query.ts";
import { listSharedNumbers, type SharedNumber } from "../store/patients/shared-numbers.ts";
import type { Store } from "../store/database/store.ts";
import { stampPatients } from "./patients.ts";

// Imports a file of one JSON object a line, all or nothing. The file is read once to check it, then once for each
// stage below: so lines may stand in any order, nothing is kept in memory, and a fault in the file holds up no other writer.

/** How far an import is: of all the bytes it will read. */
export type Progress = (bytesRead: number, bytesTotal: number) => void;

export interface ImportResult {
  new: number;
  changed: number;
  unchanged: number;
  /** Warnings about stored data; absent if there are none. */
  warnings?: { shown: readonly string[]; total: number };
}

/** The file was refused and nothing of it stored; the problems are in the order of its lines, the first ones of them. */
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
  {
    connection: storeEntity,
    study: storeEntity,
    soap: storeEntity,
    calendar_event: storeEntity,
    inventory_item: storeEntity,
  },
  // A record may stand before the one that it amends: what it says of it is checked when both are stored.
  { inventory_batch: storeEntity, soap: checkAmendment },
];

/**
 * Imports an NDJSON file in one transaction. `recordOwnerId` names the clinic whose SOAP records the file may give to another clinic.
 * Rejects with an ImportError that lists what is wrong with the file.
 */
export async function importFile(
  store: Store,
  path: string,
  progress: Progress,
  now: () => number = Date.now,
  recordOwnerId: number | null = null,
): Promise<ImportResult> {
  const { size } = await stat(path);
  const bytesTotal = size * (1 + stages.length);
  const faultsOfLines = new Faults();
  const clock = now();

  for await (const { number, bytes, bytesRead } of lines(path)) {
    faultsOfLines.add(number, bytes === null ? [tooLong] : faultsOf(bytes, clock));
    progress(bytesRead, bytesTotal);
  }
  faultsOfLines.throwIfAny();

  return store.transaction(async (session) => {
    const faults = new Faults();
    const result: ImportResult = { new: 0, changed: 0, unchanged: 0 };
    const current: ImportContext = {
      now: clock,
      served: await servedClinics(session),
      newPatients: new Set(),
      stamped: new Set(),
      recordOwnerId,
    };
    let numbersMayMeet = false;
    for (const [index, steps] of stages.entries()) {
      const sideBySide = new ConcurrentLines();
      try {
        for await (const { number, bytes, bytesRead } of lines(path)) {
          progress(size * (index + 1) + bytesRead, bytesTotal);
          // Checked above; should the file have changed since, what does not fit fails here and nothing is stored.
          const entity = parse(bytes ?? Buffer.alloc(0)) as Entity;
          const step = steps[entity.type];
          if (step === undefined) continue;
          await sideBySide.run(subjectOf(entity), async () => {
            const change = await step(session, entity, current);
            if (change === null) return;
            if (typeof change === "object") faults.add(number, [change.problem]);
            else {
              result[change] += 1;
              if (change !== "unchanged" && hasNumbers(entity)) numbersMayMeet = true;
            }
          });
        }
      } finally {
        await sideBySide.finish();
      }
    }
    faults.throwIfAny();
    await stampPatients(session, current, now());
    const numbers = numbersMayMeet ? await listSharedNumbers(session, WARNINGS_SHOWN_MAX) : { shared: [], total: 0 };
    if (numbers.total === 0) return result;
    return { ...result, warnings: { shown: numbers.shared.map(sharedNumber), total: numbers.total } };
  });
}

/** Whether a line decides which patients of a clinic a card number names. */
function hasNumbers({ type }: Entity): boolean {
  return type === "patient" || type === "connection";
}

function sharedNumber({ clinic_fp, identifier, patients, first_fp, last_fp }: SharedNumber): string {
  const names = patients > 2 ? `${first_fp}, ${last_fp} and ${patients - 2} more` : `${first_fp} and ${last_fp}`;
  return `external_id ${shown(identifier)} names ${patients} patients of ${clinic_fp}, ${names}: a result with it stays unmatched`;
}

/** @returns the record that a line writes. Beside it, a line may create a missing customer */
function subjectOf(entity: Entity): string {
  switch (entity.type) {
    case "connection":
      return entity.patient_fp;
    case "inventory_batch":
      return entity.item_fp;
    default:
      return entity.fp;
  }
}

class Faults {
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
