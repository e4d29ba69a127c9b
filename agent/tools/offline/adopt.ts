import { readText, writeText } from "../../config/config-file.ts";
import { withProfile } from "../../config/edit.ts";
import type { Config } from "../../config/values/schema.ts";
import { readSpool, writeSpool } from "../../spool/access.ts";
import type { FilingDevice } from "../../study/assess.ts";
import { reassess, type ReassessedMessage, type RowChanges, type Stored, storeTogether } from "./reprocess.ts";

// A device gets another revision of its profile on purpose: first its stored messages show the difference, then agent.yaml pins
// the revision, and one transaction stores the messages. An adoption that a killed process left between the two is in the spool,
// and the next start completes it.

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
  /** Those whose outcome or rows change. */
  readonly changed: readonly ReassessedMessage[];
  /** Those that would become another study. They stay as they were filed. */
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
  const split = differing.filter((message) => !replacesItself(config.data, message));
  const changed = differing.filter((message) => !split.includes(message));
  return { messages: done.length, changed, split, rows: totalOf(changed) };
}

/** A study of several messages counts once. */
function totalOf(changed: readonly ReassessedMessage[]): RowChanges {
  const byStudy = new Map(changed.flatMap(({ rows }) => [...rows]));
  const sum = (kind: keyof RowChanges) => [...byStudy.values()].reduce((total, rows) => total + rows[kind], 0);
  return { added: sum("added"), changed: sum("changed"), lost: sum("lost") };
}

/** Whether the studies of a message stay its studies. Else a second study of the same run would appear. */
export function replacesItself(data: string, { message, revisions }: ReassessedMessage): boolean {
  const keys = readSpool(data, (db) =>
    db
      .prepare(
        `SELECT DISTINCT s.dedupe_key FROM message_study l JOIN study s ON s.fp = l.fp AND s.revision = l.revision
         WHERE l.message = ?`,
      )
      .pluck()
      .all(message.id),
  );
  // A study that collects messages has the key of its first one.
  return keys.every((key) => revisions.has(String(key))) && (keys.length === 0 || revisions.size === keys.length);
}

/**
 * Pins the profile in agent.yaml and stores the changed messages. @param file agent.yaml, whose text was `before`
 * @param difference null if there is no spool yet
 */
export function adopt(
  { data }: Pick<Config, "data">,
  file: string,
  before: string,
  adoption: Adoption,
  difference: Difference | null,
): Stored {
  if (readText(file) !== before) throw new Error(`${file} changed meanwhile: run the command again`);
  const pin = () => writeText(file, withProfile(before, adoption.device, adoption.to), before);
  if (difference === null) {
    pin();
    return { stored: 0, overtaken: 0 };
  }
  intendAdoption(data, adoption);
  pin();
  return complete(data, difference.changed);
}

/** Reads and stores the messages of a device whose profile is pinned already. */
export async function adoptPinned(
  config: PinnedConfig,
  analyzers: ReadonlyMap<string, FilingDevice>,
  adoption: Adoption,
): Promise<void> {
  await finishAdoption(config, analyzers);
  intendAdoption(config.data, adoption);
  await finishAdoption(config, analyzers);
}

/** Notes an adoption, which the next start completes if agent.yaml pins the profile then. @param adoption null for none any more */
export function intendAdoption(data: string, adoption: Adoption | null): void {
  const text = adoption === null ? "" : JSON.stringify(adoption);
  writeSpool(data, (operations) => operations.setMeta(ADOPTION_META, text));
}

function complete(data: string, changed: readonly ReassessedMessage[]): Stored {
  return storeTogether(data, changed, (operations) => operations.setMeta(ADOPTION_META, ""));
}

/** Completes what a killed process left. @returns the adoption that was completed; null if there is none */
export async function finishAdoption(
  config: PinnedConfig,
  analyzers: ReadonlyMap<string, FilingDevice>,
): Promise<Adoption | null> {
  const stored = readSpool(config.data, (db) =>
    db.prepare("SELECT value FROM meta WHERE key = ?").pluck().get(ADOPTION_META),
  );
  if (typeof stored !== "string" || stored === "") return null;
  const adoption = JSON.parse(stored) as Adoption;
  const isPinned = config.devices.some(({ id, profile }) => id === adoption.device && profile === adoption.to);
  const { changed } = isPinned ? await differenceOf(config, analyzers, adoption) : { changed: [] };
  complete(config.data, changed);
  return isPinned ? adoption : null;
}
