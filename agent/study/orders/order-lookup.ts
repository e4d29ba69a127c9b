import type { Pattern } from "../../protocols/profile.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import type { OrderQuery, OrderReply, QueriedSample } from "../../protocols/order-query.ts";
import { dayOf, hasClock, readTime, writeTime } from "../../report/device-time.ts";
import { ANY_DEVICE, type TestOrder } from "../../spool/queries/orders/orders.ts";
import type { Spool } from "../../spool/spool.ts";
import type { Directory } from "../patient-directory.ts";

/** Max age of the last sync before a query for an unknown patient causes another one. */
const REFRESH_AGE_MS = 10_000;
/** Max time that a reply waits for that sync. An analyzer waits only a few seconds for its reply. */
const REFRESH_WAIT_MS = 1_000;
const DAY_MS = 24 * 60 * 60_000;
/** Time after which an order without a result leaves the list of open orders. A query for its accession still finds it. */
const OPEN_MS = 7 * DAY_MS;

/** A patient, and the orders that a query selects. */
interface PatientOrders {
  /** null if the identifiers name no patient, or several. */
  readonly patient: Patient | null;
  readonly orders: readonly TestOrder[];
  /** The queried sample; null in a query for all samples. */
  readonly sample: QueriedSample | null;
}

/** A period in ms since 1970, its end excluded. */
interface Period {
  readonly from: number;
  readonly to: number;
}

/** The device that sends a query. */
export interface QueryingDevice {
  readonly id: string;
  readonly timeZone: string;
  /** The names of tests that it knows; undefined if they are those of the catalogue. */
  readonly tests?: Pattern | undefined;
}

/** Finds the orders that a host query selects, independent of the protocol. */
export class OrderLookup {
  readonly #spool: Spool;
  readonly #directory: Directory;

  constructor(spool: Spool, directory: Directory) {
    this.#spool = spool;
    this.#directory = directory;
  }

  /** Finds the queried orders with their patients. `problem` is the reason of an invalid query, else null. */
  async find(
    device: QueryingDevice,
    query: OrderQuery,
    now: number,
  ): Promise<{ replies: OrderReply[]; problem: string | null }> {
    const { id, timeZone } = device;
    const period = periodOf(query, timeZone, now);
    const problem = query.problem ?? ("problem" in period ? period.problem : null);
    if (problem !== null || query.resultsOnly || "problem" in period) return { replies: [], problem };
    const found = query.all
      ? await this.#findAll(id, query, period, dayOf(now, timeZone))
      : await Promise.all(query.samples.map((sample) => this.#findSample(id, sample)));
    const replies = found.map((orders) => replyTo(query, orders, device));
    // For an all-samples query limited to certain tests, omit samples without those tests.
    const isNarrowed = query.all && query.tests.length > 0 && !query.demographicsOnly;
    return { replies: isNarrowed ? replies.filter(({ orders }) => orders.length > 0) : replies, problem };
  }

  /** @returns the patient that the identifier names; null for none, or several */
  async findPatient(device: string, identifier: string): Promise<Patient | null> {
    const { patient } = await this.#findSample(device, { patient: identifier, specimen: "" });
    return patient;
  }

  /** Finds the open orders by patient, then the other patients with an appointment today. */
  async #findAll(device: string, query: OrderQuery, period: Period, today: Period): Promise<PatientOrders[]> {
    const orders = await this.#spool.call("openOrders", { device, patientFp: null, ...period });
    const wanted = query.newOnly ? orders.filter(({ state }) => state === "placed") : orders;
    const found: PatientOrders[] = [];
    for (const fp of new Set(wanted.map(({ patientFp }) => patientFp))) {
      const body = await this.#spool.call("patientByFp", fp);
      if (body === null) continue; // a patient that the clinic no longer has
      const own = wanted.filter(({ patientFp }) => patientFp === fp);
      found.push({ patient: JSON.parse(body) as Patient, orders: own, sample: null });
    }
    if (query.newOnly) return found;
    const [from, to] = [Math.max(period.from, today.from), Math.min(period.to, today.to)];
    for (const body of await this.#spool.call("appointedPatients", from, to)) {
      const patient = JSON.parse(body) as Patient;
      const isListed = found.some((listed) => listed.patient?.fp === patient.fp);
      if (!isListed) found.push({ patient, orders: [], sample: null });
    }
    return found;
  }

  /**
   * Finds the orders of a sample. An accession after rack and position is the sample's number; rack and position name no patient.
   */
  async #findSample(device: string, { rackPosition, ...sample }: QueriedSample): Promise<PatientOrders> {
    if (rackPosition === undefined) return this.#findNamed(device, sample);
    const [onTray] = await this.#directory.issued({ identifier: null, otherIdentifiers: rackPosition.slice(2) });
    return this.#findNamed(
      device,
      onTray === undefined ? sample : { patient: "", specimen: onTray.accession, rackPosition },
    );
  }

  /** Finds the patient as a result does: the identifiers must name exactly one. */
  async #findNamed(device: string, sample: QueriedSample): Promise<PatientOrders> {
    const { patient: identifier, specimen } = sample;
    const named = { identifier: identifier || null, otherIdentifiers: specimen === "" ? [] : [specimen] };
    let { patients, orders: issued } = await this.#directory.find(named);
    if (patients.length === 0 && (await this.#directory.refreshFor(named, REFRESH_AGE_MS, REFRESH_WAIT_MS))) {
      ({ patients, orders: issued } = await this.#directory.find(named));
    }
    const [patient, ...others] = patients;
    if (patient === undefined || others.length > 0 || issued.some(({ patientFp }) => patientFp !== patient.fp)) {
      return { patient: null, orders: [], sample };
    }
    // A query for a patient selects all open orders; a query for a sample selects only the order of that sample.
    const orders =
      issued.length > 0 || specimen !== ""
        ? issued.filter((order) => [device, ANY_DEVICE].includes(order.device) && order.state !== "cancelled")
        : await this.#spool.call("openOrders", { device, patientFp: patient.fp, ...openPeriod(Date.now()) });
    return { patient, orders, sample };
  }
}

