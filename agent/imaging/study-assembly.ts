import { newFp } from "../../shared/api/fp.ts";
import type { Modality } from "../../shared/api/study.ts";
import { filingReasonText } from "../../shared/clinical/filing-reasons.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Header } from "../protocols/dicom/reports/header.ts";
import type { Attempt, FilingSources } from "../study/assess.ts";
import { findPatient } from "../study/find-patient.ts";
import { imageFile, isPartial } from "./files/image-folder.ts";
import type { HeaderReader } from "./files/header-reader.ts";
import { type ImageInstance, readImages } from "../protocols/dicom/reports/read.ts";
import { describe } from "../report/report.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import { StorageError } from "../spool/thread/storage-error.ts";
import { SET_ASIDE, Tries } from "../spool/tries.ts";
import type { PendingImageStudy } from "../spool/queries/images/pending-image-studies.ts";
import type { StoredInstance } from "../spool/queries/images/instances.ts";
import type { StudyDraft } from "../spool/queries/studies/revisions.ts";
import type { Settlement } from "../spool/queries/studies/studies.ts";
import { study } from "../study/study.ts";
import type { MatchKeys } from "../spool/queries/patients/pending-matches.ts";

// Takes a study of images through the stages read, match and study once it has been idle for a while. A later image restarts the
// assessment of the complete study.

export interface ImageDevice {
  readonly timeZone: string;
  /** Modality of the study for images whose modality the API lacks; null if they make no study. */
  readonly modality: Modality | null;
}

/** Dependencies of the assessment. */
export interface ImageStages {
  readonly data: string;
  readonly headers: HeaderReader;
  readonly deviceById: (id: string) => ImageDevice | undefined;
  readonly lookup: FilingSources;
}

export interface StudyAssemblyEvents {
  /** Reports the number of API studies that the instances gave. */
  settled(device: string, studies: number, instances: number): void;
  /** Reports an internal error; its instances are quarantined. */
  fault(error: unknown): void;
}

/** Wait before a failed study is assessed again. */
const RETRY_MS = 1_000;
/** Max studies assessed simultaneously, so that one with slow headers delays no other. */
const STUDIES_MAX = 100;
/** Messages settled per batch, so that no commit of a device waits for a study of thousands. */
const SETTLE_BATCH = 50;

export class StudyAssembly {
  readonly #stages: ImageStages;
  readonly #spool: SpoolCalls;
  readonly #events: StudyAssemblyEvents;
  readonly #tries: Tries;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the timer in milliseconds since 1970. */
  #lookAt = Number.POSITIVE_INFINITY;
  #looking: Promise<void> = Promise.resolve();
  /** Assessments in progress, by Study Instance UID. */
  readonly #running = new Map<string, Promise<void>>();
  #stopped = false;

  constructor(stages: ImageStages, events: StudyAssemblyEvents) {
    this.#stages = stages;
    this.#spool = stages.lookup.spool;
    this.#events = events;
    this.#tries = new Tries(this.#spool, "image study");
  }

