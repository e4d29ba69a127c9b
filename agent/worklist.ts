import type { Patient } from "../shared/patient.ts";
import { readSex } from "../shared/reference.ts";
import { type Answered, type AskedSample, encodeAnswer, type Query, readQuery } from "./astm/orders.ts";
import { parseRecords } from "./astm/records.ts";
import type { Profile } from "./devices/profile.ts";
import type { Directory } from "./directory.ts";
import { patientPart } from "./poct1/lists.ts";
import { encodeParts } from "./poct1/message.ts";
import { readPoct1Query } from "./read-poct1.ts";
import type { Spool } from "./spool.ts";
import type { StoredMessage, TestOrder } from "./spool-operations.ts";
import { dayOf, hasClock, readTime, writeTime } from "./time.ts";

// Answers host queries out of the orders placed here, the clinic's patients and who of them comes today.

export interface Answer {
  readonly message: Uint8Array;
  /** The orders in it. */
  readonly accessions: readonly string[];
}

/** A patient registered a moment ago is asked for, but an analyzer waits for its answer for a few seconds at most. */
const REFRESH_AGE_MS = 10_000;
const REFRESH_WAIT_MS = 1_000;
const DAY_MS = 24 * 60 * 60_000;
/** An order without a result leaves the worklist after that; who asks for its accession gets it for ever. */
const OPEN_MS = 7 * DAY_MS;

/** The animals of an answer, and their orders. */
interface Entry {
  /** null: nobody, or nobody surely. */
  readonly patient: Patient | null;
  readonly orders: readonly TestOrder[];
  /** What was asked for, where one sample was. */
  readonly sample: AskedSample | null;
}

export class Worklist {
  readonly #spool: Spool;
  readonly #directory: Directory;

  constructor(spool: Spool, directory: Directory) {
    this.#spool = spool;
    this.#directory = directory;
  }

  /** What to send for a message that asks for orders; null where it asks for none, or its device takes none. */
  async answer(message: StoredMessage, profile: Profile, timeZone: string): Promise<Answer | null> {
    if (profile.protocol === "poct1a") return this.#whoIs(message);
    if (profile.protocol !== "astm" || profile.orders === undefined || message.incomplete !== null) return null;
    const parsed = parseRecords(message.bytes);
    if ("problem" in parsed || profile.sender?.test(parsed.records[0]!.field(5)) === false) return null;
    const query = readQuery(parsed);
    if (query === null) return null;

    const now = Date.now();
    const period = periodOf(query, timeZone, now);
    const entries =
      query.problem !== null || "problem" in period
        ? []
        : query.all
          ? await this.#everybody(message.device, query, period, dayOf(now, timeZone))
          : await Promise.all(query.samples.map((sample) => this.#sample(message.device, sample)));
    const problem = query.problem ?? ("problem" in period ? period.problem : null);
    const answered = entries.map((entry) => write(entry, query, timeZone));
    return {
      message: encodeAnswer({ ...query, problem }, answered, profile.orders, writeTime(now, timeZone)),
      accessions: query.demographicsOnly
        ? []
        : entries.flatMap(({ orders }) => orders.map(({ accession }) => accession)),
    };
  }

  /** A POCT1-A device asks who a patient is: that one, or nobody. */
  async #whoIs(message: StoredMessage): Promise<Answer | null> {
    const query = message.incomplete === null ? readPoct1Query(message.bytes) : null;
    if (query === null) return null;
    const { patient } = await this.#sample(message.device, { patient: query.patient, specimen: "" });
    const listed =
      patient === null
        ? null
        : {
            id: query.patient,
            name: patient.name,
            bornOn: patient.date_of_birth,
            sex: readSex(patient.sex),
            weightKg: patient.weight_kg,
          };
    return { message: encodeParts([patientPart(query.answer, listed)]), accessions: [] };
  }

  /** ALL: the orders that wait for a result, an animal's together, then who else comes today. */
  async #everybody(device: string, query: Query, period: Period, today: Period): Promise<Entry[]> {
    const orders = await this.#spool.call("openOrders", { device, patientFp: null, ...period });
    const wanted = query.newOnly ? orders.filter(({ state }) => state === "placed") : orders;
    const entries: Entry[] = [];
    for (const fp of new Set(wanted.map(({ patientFp }) => patientFp))) {
      const body = await this.#spool.call("patientByFp", fp);
      if (body === null) continue; // the clinic has it no more
      const own = wanted.filter(({ patientFp }) => patientFp === fp);
      entries.push({ patient: JSON.parse(body) as Patient, orders: own, sample: null });
    }
    if (query.newOnly) return entries;
    const [from, to] = [Math.max(period.from, today.from), Math.min(period.to, today.to)];
    const visiting = await this.#spool.call("appointedPatients", from, to);
    for (const body of visiting) {
      const patient = JSON.parse(body) as Patient;
      const isListed = entries.some((entry) => entry.patient?.fp === patient.fp);
      if (!isListed) entries.push({ patient, orders: [], sample: null });
    }
    return entries;
  }

