import { IDENTIFIER_CHARS_MAX, type MatchedBy, type PushedStudy } from "../../shared/api/study.ts";
import { filingReasonText } from "../../shared/clinical/filing-reasons.ts";
import { isOwn } from "../devices/own/reference.ts";
import type { Profile } from "../devices/profile.ts";
import { dayOf } from "../report/device-time.ts";
import type { Report } from "../report/report.ts";
import type { TestOrder } from "../spool/queries/orders/orders.ts";
import type { MatchKeys } from "../spool/queries/patients/pending-matches.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import { describeMatch, type Match, match, type Namesakes } from "./match.ts";
import { asPatientFp, type Directory, serverAccessionsIn } from "./patient-directory.ts";

// Finds the patient of a Report in the directory, with the evidence that the server checks again.

/** Max age of the last sync before an unmatched result causes another one. The patient may have been registered just now. */
const REFRESH_AGE_MS = 10_000;
/** Max time that a result waits for that sync. */
const REFRESH_WAIT_MS = 3_000;

type FoundPatient = Match & {
  how: string;
  matched: Pick<PushedStudy, "matched_by" | "order_fp" | "unmatched">;
  waiting: MatchKeys | null;
};

/**
 * Finds the one patient of a Report, after a sync if necessary. `nameZone` is the time zone of appointments for a match by
 * name; null allows no such match. `sampleNumbers` come from patientNumbers(), if the clinic allows them.
 * @returns the match; `how` describes it in a sentence; `matched` names the evidence for the server; `waiting` has the keys of an
 * unmatched Report, else null
 */
export async function findPatient(
  report: Report,
  spool: SpoolCalls,
  directory: Directory,
  nameZone: string | null = null,
  sampleNumbers: readonly string[] = [],
): Promise<FoundPatient> {
  const attempt = async () => {
    const { patients, orders, waiting } = await directory.find(report, sampleNumbers);
    const namesakes =
      nameZone === null || sampleNumbers.length > 0 ? null : await namesakesOf(report, nameZone, directory);
    // Read after the lookup, so that a first list that arrives in between makes the message due.
    const isFetched = await directory.isFetched();
    return { result: match(report, { patients, orders, namesakes, isFetched, sampleNumbers }), orders, waiting };
  };
  let { result, orders, waiting } = await attempt();
  const isNamed = report.identifier !== null || sampleNumbers.length > 0 || serverAccessionsIn(report).length > 0;
  if (result.patient === null && isNamed && (await directory.refreshFor(report, REFRESH_AGE_MS, REFRESH_WAIT_MS))) {
    ({ result, orders, waiting } = await attempt());
  }
  if (result.patient !== null && orders.length > 0) {
    // If the spool drops this, the order stays open until it expires.
    const accessions = orders.map(({ accession }) => accession);
    spool.callLater("noteOrders", accessions, "resulted");
  }
  const how =
    result.patient === null
      ? `unmatched: ${filingReasonText(result.reason)}`
      : describeMatch(report, result.patient, { orders, sampleNumbers });
  const ordered = orderOf(orders);
  if (result.patient === null) return { ...result, how, matched: { unmatched: result.reason, ...ordered }, waiting };
  const matched_by = evidenceOf(report, result.patient.fp, orders.length > 0, sampleNumbers, nameZone);
  const matched = { matched_by, ...ordered };
  return { ...result, how, matched, waiting: null };
}

/** Leaves the first study of an own profile to a person: it may be a stranger's, and name the wrong patient. */
export async function confirmed(
  found: FoundPatient,
  device: string,
  { id }: Profile,
  spool: SpoolCalls,
): Promise<FoundPatient> {
  if (found.patient === null || !isOwn(id) || (await spool.call("isProfileConfirmed", device, id))) return found;
  const reason = { code: "MATCH.UNCONFIRMED_PROFILE" as const, values: [id, found.patient.fp] };
  const { order_fp } = found.matched;
  const matched = { unmatched: reason, ...(order_fp !== undefined && { order_fp }) };
  return {
    patient: null,
    candidates: [found.patient.fp],
    reason,
    how: `unmatched: ${filingReasonText(reason)}`,
    matched,
    waiting: null,
  };
}

/** Names the server's order of a sample. A sample with several accessions answers none of them certainly. */
function orderOf(orders: readonly TestOrder[]): Pick<PushedStudy, "order_fp"> {
  const [order, ...others] = orders;
  return order?.fp === undefined || others.length > 0 ? {} : { order_fp: order.fp };
}

/** Names what a Report was matched by, so that the server can check it against its own directory. */
function evidenceOf(
  { identifier, otherIdentifiers, acquired_at }: Report,
  fp: string,
  isOrdered: boolean,
  sampleNumbers: readonly string[],
  nameZone: string | null,
): MatchedBy {
  const texts = [...(identifier === null ? [] : [identifier]), ...sampleNumbers];
  // Longer texts are omitted, because the import refuses card numbers of that length.
  const identifiers = texts.filter((text) => text.length <= IDENTIFIER_CHARS_MAX);
  const isFp = [...texts, ...otherIdentifiers].some((text) => asPatientFp(text) === fp);
  if (isOrdered || isFp) return { by: isOrdered ? "accession" : "fp", identifiers };
  if (texts.length > 0 || nameZone === null) return { by: "identifier", identifiers };
  const { from, to } = dayOf(Date.parse(acquired_at), nameZone);
  return { by: "name", identifiers, day: { from: new Date(from).toISOString(), to: new Date(to).toISOString() } };
}

async function namesakesOf(report: Report, timeZone: string, directory: Directory): Promise<Namesakes> {
  const { identifier, species, patient_hint, acquired_at } = report;
  if (identifier !== null || patient_hint.name === null || species === null) return { all: [], appointed: new Set() };
  return directory.namesakes(patient_hint.name, species, acquired_at, timeZone);
}
