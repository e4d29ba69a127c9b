import { newUlid } from "../../shared/api/fp.ts";
import type { Patient } from "../../shared/api/patient.ts";
import { readSex } from "../../shared/clinical/reference.ts";
import { encodeReply, readQuery } from "../protocols/astm/orders.ts";
import type { AstmProfile } from "../protocols/astm/profile.ts";
import { parseRecords } from "../protocols/astm/records.ts";
import type { Profile } from "../devices/profile.ts";
import { readOrderQuery } from "../protocols/hl7/order-query.ts";
import type { Directory } from "../study/patient-directory.ts";
import { stampOf } from "../protocols/hl7/acknowledgement-message.ts";
import { encodeReplies } from "../protocols/hl7/orders.ts";
import { parseMessage } from "../protocols/hl7/message.ts";
import type { Hl7Profile } from "../protocols/hl7/profile.ts";
import type { OrderMessage, OrderQuery, OrderReply, QueriedSample } from "../protocols/order-query.ts";
import { patientPart } from "../protocols/poct1/topics.ts";
import { encodeParts } from "../protocols/poct1/message.ts";
import { readPoct1Query } from "../protocols/poct1/read.ts";
import type { Spool } from "../spool/spool.ts";
import type { StoredMessage } from "../spool/queries/message-row.ts";
import type { TestOrder } from "../spool/queries/orders.ts";
import { dayOf, hasClock, readTime, writeTime, zonedTime } from "../report/device-time.ts";

// Answers host queries out of the orders placed here, the clinic's patients and who of them comes today.

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
  /** The queried sample; null in a query for all samples. */
  readonly sample: QueriedSample | null;
}

export class Worklist {
  readonly #spool: Spool;
  readonly #directory: Directory;

  constructor(spool: Spool, directory: Directory) {
    this.#spool = spool;
    this.#directory = directory;
  }

  /** Builds the replies to a query. @returns none if the message is no query, or its device takes no orders */
  async answer(message: StoredMessage, profile: Profile, timeZone: string): Promise<readonly OrderMessage[]> {
    if (message.incomplete !== null) return [];
    switch (profile.protocol) {
      case "astm":
        return this.#astm(message, profile, timeZone);
      case "hl7":
        return this.#hl7(message, profile, timeZone);
      case "poct1a":
        return this.#whoIs(message);
      case "text":
        return [];
    }
  }

