import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { isNearName } from "../../shared/clinical/candidates.ts";
import { ClinicRange, ClinicRanges } from "../../shared/clinical/clinic-ranges.ts";
import { isFp } from "../../shared/api/fp.ts";
import { knownPart } from "../../shared/api/known.ts";
import { Patient } from "../../shared/api/patient.ts";
import type { Namesakes } from "./match.ts";
import type { Report } from "../report/report.ts";
import { SendError } from "../runtime/send-error.ts";
import type { ServerClient } from "../push/server-client.ts";
import type { Spool, SpoolCalls } from "../spool/spool.ts";
import type { TestOrder } from "../spool/queries/orders.ts";
import { dayOf } from "../report/device-time.ts";
import { realTimer, type SetTimer } from "../runtime/timer.ts";
import type { MatchKeys } from "../spool/queries/waiting.ts";

// The clinic's patients on the agent's disk, kept in step with the server: results are matched while it is away. Beside them
// who comes today, for the worklists of analyzers, and the clinic's own reference intervals.

// A later server may add fields to a patient.
const KnownPatient = Type.Object({ ...Patient.properties });
const KnownIdentifiers = Type.Object({ patient_fp: Type.String(), identifiers: Type.Array(Type.String()) });
/** Fields of an event that a worklist needs. */
const Events = Compile(
  Type.Array(
    Type.Object({
      fp: Type.String(),
      status: Type.String(),
      start_at: Type.String(),
      patient_fp: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
);
const page = { total: Type.Integer(), has_more: Type.Boolean() };
const PatientPage = Compile(Type.Object({ data: Type.Object({ items: Type.Array(KnownPatient), ...page }) }));
const IdentifierPage = Compile(Type.Object({ data: Type.Object({ items: Type.Array(KnownIdentifiers), ...page }) }));

const RemovedPage = Compile(
  Type.Object({
    data: Type.Object({
      items: Type.Array(Type.Object({ patient_fp: Type.String(), updated_at: Patient.properties.updated_at })),
      ...page,
    }),
  }),
);

const RangesAnswer = Type.Object({ data: Type.Union([ClinicRanges, Type.Null()]) });
const rangesAnswer = Compile(RangesAnswer);
const clinicRange = Compile(ClinicRange);

const PAGE_SIZE = 100;
/** A full walk finds what incremental syncs missed. */
const FULL_WALK_MS = 24 * 60 * 60 * 1000;
/** A full walk takes many requests. One that did not meet every patient is repeated after this time. */
const WALK_RETRY_MS = 5 * 60 * 1000;
/** A sync that finds nothing is noted for `status` no more often than this. */
const NOTE_MS = 60_000;
/** A change may become visible this much later than its updated_at says: the clocks of a server's nodes differ a little. */
const OVERLAP_MS = 60_000;

/** The server counts by the minute; longer waits and more of them are left to the next sync. */
const LIMIT_WAIT_MS_MAX = 70_000;
const LIMIT_WAITS_MAX = 3;

const NAMES_AT_ONCE = 500;

export class Directory {
  readonly #spool: SpoolCalls;
  readonly #server: ServerClient;
  readonly #setTimer: SetTimer;
  #syncing: Promise<SyncResult> | null = null;
  #askedAt = 0;
  #walkTriedAt = Number.NEGATIVE_INFINITY;
  #isFetched = false;
  /** The identifiers of a changed patient may be missing. True at first, because a sync may have been interrupted. */
  #lacksIdentifiers = true;
  #ranges: ClinicRanges | null | undefined;

  constructor(spool: SpoolCalls, server: ServerClient, setTimer: SetTimer = realTimer) {
    this.#spool = spool;
    this.#server = server;
    this.#setTimer = setTimer;
  }

  /** Fetches what changed since the last time. One at a time; a second caller waits for the first. @throws SendError */
  sync(): Promise<SyncResult> {
    if (this.#syncing === null) {
      this.#askedAt = performance.now();
      this.#syncing = this.#sync().finally(() => (this.#syncing = null));
    }
    return this.#syncing;
  }

  /**
   * Syncs unless that was tried within `maxAgeMs`, and waits for it at most `waitMs`: a result must not wait for a server
   * that hangs. Whether there may be news.
   */
  async refresh(maxAgeMs: number, waitMs: number): Promise<boolean> {
    const age = this.#askedAt === 0 ? Number.POSITIVE_INFINITY : performance.now() - this.#askedAt;
    const running = this.#syncing !== null;
    // One that is under way may bring the very patient; one that hangs is waited for once, not by every result.
    if (age < maxAgeMs && !running) return false;
    const patience = running ? waitMs - age : waitMs;
    if (patience <= 0) return false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), patience);
    });
    const synced = this.sync().then(
      () => true,
      () => false, // the server is away: what the disk knows decides
    );
    return Promise.race([synced, late]).finally(() => clearTimeout(timer));
  }

  /**
   * The patients whom a Report's identifiers name exactly: fp, bare ULID, and, for the one a person typed as the patient's,
   * an external id or microchip. A specimen number is never compared with card numbers. First those whom the orders are for
   * whose accession stands among the identifiers, in whichever field the device has it.
   */
  async find(named: Named): Promise<NamedPatients> {
    const { identifier, otherIdentifiers } = named;
    const texts = identifier === null ? otherIdentifiers : [identifier, ...otherIdentifiers];
    const fps = texts.map(asPatientFp).filter((fp) => fp !== null);
    const accessions = accessionsIn(named);
    const { orders, patients, version } = await this.#spool.call("named", { accessions, fps, identifier });
    const found = new Map<string, Patient>();
    for (const body of patients) {
      const patient = JSON.parse(body) as Patient;
      found.set(patient.fp, patient);
    }
    const ordered = orders.map(({ patientFp }) => patientFp);
    const keys = [...(identifier === null ? [] : [identifier]), ...fps, ...ordered];
    return { patients: [...found.values()], orders, waiting: { keys, version } };
  }

  /** Whether all patients of the clinic were fetched at least once. */
  async isFetched(): Promise<boolean> {
    this.#isFetched ||= (await this.#progress()).walkedAt !== undefined;
    return this.#isFetched;
  }

  /**
   * The patients of a species with a name or nearly so, and who has an event on the day of the sample. In pages, since the disk's
   * thread has acknowledgements waiting.
   */
  async namesakes(name: string, species: string, acquiredAt: string, timeZone: string): Promise<Namesakes> {
    const all: Patient[] = [];
    for (let after = ""; ; ) {
      const bodies = await this.#spool.call("patientsAfter", after, NAMES_AT_ONCE);
      const patients = bodies.map((body) => JSON.parse(body) as Patient);
      all.push(...patients.filter((patient) => patient.species === species && isNearName(patient.name, name)));
      after = patients.at(-1)?.fp ?? "";
      if (bodies.length < NAMES_AT_ONCE) break;
    }
    const { from, to } = dayOf(Date.parse(acquiredAt), timeZone);
    return { all, appointed: new Set(await this.#spool.call("appointedFps", from, to)) };
  }

  /** The orders alone. */
  issued(named: Named): Promise<TestOrder[]> {
    return this.#spool.call("ordersByAccession", accessionsIn(named));
  }

  /** The clinic's own intervals, as the server had them last; null where it has none. */
  async ranges(): Promise<ClinicRanges | null> {
    if (this.#ranges === undefined) {
      this.#ranges = JSON.parse((await this.#spool.call("getMeta", "ranges")) ?? "null") as ClinicRanges | null;
    }
    return this.#ranges;
  }

  async #sync(): Promise<SyncResult> {
    const startedAt = Date.now();
    // Before the patients: whoever is known is flagged by the clinic's intervals.
    await this.#syncRanges();
    const last = await this.#progress();
    const isWalkDue = last.walkedAt === undefined || startedAt - last.walkedAt > FULL_WALK_MS;
    const walk = last.patients === undefined || (isWalkDue && startedAt - this.#walkTriedAt >= WALK_RETRY_MS);
    if (walk) this.#walkTriedAt = startedAt;

    // Removals first, so that a patient who left and came back is kept. Each list has a cursor of its own, because a change
    // may fall between the two requests.
    let { patients = ORIGIN, removed = patients } = last;
    let changed = 0;
    if (!walk) {
      const removals = await this.#syncRemoved(removed, sinceOf(removed, last), startedAt);
      removed = removals.cursor;
      changed += removals.forgotten;
    }
    const since = walk ? null : sinceOf(patients, last);
    const met = new Set<string>();
    let total = 0;
    for await (const body of this.#pages("/api/v1/patients", since)) {
      if (!PatientPage.Check(body))
        throw new Error("GET /api/v1/patients answered with something that is no page of patients");
      const { items } = body.data;
      for (const { fp } of items) met.add(fp);
      patients = moved(patients, items, startedAt);
      total = body.data.total;
      const rows = items.map((patient) => ({ fp: patient.fp, body: JSON.stringify(patient) }));
      const news = rows.length === 0 ? 0 : await this.#spool.call("upsertPatients", rows, walk ? startedAt : null);
      this.#lacksIdentifiers ||= news > 0;
      changed += news;
    }
    if (walk || this.#lacksIdentifiers) await this.#syncIdentifiers(since, startedAt);
    // A deletion during the walk shifts a patient over a page's edge: only a walk that met them all may forget any.
    const whole = walk && met.size === total;
    const progress = { ...last, patients, removed: whole ? patients : removed, syncedAt: startedAt };
    if (whole) {
      const walked = JSON.stringify({ ...progress, walkedAt: startedAt } satisfies Progress);
      await this.#spool.call("endWalk", startedAt, walked, last.walkedAt === undefined);
    } else if (isNews(last, progress)) {
      await this.#spool.call("setMeta", "directory", JSON.stringify(progress satisfies Progress));
    }
    return { whole, changed };
  }

  /** Forgets the patients who were deleted or disconnected. */
  async #syncRemoved(
    from: Cursor,
    since: number,
    startedAt: number,
  ): Promise<{ readonly cursor: Cursor; readonly forgotten: number }> {
    let cursor = from;
    let forgotten = 0;
    for await (const body of this.#pages("/agent/v1/removed", since)) {
      if (!RemovedPage.Check(body))
        throw new Error("GET /agent/v1/removed answered with something that is no page of removed patients");
      const { items } = body.data;
      cursor = moved(cursor, items, startedAt);
      const removed = items.map(({ patient_fp, updated_at }) => ({ fp: patient_fp, at: Date.parse(updated_at) }));
      if (removed.length > 0) forgotten += await this.#spool.call("forgetPatients", removed);
    }
    return { cursor, forgotten };
  }

  async #syncIdentifiers(since: number | null, startedAt: number): Promise<void> {
    for await (const body of this.#pages("/agent/v1/identifiers", since)) {
      if (!IdentifierPage.Check(body))
        throw new Error("GET /agent/v1/identifiers answered with something that is no page of them");
      const rows = body.data.items.map(({ patient_fp, identifiers }) => ({ patientFp: patient_fp, identifiers }));
      await this.#spool.call("setIdentifiers", rows, since === null ? startedAt : null);
    }
    this.#lacksIdentifiers = false;
  }

  async #progress(): Promise<Partial<Progress>> {
    return JSON.parse((await this.#spool.call("getMeta", "directory")) ?? "{}") as Partial<Progress>;
  }

  async #syncRanges(): Promise<void> {
    const body = await this.#page("/agent/v1/ranges");
    // A server that knows no such route has no intervals to give.
    if (body === null) return;
    const known = knownPart(RangesAnswer, body);
    if (!rangesAnswer.Check(known))
      throw new Error("GET /agent/v1/ranges answered with something that is no list of intervals");
    const ranges = known.data === null ? null : knownRanges(known.data, body as { data: ClinicRanges });
    if (ranges?.version === (await this.ranges())?.version) return;
    await this.#spool.call("setMeta", "ranges", JSON.stringify(ranges));
    this.#ranges = ranges;
  }

  /** A walk over many thousand patients meets the key's limit: it waits as it is told and goes on where it was. */
  async #page(path: string): Promise<unknown> {
    for (let waits = 0; ; waits++) {
      try {
        return await this.#server.get(path);
      } catch (error) {
        const ms = error instanceof SendError && error.status === 429 ? error.retryAfterMs : null;
        if (ms === null || ms > LIMIT_WAIT_MS_MAX || waits === LIMIT_WAITS_MAX) throw error;
        await new Promise<void>((resolve) => this.#setTimer(ms, resolve));
      }
    }
  }

  async *#pages(path: string, since: number | null): AsyncGenerator {
    for (let number = 1; ; number++) {
      const query = new URLSearchParams({ page: String(number), page_size: String(PAGE_SIZE) });
      if (since !== null) query.set("updated_since", new Date(since).toISOString());
      const body = await this.#page(`${path}?${query.toString()}`);
      // An older server may lack one of the agent's own routes. A server without the public route is a wrong one (a proxy, a
      // wrong URL): taken for "no patients", it would empty the directory.
      if (body === null && path.startsWith("/agent/")) return;
      if (body === null) throw new Error(`there is no GET ${path} at the server: is server.url right?`);
      yield body;
      if (!(body as { data: { has_more: boolean } }).data.has_more) return;
    }
  }
}

