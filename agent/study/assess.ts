import { createHash } from "node:crypto";
import type { ControlRun, DeviceEvent } from "../../shared/api/quality.ts";
import type { StudySource } from "../../shared/api/study.ts";
import { newFp } from "../../shared/api/fp.ts";
import { foldName } from "../../shared/clinical/analytes/analytes.ts";
import { filingReasonText } from "../../shared/clinical/filing-reasons.ts";
import { ownProfile } from "../devices/index.ts";
import { isOwn } from "../devices/own/reference.ts";
import type { Profile } from "../devices/profile.ts";
import { shippedForm } from "../devices/table/load.ts";
import type { MessageCode } from "../page/types/message-codes.ts";
import { foldNumber } from "../report/control.ts";
import { readFileMessage } from "../protocols/file/file-message.ts";
import { pdfText } from "../protocols/file/pdf-text.ts";
import { isPdf } from "../protocols/file/spreadsheet-cells.ts";
import { describe, type ReadContext, type Reading } from "../report/report.ts";
import type { ClinicCode } from "../spool/queries/clinic-codes.ts";
import type { StoredMessage } from "../spool/queries/messages/message-row.ts";
import type { Settlement } from "../spool/queries/studies/studies.ts";
import type { FolderFile } from "../spool/queries/studies/documents.ts";
import type { StudyDraft } from "../spool/queries/studies/revisions.ts";
import type { MatchKeys } from "../spool/queries/patients/pending-matches.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import { SET_ASIDE } from "../spool/tries.ts";
import { assessRegistry, registryProfile } from "./assess-registry.ts";
import { confirmed, findPatient } from "./find-patient.ts";
import { patientNumbers } from "./match.ts";
import type { Directory } from "./patient-directory.ts";
import { complete, read, readable } from "./read.ts";
import { study } from "./study.ts";

export interface FilingDevice {
  readonly profile: Profile;
  readonly timeZone: string;
  /** Instrument that a generic profile serves, for its intervals. */
  readonly model: string | null;
  /** The analytes of the device's codes in agent.yaml; see ReadContext. */
  readonly codes?: ReadonlyMap<string, string>;
  /** Without a typed identifier, the numbers of a sample name its patient. Default false. */
  readonly matchBySampleId?: boolean;
  /** Numbers of samples that are control material, folded by foldNumber(). */
  readonly controls?: ReadonlySet<string>;
}

/** Returns the facts that a message of the device does not hold. A code in agent.yaml takes precedence over the clinic's. */
export function readContext(
  { timeZone, codes: own = new Map(), controls }: Pick<FilingDevice, "timeZone" | "codes" | "controls">,
  { device, receivedAt }: Pick<StoredMessage, "device" | "receivedAt">,
  clinicCodes: readonly ClinicCode[],
): ReadContext {
  const ofDevice = clinicCodes.filter(({ device_id }) => device_id === device);
  const ofClinic = ofDevice.map(({ code, analyte }) => [foldName(code.trim()), analyte] as const);
  const codes = new Map([...ofClinic, ...own]);
  return {
    ...{ device, timeZone, receivedAt },
    ...(codes.size === 0 ? {} : { codes }),
    ...(controls === undefined ? {} : { controls }),
  };
}

/** Names the profile with its revision. A profile that is code has none. */
function profileSource({ id }: Profile): Pick<StudySource, "profile" | "profile_hash"> {
  if (!isOwn(id)) {
    const revision = shippedForm(id)?.revision;
    return { profile: revision === undefined ? id : `${id}@${revision}` };
  }
  const own = ownProfile(id);
  return { profile: id, ...("hash" in own && { profile_hash: own.hash }) };
}

/** The data that the stages read in addition to the message. */
export interface FilingSources {
  readonly spool: SpoolCalls;
  readonly directory: Directory;
  /** The clinic allows a match by the name of a patient with an appointment. */
  readonly matchPatientsByName: boolean;
  /** Called for a result with a time that the device's clock can hardly have shown rightly. */
  readonly suspectTime?: (device: string, time: string) => void;
}

