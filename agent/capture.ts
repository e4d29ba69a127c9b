import fs from "node:fs";
import type Database from "better-sqlite3";
import { apply, createLink } from "./create-link.ts";
import type { Profile } from "./devices/profile.ts";
import type { DeviceLookup } from "./explain.ts";
import { imageFile } from "./image-store.ts";
import type { EventKind } from "./record.ts";
import { redact } from "./redact.ts";
import { zonedTime } from "./time.ts";

// Makes a fixture of a message: the bytes that the device sent, framing included, from the record of the session.

export interface Capture {
  readonly bytes: Uint8Array;
  /** Warnings for a person who gives the file away or replays it. */
  readonly notes: readonly string[];
}

const EXTENSIONS = { astm: "astm", hl7: "hl7", poct1a: "poct1", text: "astm" } as const;
const KEPT = "identifiers, dates, comments and free text are kept: read the file before you give it away";

/**
 * The exchange in which a message came: from the link at rest to the link at rest, with every message in between. Names are
 * replaced unless it is `raw`. @throws when the spool has no such message or no longer has its session
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
  const device = deviceById(message.device);
  if (device === undefined || device.profile.id !== message.profile)
    throw new Error(
      `message ${id} came from ${message.device} with profile ${message.profile}, which the configuration no longer has`,
    );
  if (message.firstEvent === null) throw new Error(`the session of message ${id} is no longer kept`);
  const { bytes, messages, notes } = exchangeOf(db, { ...message, firstEvent: message.firstEvent }, device);
  const others =
    messages.length === 1 ? [] : [`the fixture holds ${messages.length} messages that came in one exchange`];
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
  /** null when the session is pruned. */
  readonly firstEvent: number | null;
  readonly removedAt: number | null;
  readonly isImage: 0 | 1;
}

/** An image's header and pixels hold names in too many places to replace them. */
function captureImage(folder: string, id: string, { removedAt }: CapturedRow, raw: boolean): Capture {
  if (removedAt !== null)
    throw new Error(`the file of image ${id} was removed at ${new Date(removedAt).toISOString()}`);
  if (!raw) throw new Error(`message ${id} is an image, whose names cannot be replaced: --raw gives its file as it is`);
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
    // Byte by byte: two exchanges may share a chunk.
    for (const piece of event.kind === "chunk" ? piecesOf(event.bytes) : [event.bytes]) {
      if (event.kind === "chunk" || event.kind === "resume") bytes.push(...(piece ?? []));
      else if (event.kind !== "send") notes.push(`the line's ${event.kind} within it is not in the fixture`);
      for (const action of apply(link, event.kind, piece)) {
        if (action.do !== "deliver") continue;
        delivered += 1;
        messages.push(action.message);
      }
      if (!link.atRest) continue;
      if (delivered > ordinal) return { bytes: Uint8Array.from(bytes), messages, notes };
      // The link's memory is what a device says once and its later messages need: the HELLO of POCT1-A.
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