/**
 * Fetches who comes today, in the agent's zone, and keeps it on disk. Apart from the patients: a key without
 * clinic.calendar.view costs the worklists their day, and nothing else. @throws SendError
 */
export async function syncAppointments(spool: Spool, server: ServerClient, timeZone: string): Promise<void> {
  const { from, to } = dayOf(Date.now(), timeZone);
  const query = new URLSearchParams({ start_date: new Date(from).toISOString(), end_date: new Date(to).toISOString() });
  const events = (await server.get(`/api/v1/calendar/events?${query.toString()}`)) ?? []; // 404: a server without a calendar
  if (!Events.Check(events))
    throw new Error("GET /api/v1/calendar/events answered with something that is no list of events");
  const rows = events.flatMap(({ fp, status, start_at, patient_fp }) =>
    patient_fp === null || status === "CANCELLED" ? [] : [{ fp, patientFp: patient_fp, startAt: Date.parse(start_at) }],
  );
  await spool.call(
    "setAppointments",
    rows.filter(({ startAt }) => Number.isFinite(startAt)),
  );
}

/**
 * The rows that this version understands whole: what a later one adds may say whom a row is not for. A version in part is
 * fetched anew by an agent that understands more.
 */
function knownRanges(known: ClinicRanges, sent: { data: ClinicRanges }): ClinicRanges {
  const rows = known.rows.filter((_, index) => clinicRange.Check(sent.data.rows[index]));
  return { ...known, rows, version: rows.length === known.rows.length ? known.version : `${known.version} in part` };
}

