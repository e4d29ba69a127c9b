import type Database from "better-sqlite3";
import type { LiveLine } from "../../page/types/overview.ts";
import { apply, createLink } from "../../connection/create-link.ts";
import type { Profile } from "../../devices/profile.ts";
import type { Link, LinkAction } from "../../protocols/link.ts";
import { wireText } from "../../protocols/transcript.ts";
import { zonedTime } from "../../report/device-time.ts";
import type { EventKind } from "../../spool/queries/events/event-log.ts";

// The bytes of one device while they arrive, out of the stored events. The spool stores no replies, so a link of its own makes
// them again; ids and times in them differ.

/** Events of one read. More wait for the next one. */
const EVENTS_MAX = 200;
/** Max events of a reader's lag. It skips older ones, because a user looks at the present. */
const BEHIND_MAX = 2_000;
const LINE_CHARS = 400;

interface EventRow {
  readonly id: number;
  readonly session: number;
  readonly firstEvent: number;
  readonly device: string;
  readonly kind: EventKind;
  readonly at: number;
  readonly bytes: Uint8Array | null;
}

export class LiveBytes {
  readonly #device: string;
  readonly #profile: Profile;
  readonly #timeZone: string;
  #last: number | null = null;
  /** The session of the last line, and its link. */
  #session = 0;
  #link: Link | null = null;
  #now = 0;

  constructor(device: string, profile: Profile, timeZone: string) {
    this.#device = device;
    this.#profile = profile;
    this.#timeZone = timeZone;
  }

  /** Returns what the device and the agent sent since the last call; nothing at the first one. */
  next(db: Database.Database): LiveLine[] {
    const newest = db.prepare("SELECT COALESCE(MAX(id), 0) FROM event").pluck().get() as number;
    const after = Math.max(this.#last ?? newest, newest - BEHIND_MAX);
    const rows = db
      .prepare(
        `SELECT e.id, e.session, s.first_event AS firstEvent, s.device, e.kind, e.at, e.bytes
         FROM event e JOIN session s ON s.id = e.session WHERE e.id > ? ORDER BY e.id LIMIT ${EVENTS_MAX}`,
      )
      .all(after) as EventRow[];
    this.#last = rows.at(-1)?.id ?? newest;
    return rows.filter(({ device }) => device === this.#device).flatMap((row) => this.#linesOf(row, db));
  }

  #linesOf(row: EventRow, db: Database.Database): LiveLine[] {
    const { kind, at, bytes } = row;
    const actions = this.#actions(row, db);
    const line = (from: LiveLine["from"], text: string) => ({ at: new Date(at).toISOString(), from, text: cut(text) });
    const own = kind === "chunk" ? [line("device", wireText(bytes ?? new Uint8Array()))] : [];
    const told = kind === "close" || kind === "timeout" || kind === "gap" ? [line("line", kind)] : [];
    return [
      ...own,
      ...told,
      ...actions.flatMap((action) => {
        if (action.do === "reply") return [line("agent", wireText(action.bytes))];
        return action.do === "warn" || action.do === "unsent" ? [line("line", action.reason)] : [];
      }),
    ];
  }

  #actions({ id, session, firstEvent, kind, at, bytes }: EventRow, db: Database.Database): LinkAction[] {
    if (this.#link === null || session !== this.#session) {
      this.#session = session;
      this.#link = createLink(this.#profile, { now: () => zonedTime(this.#now, this.#timeZone), newId: () => "-" });
      const earlier = db
        .prepare("SELECT kind, at, bytes FROM event WHERE id >= ? AND id < ? AND session = ? ORDER BY id LIMIT ?")
        .all(firstEvent, id, session, BEHIND_MAX) as Pick<EventRow, "kind" | "at" | "bytes">[];
      for (const event of earlier) {
        this.#now = event.at;
        apply(this.#link, event.kind, event.bytes);
      }
    }
    this.#now = at;
    return apply(this.#link, kind, bytes);
  }
}

function cut(text: string): string {
  return text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS)}…` : text;
}