/** Runs the reading of a message. @returns null if the message is set aside */
export type Attempt = <Taken>(read: () => Promise<Taken>) => Promise<Taken | null>;

/**
 * Takes a stored message through the stages read, match and study. A later call may return more, once the patient or the rest of
 * a cut message is there. `mayComplete` is false if the device is known to have no cut message; `attempt` runs what may end the agent.
 */
export async function assess(
  message: StoredMessage,
  device: FilingDevice | undefined,
  { spool, directory, matchPatientsByName, suspectTime }: FilingSources,
  mayComplete = true,
  attempt: Attempt = (work) => work(),
): Promise<Settlement> {
  if (message.damage !== undefined) return quarantined(message, message.damage, "MESSAGE.DAMAGED");
  if (device === undefined)
    return quarantined(message, `no device ${message.device} in the configuration`, "MESSAGE.NO_DEVICE");
  if (message.incomplete !== null)
    return quarantined(message, `incomplete: ${message.incomplete}`, "MESSAGE.INCOMPLETE");
  const { length } = message.bytes;
  const incomplete = mayComplete ? await spool.call("incompleteMessages", message.device, message.id, length) : [];
  const codes = await directory.codes();
  const taken = await attempt(async () => {
    const { bytes, completed } = complete(message.bytes, incomplete, device.profile);
    return { completed, ...(await readWhole(message, bytes, device, codes)) };
  });
  if (taken === null) return quarantined(message, null, SET_ASIDE);
  const completes = taken.completed.map(({ id }) => id);
  if ("outcome" in taken) return { message: message.id, studies: [], completes, at: Date.now(), ...taken.outcome };
  const { reading, file } = taken;
  const isRead = reading.is === "reports";
  const events = eventsOf(message, reading, device.profile);
  // The spool decides whether a withdrawal has a result to withdraw.
  const reports = isRead ? reading.reports : reading.is === "quarantined" ? (reading.withdrawals ?? []) : [];
  const { notes, ...ofControls } = await controlsOf(reading, message, device, directory);
  const reasons = new Set([...(isRead ? reading.notes : [reading.reason]), ...notes]);
  if (!isRead && reports.length === 0) {
    const reason = [...reasons].join("; ");
    return { ...quarantined(message, reason), state: reading.is, completes, events, ...ofControls };
  }
  let code: MessageCode | null = null;
  const studies: StudyDraft[] = [];
  const awaited: MatchKeys[] = [];
  for (const report of reports) {
    if (report.suspectTime !== undefined) suspectTime?.(message.device, report.suspectTime);
    const nameZone = matchPatientsByName ? device.timeZone : null;
    const sampleNumbers = device.matchBySampleId === true ? patientNumbers(report) : [];
    const first = await findPatient(report, spool, directory, nameZone, sampleNumbers);
    const found = await confirmed(first, message.device, device.profile, spool);
    const { patient, reason, how, waiting, matched } = found;
    if (waiting !== null) awaited.push(waiting);
    if (reason !== null) reasons.add(filingReasonText(reason));
    code ??= reason?.code ?? null;
    if (isRead) for (const sentence of describe(report)) reasons.add(sentence);
    const source = {
      ...{ device_id: message.device, message_id: message.id, ...profileSource(device.profile) },
      receipt: receiptOf(message),
      ...(report.sampleIds === undefined ? {} : { sample_ids: [...report.sampleIds] }),
    };
    const draft = study(report, patient, source, device.model, await directory.ranges());
    const snapshot = { ...draft.snapshot, notes: [how, ...draft.snapshot.notes] };
    const body = { ...draft.body, ...matched };
    studies.push({ ...draft, body, snapshot, freshFp: newFp("cds"), collect: report.collect ?? null });
  }
  return {
    message: message.id,
    state: isRead ? "pending" : "quarantined",
    reason: reasons.size === 0 ? null : [...reasons].join("; "),
    code,
    studies,
    completes,
    waiting: joined(awaited),
    at: Date.now(),
    events,
    ...file,
    ...ofControls,
  };
}