function replyTo(query: OrderQuery, { patient, orders, sample }: PatientOrders, device: QueryingDevice): OrderReply {
  const asked = sample?.patient ?? "";
  const specimen = sample?.specimen || asked;
  const rackPosition = sample?.rackPosition === undefined ? {} : { rackPosition: sample.rackPosition };
  const none = { ...rackPosition, specimen, tests: [], orderedAt: "" };
  if (patient === null) return { patient, asked, orders: [{ ...none, report: "Z" }] };
  if (query.demographicsOnly) return { patient, asked, orders: [] };
  const wanted = orders
    .map((order) => ({ ...order, tests: testsFor(device, order) }))
    .map((order) => ({ ...order, wanted: order.tests.filter((test) => isWanted(test, query)) }))
    .filter((order) => order.wanted.length > 0);
  if (wanted.length === 0) return { patient, asked, orders: sample === null ? [] : [{ ...none, report: "Y" }] };
  return {
    patient,
    asked,
    orders: wanted.map((order) => ({
      ...rackPosition,
      specimen: order.accession,
      tests: order.wanted,
      partial: order.wanted.length < order.tests.length,
      orderedAt: writeTime(order.createdAt, device.timeZone),
      report: "Q",
    })),
  };
}

/** Leaves out what the device does not know of an order for any device: another device runs that. */
function testsFor({ tests: known }: QueryingDevice, { device, tests }: TestOrder): readonly string[] {
  return device === ANY_DEVICE && known !== undefined ? tests.filter((test) => known.test(test)) : tests;
}

function isWanted(test: string, { tests }: OrderQuery): boolean {
  return tests.length === 0 || tests.includes(test.toUpperCase());
}

/** Returns the period of open orders, for a query without one. */
function openPeriod(now: number): Period {
  return { from: now - OPEN_MS, to: now + DAY_MS };
}

/** Reads the period of a query (LIS02-A2 ). A date without a time is the full day. */
function periodOf({ from, to }: OrderQuery, timeZone: string, now: number): Period | { readonly problem: string } {
  const usual = openPeriod(now);
  const [start, end] = [from, to].map((text) => readTime(text, timeZone));
  if ((from !== "" && !start) || (to !== "" && !end)) {
    return { problem: `invalid time in "${from}" to "${to}" (Q-7, Q-8)` };
  }
  const last = end ? Date.parse(end) : usual.to;
  return {
    from: start ? Date.parse(start) : usual.from,
    to: end && !hasClock(to) ? dayOf(last, timeZone).to : last,
  };
}