  /** Named as results are matched: exactly, and one animal or none. */
  async #sample(device: string, sample: AskedSample): Promise<Entry> {
    const { patient: identifier, specimen } = sample;
    const named = { identifier: identifier || null, otherIdentifiers: specimen === "" ? [] : [specimen] };
    const issued = await this.#directory.issued(named);
    let found = await this.#directory.find(named, issued);
    if (found.length === 0 && (await this.#directory.refresh(REFRESH_AGE_MS, REFRESH_WAIT_MS))) {
      found = await this.#directory.find(named, issued);
    }
    const [patient, ...others] = found;
    if (patient === undefined || others.length > 0 || issued.some(({ patientFp }) => patientFp !== patient.fp)) {
      return { patient: null, orders: [], sample };
    }
    // Asked for the animal, the device gets its samples; asked for a sample, nothing about another one.
    const orders =
      issued.length > 0 || specimen !== ""
        ? issued.filter((order) => order.device === device)
        : await this.#spool.call("openOrders", { device, patientFp: patient.fp, ...openPeriod(Date.now()) });
    return { patient, orders, sample };
  }
}

function write({ patient, orders, sample }: Entry, query: Query, timeZone: string): Answered {
  const asked = sample?.patient ?? "";
  const specimen = sample?.specimen || asked;
  const none = { specimen, tests: [], orderedAt: "" };
  if (patient === null) return { patient, asked, orders: [{ ...none, report: "Z" }] };
  if (query.demographicsOnly) return { patient, asked, orders: [] };
  if (orders.length === 0) return { patient, asked, orders: sample === null ? [] : [{ ...none, report: "Y" }] };
  return {
    patient,
    asked,
    orders: orders.map(({ accession, tests, createdAt }) => {
      return { specimen: accession, tests, orderedAt: writeTime(createdAt, timeZone), report: "Q" };
    }),
  };
}

/** Milliseconds, from inclusive, to exclusive. */
interface Period {
  readonly from: number;
  readonly to: number;
}

function openPeriod(now: number): Period {
  return { from: now - OPEN_MS, to: now + DAY_MS };
}

/** or the days that a worklist has without them; a date alone is the whole day. */
function periodOf({ from, to }: Query, timeZone: string, now: number): Period | { readonly problem: string } {
  const usual = openPeriod(now);
  const [start, end] = [from, to].map((text) => readTime(text, timeZone));
  if ((from !== "" && !start) || (to !== "" && !end)) return { problem: `"${from}" to "${to}" (Q-7, Q-8) is no time` };
  const last = end ? Date.parse(end) : usual.to;
  return {
    from: start ? Date.parse(start) : usual.from,
    to: end && !hasClock(to) ? dayOf(last, timeZone).to : last,
  };
}
