import type Database from "better-sqlite3";
import { newFp } from "../../../shared/api/fp.ts";
import { type HeldStudy, revise, type StudyBody } from "../../report/revision.ts";
import type { Operations } from "../../spool/queries/operations.ts";
import type { StudyDraft } from "../../spool/queries/studies/revisions.ts";
import type { Settlement } from "../../spool/queries/studies/studies.ts";

// Assesses messages again, each together with the other messages of its studies. A message alone would undo what a later one
// corrected.

export class WholeStudies {
  readonly #operations: Pick<Operations, "studyKey" | "latestStudy">;
  readonly #assess: (message: string) => Promise<Settlement | null>;
  readonly #messagesOf: Database.Statement;
  readonly #keysOf: Database.Statement;
  readonly #isShort: Database.Statement;
  readonly #assessed = new Map<string, Promise<Settlement | null>>();
  readonly #mayLoseRows: boolean;

  /**
   * `assess` returns the outcome of one message alone; null for a message that cannot be assessed. `mayLoseRows`: rows that no
   * message gives any more are withdrawn, since another profile reads them.
   */
  constructor(
    db: Database.Database,
    operations: Pick<Operations, "studyKey" | "latestStudy">,
    assess: (message: string) => Promise<Settlement | null>,
    mayLoseRows = false,
  ) {
    this.#mayLoseRows = mayLoseRows;
    this.#operations = operations;
    this.#assess = assess;
    this.#messagesOf = db
      .prepare(
        `SELECT id FROM message WHERE id = @message OR id IN
           (SELECT l.message FROM study s JOIN message_study l ON l.fp = s.fp AND l.revision = s.revision WHERE s.dedupe_key = @key)
         ORDER BY rowid`,
      )
      .pluck();
    this.#keysOf = db
      .prepare(
        `SELECT DISTINCT s.dedupe_key FROM message_study l JOIN study s ON s.fp = l.fp AND s.revision = l.revision WHERE l.message = ?`,
      )
      .pluck();
    this.#isShort = db
      .prepare(
        `SELECT EXISTS (SELECT 1 FROM study s WHERE s.dedupe_key = ?
           AND NOT EXISTS (SELECT 1 FROM message_study l WHERE l.fp = s.fp AND l.revision = s.revision
             AND NOT EXISTS (SELECT 1 FROM folder_file f WHERE f.message = l.message AND f.bytes IS NOT NULL)))`,
      )
      .pluck();
  }

  /**
   * Returns the outcome of a message. Its studies hold the results of all their messages. A study loses the results that are a
   * control's by now.
   */
  async assess(message: string): Promise<Settlement | null> {
    const own = await this.#once(message);
    if (own === null) return null;
    const studies: StudyDraft[] = [];
    for (const draft of [...own.studies, ...this.#leftStudies(message, own)]) {
      studies.push(await this.#whole(message, draft, own.studies));
    }
    return { ...own, studies };
  }

  #once(message: string): Promise<Settlement | null> {
    const assessed = this.#assessed.get(message) ?? this.#assess(message);
    this.#assessed.set(message, assessed);
    return assessed;
  }

  /** Joins a message's draft of a study with the drafts of the study's other messages, in the order of their storage. */
  async #whole(message: string, own: StudyDraft, drafts: readonly StudyDraft[]): Promise<StudyDraft> {
    const key = this.#operations.studyKey(own);
    let whole: StudyDraft | null = null;
    for (const id of this.#messagesOf.all({ message, key }) as string[]) {
      const others = id === message ? [own] : ((await this.#once(id))?.studies ?? []);
      for (const draft of others) {
        if (this.#operations.studyKey(draft) === key) whole = whole === null ? draft : joined(whole, draft);
      }
    }
    const held = this.#operations.latestStudy(key);
    if (whole === null || held === null) return own;
    // A filed study stays with its patient, even if another one has the identifier by now.
    const isFiled = !held.isUnmatched && !held.isRejected && held.body.patient_fp !== null;
    if (isFiled && held.body.patient_fp !== whole.body.patient_fp)
      return { ...own, body: held.body, snapshot: held.snapshot };
    // The rows of a message that retention removed are in no message any more, whatever the profile.
    const isShort = this.#isShort.get(key) === 1;
    const lost = this.#mayLoseRows && !isShort ? lostRows(held, whole) : [];
    const withdrawn = [...(whole.withdrawn ?? []), ...movedAway(held, whole, drafts), ...lost];
    return { ...whole, withdrawn, flaggedAgain: true };
  }

  /** Returns empty drafts of the message's earlier studies of which it has no draft any more. */
  #leftStudies(message: string, { studies: drafts, controls = [] }: Settlement): StudyDraft[] {
    if (drafts.length === 0 && controls.length === 0) return [];
    const keys = new Set(drafts.map((draft) => this.#operations.studyKey(draft)));
    const left = (this.#keysOf.all(message) as string[]).filter((key) => !keys.has(key));
    return left.flatMap((key) => {
      const held = this.#operations.latestStudy(key);
      if (held === null) return [];
      const { body, snapshot } = held;
      const empty = { body: { ...body, results: [] }, snapshot: { ...snapshot, rows: [] }, freshFp: newFp("cds") };
      const withdrawn = rowsOf(controls, held);
      // A study that lost all of its results before stays as it is.
      if (drafts.length === 0 && withdrawn.length === 0 && body.results.length > 0) return [];
      return [{ ...empty, ...(withdrawn.length === 0 ? {} : { withdrawn }) }];
    });
  }
}

function joined(earlier: StudyDraft, later: StudyDraft): StudyDraft {
  const { body, snapshot } = revise(earlier, later) ?? earlier;
  return { ...later, body, snapshot, withdrawn: [...(earlier.withdrawn ?? []), ...(later.withdrawn ?? [])] };
}

/**
 * Returns the analytes whose rows are now in another study of the same patient, because the clinic mapped their codes to
 * analytes of another modality.
 */
function movedAway(held: HeldStudy, whole: StudyBody, drafts: readonly StudyDraft[]): string[] {
  const here = new Set(whole.snapshot.rows.map(({ device_code }) => device_code));
  const elsewhere = drafts.filter(({ body }) => isSamePatient(body, held.body) && body.modality !== held.body.modality);
  const moved = new Set(elsewhere.flatMap(({ snapshot }) => snapshot.rows.map(({ device_code }) => device_code)));
  return held.body.results.flatMap(({ analyte, code_source }, index) => {
    const code = held.snapshot.rows[index]?.device_code;
    const isMoved = code_source !== undefined && code !== undefined && moved.has(code) && !here.has(code);
    return isMoved ? [analyte] : [];
  });
}

/** Returns the analytes of a study that are values of these control runs. */
function rowsOf(controls: NonNullable<Settlement["controls"]>, { snapshot }: HeldStudy): string[] {
  const values = new Set(
    controls.flatMap(({ results }) => results.map(({ analyte, text }) => JSON.stringify([analyte, text]))),
  );
  return snapshot.rows
    .filter(({ code, text }) => values.has(JSON.stringify([code, text])))
    .map(({ analyte }) => analyte);
}

/** Returns the analytes that the messages of a study gave and do not give any more. */
function lostRows(held: HeldStudy, whole: StudyBody): string[] {
  const given = new Set(whole.body.results.map(({ analyte }) => analyte));
  return held.body.results.map(({ analyte }) => analyte).filter((analyte) => !given.has(analyte));
}

function isSamePatient(one: StudyBody["body"], other: StudyBody["body"]): boolean {
  return JSON.stringify(one.patient_hint) === JSON.stringify(other.patient_hint);
}
