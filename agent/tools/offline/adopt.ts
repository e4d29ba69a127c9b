import type Database from "better-sqlite3";
import { readText, writeText } from "../../config/config-file.ts";
import { withProfile } from "../../config/edit.ts";
import type { Config } from "../../config/values/schema.ts";
import { readSpool, writeSpool } from "../../spool/access.ts";
import type { Operations } from "../../spool/queries/operations.ts";
import type { FilingDevice } from "../../study/assess.ts";
import { reassess, type ReassessedMessage, type RowChanges, type Stored, storeInTurns } from "./reprocess.ts";

// A device gets another revision of its profile on purpose: first its stored messages show the difference, then the spool notes the
// adoption, agent.yaml pins the revision, and the messages are stored. What a process left after the pin, the next start completes.

const ADOPTION_META = "adoption";

export interface Adoption {
  readonly device: string;
  /** The profile with its revision, before and after. */
  readonly from: string;
  readonly to: string;
  /** Messages received since then, in milliseconds since 1970. */
  readonly since: number;
  /** No person sees the patients of the messages first. */
  readonly isUnseen?: true;
}

type PinnedConfig = Pick<Config, "data" | "matchPatientsByName"> & {
  readonly devices: readonly Pick<Config["devices"][number], "id" | "profile">[];
};

/** The changes that an adoption would make. */
export interface Difference {
  /** The messages that were read again. */
  readonly messages: number;
  /** The messages whose outcome or rows change. */
  readonly changed: readonly ReassessedMessage[];
  /** The messages that would become another study. They stay as they were filed. */
  readonly split: readonly ReassessedMessage[];
  readonly rows: RowChanges;
}

/** Reads the device's stored messages with another profile. Nothing is written. `analyzers` have the new profile. */
export async function differenceOf(
  config: Pick<Config, "data" | "matchPatientsByName">,
  analyzers: ReadonlyMap<string, FilingDevice>,
  { device, since, isUnseen }: Pick<Adoption, "device" | "since" | "isUnseen">,
  progress: (done: number, of: number) => void = () => undefined,
): Promise<Difference> {
  const states = ["pending", "filed", "unmatched", "quarantined", "not-for-patients"] as const;
  const wanted = { states, devices: [device], since, isOtherProfile: true, isUnseen: isUnseen === true } as const;
  const known = { analyzers, imaging: new Map<string, never>() };
  const done = await reassess(config.data, wanted, known, config.matchPatientsByName ?? false, progress);
  const differing = done.filter(({ diff }) => diff.length > 0);
  const changed = thoseThatReplaceThemselves(config.data, differing);
  const kept = new Set(changed);
  const split = differing.filter((message) => !kept.has(message));
  return { messages: done.length, changed, split, rows: totalOf(changed) };
}

/** A study of several messages counts once. */
function totalOf(changed: readonly ReassessedMessage[]): RowChanges {
  const byStudy = new Map(changed.flatMap(({ rows }) => [...rows]));
  const sum = (kind: keyof RowChanges) => [...byStudy.values()].reduce((total, rows) => total + rows[kind], 0);
  return { added: sum("added"), changed: sum("changed"), lost: sum("lost") };
}

/** Returns the messages whose studies stay their studies. Of the others, a second study of the same run would appear. */
export function thoseThatReplaceThemselves(
  data: string,
  messages: readonly ReassessedMessage[],
): readonly ReassessedMessage[] {
  return readSpool(data, (db) => {
    const keysOf = studyKeys(db);
    return messages.filter(({ message, revisions }) => {
      const keys = keysOf.all(message.id);
      // A study that collects messages has the key of its first one.
      return keys.every((key) => revisions.has(String(key))) && (keys.length === 0 || revisions.size === keys.length);
    });
  });
}

function studyKeys(db: Database.Database): Database.Statement {
  return db
    .prepare(
      `SELECT DISTINCT s.dedupe_key FROM message_study l JOIN study s ON s.fp = l.fp AND s.revision = l.revision
       WHERE l.message = ?`,
    )
    .pluck();
}

/**
 * Pins the profile in agent.yaml and stores the changed messages. @param file agent.yaml, whose text was `before`
 * @param difference null if there is no spool yet
 */
export async function adopt(
  { data }: Pick<Config, "data">,
  file: string,
  before: string,
  adoption: Adoption,
  difference: Difference | null,
): Promise<Stored> {
  if (readText(file) !== before) throw new Error(`${file} changed meanwhile: run the command again`);
  const pin = () => writeText(file, withProfile(before, adoption.device, adoption.to), before);
  if (difference === null) {
    pin();
    return { stored: 0, overtaken: 0 };
  }
  intendAdoption(data, adoption);
  pin();
  return complete(data, adoption, difference.changed);
}

/** Notes an adoption just before agent.yaml pins its profile. It replaces another one of the device. */
export function intendAdoption(data: string, adoption: Adoption): void {
  writeSpool(data, (operations) =>
    note(operations, (noted) => [...noted.filter(({ device }) => device !== adoption.device), adoption]),
  );
}

function note(operations: Operations, change: (noted: readonly Adoption[]) => readonly Adoption[]): void {
  operations.setMeta(ADOPTION_META, JSON.stringify(change(notedIn(operations.getMeta(ADOPTION_META)))));
}

/** Earlier versions noted one adoption alone, and an empty text after it. */
function notedIn(text: string | null): readonly Adoption[] {
  return text === null || text === "" ? [] : [JSON.parse(text) as Adoption | Adoption[]].flat();
}

function complete(data: string, adoption: Adoption, changed: readonly ReassessedMessage[]): Promise<Stored> {
  return storeInTurns(data, changed, (operations) =>
    note(operations, (noted) => noted.filter(({ device, to }) => device !== adoption.device || to !== adoption.to)),
  );
}

/**
 * Completes the adoptions that are noted and pinned, and forgets those that are not pinned.
 * @param progress is called often; an error of it ends the work, which another call takes up again
 */
export async function finishAdoptions(
  config: PinnedConfig,
  analyzers: ReadonlyMap<string, FilingDevice>,
  progress?: () => void,
): Promise<Adoption[]> {
  const text = readSpool(config.data, (db) =>
    db.prepare("SELECT value FROM meta WHERE key = ?").pluck().get(ADOPTION_META),
  );
  const completed: Adoption[] = [];
  for (const adoption of notedIn((text as string | undefined) ?? null)) {
    const isPinned = config.devices.some(({ id, profile }) => id === adoption.device && profile === adoption.to);
    const { changed } = isPinned ? await differenceOf(config, analyzers, adoption, progress) : { changed: [] };
    await complete(config.data, adoption, changed);
    if (isPinned) completed.push(adoption);
  }
  return completed;
}