  /** Looks for due studies at that time, by default now. */
  wake(dueAt = 0): void {
    if (this.#stopped || dueAt >= this.#lookAt) return;
    clearTimeout(this.#timer);
    this.#lookAt = dueAt;
    const look = () => {
      this.#lookAt = Number.POSITIVE_INFINITY;
      this.#looking = this.#looking.then(() => this.#startDue());
    };
    this.#timer = setTimeout(look, Math.max(0, dueAt - Date.now()));
  }

  /** Assesses again the studies of these devices whose awaited patient came or changed. */
  async rematch(devices: readonly string[]): Promise<void> {
    if (await this.#spool.call("queueMatchedImageStudies", devices, Date.now())) this.wake();
  }

  /** Stops once the header reader is closed. The next start settles the remaining studies. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#running.values());
  }

  /** Starts the due studies, and looks again when the next one is due. Never rejects. */
  async #startDue(): Promise<void> {
    while (!this.#stopped && this.#running.size < STUDIES_MAX) {
      try {
        const next = await this.#spool.call("nextImageStudy", Date.now(), [...this.#running.keys()]);
        if (next === null || this.#stopped) return;
        if (next.dueAt > Date.now()) return this.wake(next.dueAt);
        this.#running.set(next.studyUid, this.#assess(next));
      } catch (error) {
        if (!(error instanceof StorageError)) this.#events.fault(error);
        return this.wake(Date.now() + RETRY_MS);
      }
    }
  }

  /** Assesses one study, then looks for the next. Never rejects. */
  async #assess(due: PendingImageStudy): Promise<void> {
    try {
      const { studyUid } = due;
      // The mark covers no wait: a power cut during a request to the server proves nothing about the images.
      const isSettled = await this.#settle(studyUid, (stored) =>
        assessImages(studyUid, stored, this.#stages, (read) => this.#tries.run(studyUid, read)),
      );
      if (isSettled) {
        this.#tries.end(studyUid);
        await this.#spool.call("endImageStudy", studyUid, due.dueAt);
      } else await this.#pause();
    } catch (error) {
      if (!(error instanceof StorageError)) this.#events.fault(error);
      await this.#pause();
    }
    this.#running.delete(due.studyUid);
    this.wake();
  }

  /** Waits before a study is assessed again. */
  async #pause(): Promise<void> {
    if (!this.#stopped) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }

  /** Settles the messages of a study. @returns false if one of its images is partial or the agent stops */
  async #settle(
    studyUid: string,
    assessed: (stored: readonly StoredInstance[]) => Promise<Settlement[]>,
  ): Promise<boolean> {
    const stored = await this.#spool.call("instancesOf", studyUid);
    if (stored.some(({ message }) => isPartial(this.#stages.data, message))) return false;
    const settlements = await assessed(stored).catch((error: unknown) => {
      if (error instanceof StorageError) throw error;
      this.#events.fault(error);
      const reason = `internal error: ${errorMessage(error)}`;
      return stored.map(({ message }) => settlement(message, reason, []));
    });
    // A stop may be the only reason why a header is unreadable.
    if (this.#stopped) return false;
    for (let from = 0; from < settlements.length; from += SETTLE_BATCH) {
      const batch = settlements.slice(from, from + SETTLE_BATCH);
      await Promise.all(batch.map((one) => this.#spool.call("settle", one)));
    }
    const studies = new Set(settlements.flatMap((one) => one.studies.map(({ body }) => body.dedupe_key)));
    this.#events.settled(stored[0]?.device ?? "", studies.size, stored.length);
    return true;
  }
}

/** Takes the instances of a study through read, match and study. A later run may see more instances. */
export async function assessImages(
  studyUid: string,
  stored: readonly StoredInstance[],
  stages: ImageStages,
  attempt: Attempt = (work) => work(),
): Promise<Settlement[]> {
  const { spool, directory, matchPatientsByName } = stages.lookup;
  const instances: ImageInstance[] = [];
  for (const instance of stored) instances.push(await readInstance(instance, stages));
  const taken = await attempt(async () => readImages(studyUid, instances));
  if (taken === null) return stored.map(({ message }) => ({ ...settlement(message, null, []), code: SET_ASIDE }));
  const { reports, leftOut } = taken;
  const duplicates = new Set(stored.filter(({ hasTwin }) => hasTwin !== 0).map(({ message }) => message));
  const settle = (
    message: string,
    reasons: readonly string[],
    studies: readonly StudyDraft[],
    waiting: MatchKeys | null = null,
  ) => {
    const all = duplicates.has(message) ? [DUPLICATE, ...reasons] : reasons;
    return { ...settlement(message, all.length === 0 ? null : all.join("; "), studies), waiting };
  };
  const settlements = [...leftOut].map(([message, reason]) => settle(message, [reason], []));
  for (const { report, results, rows, images, messages, namedIn } of reports) {
    const { patient, reason, how, waiting, matched } = await findPatient(
      report,
      spool,
      directory,
      matchPatientsByName ? namedIn : null,
    );
    const first = stored.find(({ message }) => message === messages[0])!;
    const source = { device_id: first.device, message_id: first.message, ...uidOf(studyUid) };
    const { body, snapshot } = study(report, patient, source);
    const draft = {
      body: { ...body, ...matched, results: [...body.results, ...results] },
      snapshot: { ...snapshot, rows: [...snapshot.rows, ...rows], notes: [how, ...snapshot.notes], images },
      freshFp: newFp("cds"),
    };
    const reasons = [...(reason === null ? [] : [filingReasonText(reason)]), ...report.notes, ...describe(report)];
    // One message waits for the patient on behalf of its study.
    for (const message of messages) {
      settlements.push(settle(message, reasons, [draft], message === messages[0] ? waiting : null));
    }
  }
  return settlements;
}

/** A UID that breaks the grammar (PS3.5 section 9.1) finds nothing in an archive's viewer. */
function uidOf(studyUid: string): { study_instance_uid?: string } {
  return /^[0-9.]{1,64}$/.test(studyUid) ? { study_instance_uid: studyUid } : {};
}

async function readInstance(stored: StoredInstance, stages: ImageStages): Promise<ImageInstance> {
  const { message, receivedAt, sopInstance, sha256 } = stored;
  const device = stages.deviceById(stored.device);
  const header =
    device === undefined ? `no device ${stored.device} in the configuration` : await headerOf(stored, stages);
  return { message, receivedAt, sopInstance, sha256, header, ...(device ?? NO_DEVICE) };
}

/** Returns the header and stores it for later runs. @returns a string with the problem of an unreadable one */
async function headerOf(
  { message, headerBytes, transferSyntax, header }: StoredInstance,
  { data, headers, lookup }: ImageStages,
): Promise<Header | string> {
  if (header !== null) return JSON.parse(header) as Header;
  const result = await headers.read({ file: imageFile(data, message), headerBytes, transferSyntax });
  if ("problem" in result) return `its header cannot be read: ${result.problem}`;
  lookup.spool.callLater("noteHeader", message, JSON.stringify(result.header));
  return result.header;
}

const NO_DEVICE: ImageDevice = { timeZone: "UTC", modality: null };
const DUPLICATE = "the same SOP Instance UID came with other content: both are kept";

function settlement(message: string, reason: string | null, studies: readonly StudyDraft[]): Settlement {
  return { message, state: "quarantined", reason, studies, completes: [], at: Date.now() };
}
