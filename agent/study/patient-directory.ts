import { isFp } from "../../shared/api/fp.ts";
import type { NewsList } from "../../shared/api/agent/agent-lists.ts";
import type { Patient } from "../../shared/api/patient.ts";
import type { Namesakes } from "./match.ts";
import type { Report } from "../report/report.ts";
import type { ClinicCode } from "../spool/queries/clinic-codes.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import type { TestOrder } from "../spool/queries/orders/orders.ts";
import { dayOf } from "../report/device-time.ts";
import { type SetTimer } from "../runtime/timer.ts";
import type { MatchKeys } from "../spool/queries/patients/pending-matches.ts";
import { isAccession } from "../../shared/runtime/accession.ts";
import { isNearName } from "../../shared/clinical/candidates.ts";
import { servedSpecies } from "../../shared/clinical/species.ts";
import type { ClinicRanges } from "../../shared/clinical/clinic-ranges.ts";
import type { ServerClient } from "../push/server-client.ts";
import { ClinicCodes } from "./clinic-codes.ts";
import { ClinicIntervals } from "./clinic-intervals.ts";
import { DirectorySync, type SyncResult } from "./directory-sync.ts";
import { syncOrders } from "./server-orders.ts";
import { ServerPages } from "./server-pages.ts";

type ReportIdentifiers = Pick<Report, "identifier" | "otherIdentifiers" | "sampleIds">;

/** The lists of the directory. */
export const DIRECTORY_LISTS: readonly NewsList[] = ["ranges", "codes", "patients", "orders"];
const ALL_LISTS: ReadonlySet<NewsList> = new Set(DIRECTORY_LISTS);
const UNCHANGED: SyncResult = { whole: false, changed: 0 };

/** The patients and orders that the identifiers of a Report name. */
export interface NamedPatients {
  readonly patients: readonly Patient[];
  readonly orders: readonly TestOrder[];
  /** The keys that an unmatched Report waits for. */
  readonly waiting: MatchKeys;
}

/** Max age of the last sync before an unknown accession of the server causes another one. A device may repeat its query each second. */
const ORDERED_AGE_MS = 2_000;

/** Patients per read of the search for namesakes, so that commits of devices run in between. */
const NAMESAKES_PAGE = 500;

/** The clinic's patients, reference intervals and codes in the spool, so that results are matched while the server is away. */
export class Directory {
  readonly #spool: SpoolCalls;
  readonly #pages: ServerPages;
  readonly #patients: DirectorySync;
  readonly #intervals: ClinicIntervals;
  readonly #codes: ClinicCodes;
  #running: { readonly lists: ReadonlySet<NewsList>; readonly done: Promise<SyncResult> } | null = null;
  /** Start of the last sync of all lists by performance.now(); 0 before the first. */
  #syncStartedAt = 0;
  #isFetched = false;

  constructor(spool: SpoolCalls, server: ServerClient, setTimer?: SetTimer) {
    this.#spool = spool;
    this.#pages = new ServerPages(server, setTimer);
    this.#patients = new DirectorySync(spool, this.#pages);
    this.#intervals = new ClinicIntervals(spool);
    this.#codes = new ClinicCodes(spool);
  }

