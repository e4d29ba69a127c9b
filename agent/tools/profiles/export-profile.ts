import type Database from "better-sqlite3";
import { createLink } from "../../connection/create-link.ts";
import type { Profile } from "../../devices/profile.ts";
import { zonedTime } from "../../report/device-time.ts";
import type { OwnProfile } from "../../devices/own/own-profiles.ts";
import { read } from "../../study/read.ts";
import { capture, EXTENSIONS } from "../capture/capture.ts";
import { redact } from "../capture/redact.ts";
import type { DeviceLookup } from "../offline/explain.ts";
import { type About, packProfile } from "./profile-file.ts";

// Makes the file of an own profile with captures from the spool. It leaves the clinic, so that it has no name.

export interface ExportRequest {
  readonly profile: OwnProfile;
  /** Ids of messages that the profile reads. */
  readonly messages: readonly string[];
  /** Texts to replace in addition to the places of names: an owner that the device sends somewhere else. */
  readonly hidden: readonly string[];
  readonly about: About;
  /** Names of the clinic's operators. */
  readonly operators: readonly string[];
}

/** Names of this length and shorter occur in any text. */
const SHORT_NAME_CHARS = 2;

/** @throws Error if a name of the directory or of an operator is left in a capture, or if the profile reads nothing of it */
export function exportProfile(
  db: Database.Database,
  data: string,
  { profile: own, messages, hidden, about, operators }: ExportRequest,
  deviceById: DeviceLookup,
): Uint8Array {
  const { form, profile } = own;
  const captures = new Map<string, Uint8Array>();
  for (const [index, id] of messages.entries()) {
    const { bytes: raw } = capture(db, data, id, deviceById, true);
    const texts = deliveredBy(raw, profile, about);
    const context = { device: "replay", timeZone: about.timeZone, receivedAt: about.receivedAt };
    if (!texts.some((text) => read(text, profile, context).is === "reports")) {
      throw new Error(`${own.reference} reads no result in message ${id}`);
    }
    const bytes = redact(raw, profile, texts, hidden);
    const left = namesLeft(bytes, [...directoryNames(db), ...operators]);
    if (left.length > 0) {
      throw new Error(
        `message ${id} still has ${left.length} names of the clinic: replace each with --hide, or take another message`,
      );
    }
    captures.set(`captures/${index + 1}.${EXTENSIONS[profile.protocol]}`, bytes);
  }
  return packProfile({ form, profile: { ...profile, id: form.profile }, captures, about });
}

function deliveredBy(bytes: Uint8Array, profile: Profile, { timeZone, receivedAt }: About): Uint8Array[] {
  const link = createLink(profile, { now: () => zonedTime(receivedAt, timeZone), newId: () => "-" });
  const actions = [...link.receive(bytes), ...link.close()];
  return actions.flatMap((action) => (action.do === "deliver" ? [action.message] : []));
}

function directoryNames(db: Database.Database): string[] {
  return db.prepare("SELECT json_extract(body, '$.name') FROM patient").pluck().all().map(String);
}

/** Finds the names that occur as words in either encoding of the text. */
function namesLeft(bytes: Uint8Array, names: readonly string[]): string[] {
  const text = ["utf8", "latin1"]
    .map((charset) => ` ${wordsOf(Buffer.from(bytes).toString(charset as BufferEncoding))} `)
    .join();
  const wanted = new Set(names.map(wordsOf).filter((name) => name.length > SHORT_NAME_CHARS));
  return [...wanted].filter((name) => text.includes(` ${name} `));
}

/** Staff type names without accents, and Turkish has two letters i. */
function wordsOf(text: string): string {
  const folded = text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase().replaceAll("ı", "i");
  return folded.replaceAll(/[^\p{L}]+/gu, " ").trim();
}
