import fs from "node:fs";
import type Database from "better-sqlite3";
import { apply, createLink } from "../../connection/create-link.ts";
import type { Profile } from "../../devices/profile.ts";
import { imageFile } from "../../imaging/files/image-folder.ts";
import { type DeviceLookup, revisionOf } from "../offline/explain.ts";
import type { EventKind } from "../../spool/queries/events/event-log.ts";
import { redact } from "./redact.ts";
import { zonedTime } from "../../report/device-time.ts";

// Makes a fixture of a message: the bytes that the device sent, framing included, from the events of the session.

export interface Capture {
  readonly bytes: Uint8Array;
  /** Warnings for a user who gives the file away or replays it. */
  readonly notes: readonly string[];
}

/** Endings of captures by protocol. */
export const EXTENSIONS = { astm: "astm", hl7: "hl7", poct1a: "poct1", text: "astm", file: "csv" } as const;
const KEPT = "identifiers, dates, comments and free text are kept: read the file before you give it away";

/**
 * Returns the exchange of a message: the bytes between two moments at which the link is at rest, with every message in
 * between. Names are replaced unless `raw` is set. @throws Error if the spool has no such message or has pruned its session
 */
export function capture(
  db: Database.Database,
  folder: string,
  id: string,
  deviceById: DeviceLookup,
  raw: boolean,
): Capture {
  const message = db
    .prepare(
      `SELECT m.session, m.ordinal, m.device, m.profile, s.first_event AS firstEvent, i.removed_at AS removedAt, i.message IS NOT NULL AS isImage
       FROM message m LEFT JOIN session s ON s.id = m.session LEFT JOIN instance i ON i.message = m.id WHERE m.id = ?`,
    )
    .get(id) as CapturedRow | undefined;
  if (message === undefined) throw new Error(`the spool has no message ${id}, expected an id that messages shows`);
  if (message.isImage === 1) return captureImage(folder, id, message, raw);
  const configured = deviceById(message.device);
  const device = configured && { ...configured, profile: revisionOf(message.profile, configured.profile) };
  if (device?.profile.id !== message.profile)
    throw new Error(
      `message ${id} is from ${message.device} with profile ${message.profile}, which the configuration no longer has`,
    );
  if (message.firstEvent === null) throw new Error(`the session of message ${id} is no longer kept`);
  const { bytes, messages, notes } = exchangeOf(db, { ...message, firstEvent: message.firstEvent }, device);
  const others = messages.length === 1 ? [] : [`the fixture holds ${messages.length} messages of one exchange`];
  const name = `name it such as fixtures/${device.profile.id}/CASE.${EXTENSIONS[device.profile.protocol]}`;
  if (raw) return { bytes, notes: [...others, ...notes, "names are kept", name] };
  const redacted = redact(bytes, device.profile, messages);
  return {
    bytes: redacted,
    notes: [...others, ...notes, ...unreadable(device.profile, messages), `names are replaced; ${KEPT}`, name],
  };
}

interface CapturedRow {
  readonly session: number;
  readonly ordinal: number;
  readonly device: string;
  readonly profile: string;
  /** null once the session is pruned. */
  readonly firstEvent: number | null;
  readonly removedAt: number | null;
  readonly isImage: 0 | 1;
}

/** Returns the file of an image. Its header and pixels have names in too many places to replace them. */
function captureImage(folder: string, id: string, { removedAt }: CapturedRow, raw: boolean): Capture {
  if (removedAt !== null)
    throw new Error(`the file of image ${id} was removed at ${new Date(removedAt).toISOString()}`);
  if (!raw)
    throw new Error(`message ${id} is an image, whose names cannot be replaced: --raw writes its file unchanged`);
  return { bytes: fs.readFileSync(imageFile(folder, id)), notes: ["names are kept, also those in the pixels"] };
}

interface Exchange {
  readonly bytes: Uint8Array;
  readonly messages: readonly Uint8Array[];
  readonly notes: readonly string[];
}

function exchangeOf(
  db: Database.Database,
  { session, ordinal, firstEvent }: CapturedRow & { readonly firstEvent: number },
  { profile, timeZone }: NonNullable<ReturnType<DeviceLookup>>,
): Exchange {
  const events = db
    .prepare("SELECT kind, at, bytes FROM event WHERE id >= ? AND session = ? ORDER BY id")
    .iterate(firstEvent, session) as Iterable<{ kind: EventKind; at: number; bytes: Uint8Array | null }>;
  let now = 0;
  const link = createLink(profile, { now: () => zonedTime(now, timeZone), newId: () => "-" });
  let bytes: number[] = [];
  let messages: Uint8Array[] = [];
  let notes: string[] = [];
  let delivered = 0;
  for (const event of events) {
    now = event.at;
    // Two exchanges may share a chunk, so the link gets it byte by byte.
    for (const piece of event.kind === "chunk" ? piecesOf(event.bytes) : [event.bytes]) {
      if (event.kind === "chunk" || event.kind === "resume") bytes.push(...(piece ?? []));
      else if (event.kind !== "send") notes.push(`the line's ${event.kind} within it is not in the fixture`);
      for (const action of apply(link, event.kind, piece)) {
        if (action.do !== "deliver") continue;
        delivered += 1;
        messages.push(action.message);
      }
      if (!link.isIdle) continue;
      if (delivered > ordinal) return { bytes: Uint8Array.from(bytes), messages, notes };
      // Later exchanges need the memory of the link: the HELLO of POCT1-A, which a device sends once.
      bytes = [...(link.memory ?? [])];
      messages = [];
      notes = [];
    }
  }
  return { bytes: Uint8Array.from(bytes), messages, notes };
}

function piecesOf(bytes: Uint8Array | null): Uint8Array[] {
  return Array.from(bytes ?? [], (byte) => Uint8Array.of(byte));
}

function unreadable(profile: Profile, messages: readonly Uint8Array[]): string[] {
  if (profile.protocol !== "text") return [];
  const isUnreadable = (message: Uint8Array) => profile.read(Buffer.from(message).toString("latin1")).is === "problem";
  return messages.some(isUnreadable) ? ["a text cannot be read: its names, if it has any, are kept"] : [];
}