  /** Fetches what has changed in the lists on the server. A call during a sync of them returns that sync. @throws SendError */
  sync(lists: ReadonlySet<NewsList> = ALL_LISTS): Promise<SyncResult> {
    const running = this.#running;
    if (running !== null && DIRECTORY_LISTS.every((list) => running.lists.has(list) || !lists.has(list))) {
      return running.done;
    }
    if (isWhole(lists)) this.#syncStartedAt = performance.now();
    const begun =
      running === null
        ? this.#sync(lists)
        : running.done.then(
            () => this.#sync(lists),
            () => this.#sync(lists),
          );
    const done = begun.finally(() => {
      if (this.#running?.done === done) this.#running = null;
    });
    this.#running = { lists, done };
    return done;
  }

  /** Fetches what has changed until now, which a running sync may have missed. @throws SendError */
  async syncAfterChange(lists: ReadonlySet<NewsList>): Promise<SyncResult> {
    await this.#running?.done.catch(() => undefined);
    return this.sync(lists);
  }

  async #sync(lists: ReadonlySet<NewsList>): Promise<SyncResult> {
    // Intervals first, so that the results of a new patient are flagged by them.
    if (lists.has("ranges")) await this.#intervals.sync(this.#pages);
    if (lists.has("codes")) await this.#codes.sync(this.#pages);
    const synced = lists.has("patients") ? await this.#patients.run() : UNCHANGED;
    // After the patients, so that the patient of a new order is known.
    if (lists.has("orders")) await syncOrders(this.#spool, this.#pages);
    return synced;
  }

  /**
   * Syncs unless a sync started within `maxAgeMs`, and waits at most `waitMs`, so that no result waits for a server that hangs.
   * @returns true if a sync ended in time
   */
  async refresh(maxAgeMs: number, waitMs: number): Promise<boolean> {
    const age = this.#syncStartedAt === 0 ? Number.POSITIVE_INFINITY : performance.now() - this.#syncStartedAt;
    const isRunning = this.#running !== null && isWhole(this.#running.lists);
    // A running sync may bring the patient. All results together wait `waitMs` for one that hangs, not each of them.
    if (age < maxAgeMs && !isRunning) return false;
    const remainingMs = isRunning ? waitMs - age : waitMs;
    if (remainingMs <= 0) return false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), remainingMs);
    });
    const synced = this.sync().then(
      () => true,
      () => false, // the server is away: the local copy decides
    );
    return Promise.race([synced, late]).finally(() => clearTimeout(timer));
  }

  /**
   * Finds the patients that identifiers name exactly. Any identifier may be an fp or its ULID; only the patient identifier may
   * be an external id or a microchip, because a specimen number may equal another patient's card number. An identifier in any
   * field may be the accession of an order, and the patients of such orders come first. `sampleNumbers` are compared like the
   * patient identifier.
   */
  async find(named: ReportIdentifiers, sampleNumbers: readonly string[] = []): Promise<NamedPatients> {
    const { identifier, otherIdentifiers } = named;
    const identifiers = [...(identifier === null ? [] : [identifier]), ...sampleNumbers];
    const texts = [...identifiers, ...otherIdentifiers];
    const fps = texts.map(asPatientFp).filter((fp) => fp !== null);
    const accessions = accessionsIn(named);
    const { orders, patients, version } = await this.#spool.call("resolveReferences", { accessions, fps, identifiers });
    const found = new Map<string, Patient>();
    for (const body of patients) {
      const patient = JSON.parse(body) as Patient;
      found.set(patient.fp, patient);
    }
    const ordered = orders.map(({ patientFp }) => patientFp);
    const keys = [...identifiers, ...fps, ...ordered, ...serverAccessionsIn(named)];
    return { patients: [...found.values()], orders, waiting: { keys, version } };
  }

  /**
   * Syncs before texts count as unknown, if the last sync is older than `maxAgeMs`, and waits at most `waitMs`. The order of an accession
   * of the server is newer than that sync, so ORDERED_AGE_MS replaces a longer age. @returns true if a sync ended in time
   */
  refreshFor(named: ReportIdentifiers, maxAgeMs: number, waitMs: number): Promise<boolean> {
    const isOrdered = serverAccessionsIn(named).length > 0;
    return this.refresh(isOrdered ? Math.min(maxAgeMs, ORDERED_AGE_MS) : maxAgeMs, waitMs);
  }

  /** @returns the orders whose accession is among the identifiers */
  issued(named: ReportIdentifiers): Promise<TestOrder[]> {
    return this.#spool.call("ordersByAccession", accessionsIn(named));
  }

  /**
   * Finds the patients of a species, as the API serves it, with the same or a similar name, and those with an event on the day of
   * `acquiredAt`.
   */
  async namesakes(name: string, species: string, acquiredAt: string, timeZone: string): Promise<Namesakes> {
    const all: Patient[] = [];
    const served = servedSpecies(species);
    for (let after = ""; ; ) {
      const bodies = await this.#spool.call("patientsAfter", after, NAMESAKES_PAGE);
      const patients = bodies.map((body) => JSON.parse(body) as Patient);
      all.push(...patients.filter((patient) => patient.species === served && isNearName(patient.name, name)));
      after = patients.at(-1)?.fp ?? "";
      if (bodies.length < NAMESAKES_PAGE) break;
    }
    const { from, to } = dayOf(Date.parse(acquiredAt), timeZone);
    return { all, appointed: new Set(await this.#spool.call("appointedFps", from, to)) };
  }

  /** @returns true once all patients of the clinic have been fetched */
  async isFetched(): Promise<boolean> {
    this.#isFetched ||= await this.#patients.isComplete();
    return this.#isFetched;
  }

  /** @returns the clinic's own reference intervals as of the last sync; null if it has none */
  ranges(): Promise<ClinicRanges | null> {
    return this.#intervals.current();
  }

  /** @returns the analytes that the clinic chose for codes of its devices, as of the last sync */
  codes(): Promise<readonly ClinicCode[]> {
    return this.#codes.current();
  }
}

function isWhole(lists: ReadonlySet<NewsList>): boolean {
  return DIRECTORY_LISTS.every((list) => lists.has(list));
}

/** Returns the texts that an order of the server may have. */
export function serverAccessionsIn(named: ReportIdentifiers): string[] {
  return accessionsIn(named).filter((text) => isAccession("server", text));
}

function accessionsIn({ identifier, otherIdentifiers, sampleIds = [] }: ReportIdentifiers): string[] {
  return [...new Set([identifier ?? "", ...otherIdentifiers, ...sampleIds].map((text) => text.trim().toUpperCase()))];
}

/** Reads a patient's fp or its ULID; null for another text. */
export function asPatientFp(text: string): string | null {
  const upper = text.toUpperCase();
  const fp = upper.startsWith("PATIENT_") ? `patient_${upper.slice(8)}` : `patient_${upper}`;
  return isFp("patient", fp) ? fp : null;
}