  async #astm(
    { bytes, device }: StoredMessage,
    profile: AstmProfile,
    timeZone: string,
  ): Promise<readonly OrderMessage[]> {
    if (profile.orders === undefined) return [];
    const parsed = parseRecords(bytes);
    if ("problem" in parsed || profile.sender?.test(parsed.records[0]!.field(5)) === false) return [];
    const query = readQuery(parsed);
    if (query === null) return [];
    const now = Date.now();
    const { answered, problem } = await this.#look(device, query, timeZone, now);
    return [
      {
        message: encodeReply({ ...query, problem }, answered, profile.orders, writeTime(now, timeZone)),
        accessions: accessionsOf(answered),
      },
    ];
  }

  async #hl7(
    { bytes, device }: StoredMessage,
    profile: Hl7Profile,
    timeZone: string,
  ): Promise<readonly OrderMessage[]> {
    if (profile.orders === undefined) return [];
    const parsed = parseMessage(bytes, profile.link);
    if ("problem" in parsed) return [];
    const query = readOrderQuery(parsed);
    if (query === null) return [];
    const { answered } = await this.#look(device, query, timeZone, Date.now());
    return encodeReplies(query, answered, profile.orders, () =>
      stampOf({ now: () => zonedTime(Date.now(), timeZone), newId: newUlid }),
    );
  }

  /** Finds the queried orders with their patients; `problem` says why the query cannot be answered. */
  async #look(
    device: string,
    asked: OrderQuery,
    timeZone: string,
    now: number,
  ): Promise<{ answered: OrderReply[]; problem: string | null }> {
    const period = periodOf(asked, timeZone, now);
    const problem = asked.problem ?? ("problem" in period ? period.problem : null);
    if (problem !== null || asked.resultsOnly || "problem" in period) return { answered: [], problem };
    const entries = asked.all
      ? await this.#everybody(device, asked, period, dayOf(now, timeZone))
      : await Promise.all(asked.samples.map((sample) => this.#sample(device, sample)));
    const answered = entries.map((entry) => write(entry, asked, timeZone));
    // For an all-samples query limited to certain tests, omit samples without those tests.
    const isNarrowed = asked.all && asked.tests.length > 0 && !asked.demographicsOnly;
    const told = isNarrowed ? answered.filter(({ orders }) => orders.length > 0) : answered;
    return { answered: told, problem };
  }

  /** A POCT1-A device asks who a patient is: that one, or nobody. */
  async #whoIs({ bytes, device }: StoredMessage): Promise<readonly OrderMessage[]> {
    const query = readPoct1Query(bytes);
    if (query === null) return [];
    const { patient } = await this.#sample(device, { patient: query.patient, specimen: "" });
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
    return [{ message: encodeParts([patientPart(query.answer, listed)]), accessions: [] }];
  }

  /** ALL: the orders that wait for a result, an animal's together, then who else comes today. */
  async #everybody(device: string, query: OrderQuery, period: Period, today: Period): Promise<Entry[]> {
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

  /**
   * Named as results are matched: exactly, and one animal or none. An accession of ours behind a rack and a position is the
   * sample's number, and they are nobody's.
   */
  async #sample(device: string, { rackPosition, ...sample }: QueriedSample): Promise<Entry> {
    if (rackPosition === undefined) return this.#named(device, sample);
    const [onTray] = await this.#directory.issued({ identifier: null, otherIdentifiers: rackPosition.slice(2) });
    return this.#named(
      device,
      onTray === undefined ? sample : { patient: "", specimen: onTray.accession, rackPosition },
    );
  }

  async #named(device: string, sample: QueriedSample): Promise<Entry> {
    const { patient: identifier, specimen } = sample;
    const named = { identifier: identifier || null, otherIdentifiers: specimen === "" ? [] : [specimen] };
    let { patients, orders: issued } = await this.#directory.find(named);
    if (patients.length === 0 && (await this.#directory.refresh(REFRESH_AGE_MS, REFRESH_WAIT_MS))) {
      ({ patients, orders: issued } = await this.#directory.find(named));
    }
    const [patient, ...others] = patients;
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

function write({ patient, orders, sample }: Entry, query: OrderQuery, timeZone: string): OrderReply {
  const asked = sample?.patient ?? "";
  const specimen = sample?.specimen || asked;
  const position = sample?.rackPosition === undefined ? {} : { rackPosition: sample.rackPosition };
  const none = { ...position, specimen, tests: [], orderedAt: "" };
  if (patient === null) return { patient, asked, orders: [{ ...none, report: "Z" }] };
  if (query.demographicsOnly) return { patient, asked, orders: [] };
  const wanted = orders
    .map((order) => ({ ...order, wanted: order.tests.filter((test) => isWanted(test, query)) }))
    .filter((order) => order.wanted.length > 0);
  if (wanted.length === 0) return { patient, asked, orders: sample === null ? [] : [{ ...none, report: "Y" }] };
  return {
    patient,
    asked,
    orders: wanted.map((order) => ({
      ...position,
      specimen: order.accession,
      tests: order.wanted,
      partial: order.wanted.length < order.tests.length,
      orderedAt: writeTime(order.createdAt, timeZone),
      report: "Q",
    })),
  };
}

function isWanted(test: string, { tests }: OrderQuery): boolean {
  return tests.length === 0 || tests.includes(test.toUpperCase());
}

function accessionsOf(answered: readonly OrderReply[]): string[] {
  const orders = answered.flatMap((animal) => animal.orders);
  // A partial order stays open, because the device has yet to query the rest.
  return orders.filter(({ report, partial }) => report === "Q" && partial !== true).map(({ specimen }) => specimen);
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
function periodOf({ from, to }: OrderQuery, timeZone: string, now: number): Period | { readonly problem: string } {
  const usual = openPeriod(now);
  const [start, end] = [from, to].map((text) => readTime(text, timeZone));
  if ((from !== "" && !start) || (to !== "" && !end)) return { problem: `"${from}" to "${to}" (Q-7, Q-8) is no time` };
  const last = end ? Date.parse(end) : usual.to;
  return {
    from: start ? Date.parse(start) : usual.from,
    to: end && !hasClock(to) ? dayOf(last, timeZone).to : last,
  };
}