/**
 * Returns the control runs of a message. `notes`: each number of the clinic's controls that is an animal's too. The clinic's word
 * decides.
 */
async function controlsOf(
  reading: Reading,
  message: StoredMessage,
  { profile, controls: numbers }: FilingDevice,
  directory: Directory,
): Promise<{ readonly controls?: readonly ControlRun[]; readonly notes: readonly string[] }> {
  const { controls: drafts = [] } = reading;
  if (drafts.length === 0) return { notes: [] };
  const source = recordSource(message, profile);
  const typed = drafts.flatMap(({ sample_ids }) => sample_ids.filter((id) => numbers?.has(foldNumber(id)) === true));
  const notes = [...new Set(typed)].map(async (identifier) => {
    const { patients } = await directory.find({ identifier, otherIdentifiers: [] });
    return patients.length === 0
      ? []
      : [`${identifier} is also the number of an animal: the clinic uses it for controls`];
  });
  const controls = drafts.map((draft) => ({ ...draft, fp: newFp("control"), source }));
  return { controls, notes: (await Promise.all(notes)).flat() };
}

/** Reads a complete message: into Reports, or into the outcome of a message that has none. `file` is of a watched folder. */
async function readWhole(
  message: StoredMessage,
  bytes: Uint8Array,
  device: FilingDevice,
  codes: readonly ClinicCode[],
): Promise<{ outcome: Outcome } | { reading: Reading; file: Pick<Settlement, "file"> }> {
  const { profile, timeZone } = device;
  const practice = registryProfile(profile);
  if (practice !== null) return { outcome: assessRegistry(message, bytes, practice, timeZone) };
  const file = folderFile(bytes, profile);
  if (file?.document != null) {
    return { outcome: { state: "unmatched", reason: null, code: "MESSAGE.DOCUMENT_ALONE", file } };
  }
  const reading = read(await readable(bytes, profile), profile, readContext(device, message, codes));
  return { reading, file: file === null ? {} : { file } };
}

type Outcome = Pick<Settlement, "state" | "reason" | "code" | "changes" | "file">;

/** Returns the file of a folder with what is kept of it beside its studies; null for the message of another device. */
function folderFile(message: Uint8Array, profile: Profile): FolderFile | null {
  const file = profile.protocol === "file" ? readFileMessage(message) : null;
  if (file === null) return null;
  const { name, bytes } = file;
  return { name, document: isPdf(name) ? { bytes, text: pdfText(bytes) } : null };
}

export function quarantined(
  message: StoredMessage,
  reason: string | null,
  code: MessageCode | null = null,
): Settlement {
  return { message: message.id, state: "quarantined", reason, code, studies: [], completes: [], at: Date.now() };
}

/** Completes what the device reports about itself. The spool drops an event that it has. */
function eventsOf(message: StoredMessage, { events = [] }: Reading, profile: Profile): DeviceEvent[] {
  const source = recordSource(message, profile);
  return events.map((event) => ({ ...event, fp: newFp("devevt"), source }));
}

/** Names the message of a control run or an event. */
function recordSource(message: StoredMessage, profile: Profile) {
  return {
    ...{ device_id: message.device, message_id: message.id, profile: profileSource(profile).profile ?? profile.id },
    receipt: receiptOf(message),
  };
}

/** Returns what proves the reception. A link delivers a message after the commit of its bytes; see wire-session.ts. */
function receiptOf({ receivedAt, bytes }: StoredMessage): NonNullable<StudySource["receipt"]> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { at: new Date(receivedAt).toISOString(), bytes: bytes.length, sha256 };
}

/** Joins the keys of several Reports. The lowest version counts, because each Report may have missed a later change. */
function joined(awaited: readonly MatchKeys[]): MatchKeys | null {
  if (awaited.length === 0) return null;
  const version = Math.min(...awaited.map((waiting) => waiting.version));
  return { keys: awaited.flatMap(({ keys }) => keys), version };
}