type Named = Pick<Report, "identifier" | "otherIdentifiers">;

/** The patients and orders that a Report names, and the keys that it waits for while no patient matches. */
export interface NamedPatients {
  readonly patients: readonly Patient[];
  readonly orders: readonly TestOrder[];
  readonly waiting: MatchKeys;
}

export interface SyncResult {
  /** It fetched all patients. */
  readonly whole: boolean;
  /** Patients that are new, changed or gone. */
  readonly changed: number;
}

/** A place in a list of changes. */
interface Cursor {
  /** The newest updated_at seen, by the server's clock. */
  readonly at: number;
  /** The start of the sync that saw it, by the agent's clock. */
  readonly seenAt: number;
}

/** How far the directory is, in milliseconds since 1970. */
interface Progress {
  readonly patients: Cursor;
  readonly removed: Cursor;
  /** The start of the last full walk that met every patient. Absent: there was none. */
  readonly walkedAt?: number;
  readonly syncedAt: number;
}

const ORIGIN: Cursor = { at: 0, seenAt: 0 };

/** Moves a cursor by a page of changes. A time in the future would hide the changes before it. */
function moved(cursor: Cursor, items: readonly { readonly updated_at: string }[], now: number): Cursor {
  const at = items.reduce(
    (newest, { updated_at }) => Math.max(newest, Math.min(Date.parse(updated_at), now)),
    cursor.at,
  );
  return at === cursor.at ? cursor : { at, seenAt: now };
}

/** Where the next sync begins. Once a later sync has looked again, what a large import changed is not fetched again. */
function sinceOf({ at, seenAt }: Cursor, { syncedAt = 0 }: Partial<Progress>): number {
  return syncedAt - seenAt >= OVERLAP_MS ? at + 1 : Math.max(0, at - OVERLAP_MS);
}

function isNews(last: Partial<Progress>, { patients, removed, syncedAt }: Progress): boolean {
  const hasMoved = patients.at !== last.patients?.at || removed.at !== last.removed?.at;
  return hasMoved || syncedAt - (last.syncedAt ?? 0) >= NOTE_MS;
}

function accessionsIn({ identifier, otherIdentifiers }: Named): string[] {
  return [...new Set([identifier ?? "", ...otherIdentifiers].map((text) => text.trim().toUpperCase()))];
}

function asPatientFp(text: string): string | null {
  const upper = text.toUpperCase();
  const fp = upper.startsWith("PATIENT_") ? `patient_${upper.slice(8)}` : `patient_${upper}`;
  return isFp("patient", fp) ? fp : null;
}
