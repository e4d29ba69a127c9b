import { newFp } from "../../shared/api/fp.ts";
import type { Modality } from "../../shared/api/study.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Header } from "../protocols/dicom/header.ts";
import { findPatient, type Lookup } from "../study/filing.ts";
import type { Headers } from "./header-reader.ts";
import { imageFile, isArriving } from "./instance-store.ts";
import { type ImageInstance, readImages } from "../protocols/dicom/read.ts";
import { describe } from "../report/report.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import { StorageError } from "../spool/storage-error.ts";
import type { DueStudy } from "../spool/queries/image-studies.ts";
import type { StoredInstance } from "../spool/queries/images.ts";
import type { Settlement, StudyDraft } from "../spool/queries/studies.ts";
import { study } from "../study/study.ts";
import type { MatchKeys } from "../spool/queries/waiting.ts";

// Takes a study of images through the stages read, match and study once nothing came of it for a while. What comes later
// makes it be done again, with all that is there then.

export interface ImageDevice {
  readonly timeZone: string;
  /** Modality for images that the API has no modality for; null if they make no study. */
  readonly modality: Modality | null;
}

/** Dependencies of the assessment of a study of images. */
export interface ImageStages {
  readonly data: string;
  readonly headers: Headers;
  readonly deviceById: (id: string) => ImageDevice | undefined;
  readonly lookup: Lookup;
}

export interface ImageFilingEvents {
  /** `studies`: of the API. */
  settled(device: string, studies: number, instances: number): void;
  /** Our own fault; the instances are quarantined with it. */
  fault(error: unknown): void;
}

const RETRY_MS = 1_000;
/** Studies under way at once: one whose headers take long, as hostile ones may, holds up none of the others. */
const STUDIES_MAX = 100;
/** Settled in one go: no other device's commit waits for a whole study of some thousand. */
const SETTLE_BATCH = 50;

export class ImageFiling {
  readonly #stages: ImageStages;
  readonly #spool: SpoolCalls;
  readonly #events: ImageFilingEvents;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires. */
  #lookAt = Number.POSITIVE_INFINITY;
  #looking: Promise<void> = Promise.resolve();
  /** By study. */
  readonly #underWay = new Map<string, Promise<void>>();
  #stopped = false;

  constructor(stages: ImageStages, events: ImageFilingEvents) {
    this.#stages = stages;
    this.#spool = stages.lookup.spool;
    this.#events = events;
  }

  /** Something is due then; at once where nothing is said: what an earlier process left. */
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
    if (await this.#spool.call("awaitDueStudies", devices, Date.now())) this.wake();
  }

  /** Ends soon once the headers are closed. What is not settled then is so after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#underWay.values());
  }

  /** Starts what is due, and looks again when the next one is. Never rejects. */
  async #startDue(): Promise<void> {
    while (!this.#stopped && this.#underWay.size < STUDIES_MAX) {
      try {
        const next = await this.#spool.call("nextImageStudy", Date.now(), [...this.#underWay.keys()]);
        if (next === null || this.#stopped) return;
        if (next.dueAt > Date.now()) return this.wake(next.dueAt);
        this.#underWay.set(next.study, this.#run(next));
      } catch (error) {
        if (!(error instanceof StorageError)) this.#events.fault(error);
        return this.wake(Date.now() + RETRY_MS);
      }
    }
  }

  /** Settles one study, then looks for the next. Never rejects. */
  async #run(due: DueStudy): Promise<void> {
    try {
      const isSettled = await this.#settle(due.study);
      if (isSettled) await this.#spool.call("endImageStudy", due.study, due.dueAt);
      else await this.#rest();
    } catch (error) {
      if (!(error instanceof StorageError)) this.#events.fault(error);
      await this.#rest();
    }
    this.#underWay.delete(due.study);
    this.wake();
  }

  /** Before a study is tried again. */
  async #rest(): Promise<void> {
    if (!this.#stopped) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }

  /** false: one of its images is still on its way to the disk, or the agent stops. */
  async #settle(studyUid: string): Promise<boolean> {
    const stored = await this.#spool.call("instancesOf", studyUid);
    if (stored.some(({ message }) => isArriving(this.#stages.data, message))) return false;
    const settlements = await assessImages(studyUid, stored, this.#stages).catch((error: unknown) => {
      if (error instanceof StorageError) throw error;
      this.#events.fault(error);
      const reason = `our own fault: ${errorMessage(error)}`;
      return stored.map(({ message }) => settlement(message, reason, []));
    });
    // Its headers may have been given up for the stop alone.
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

/** Takes the instances of a study through read, match and study. A later run may come to more. */
export async function assessImages(
  studyUid: string,
  stored: readonly StoredInstance[],
  stages: ImageStages,
): Promise<Settlement[]> {
  const { spool, directory, matchPatientsByName } = stages.lookup;
  const instances: ImageInstance[] = [];
  for (const instance of stored) instances.push(await readInstance(instance, stages));
  const { reports, leftOut } = readImages(studyUid, instances);
  const twins = new Set(stored.filter(({ hasTwin }) => hasTwin !== 0).map(({ message }) => message));
  const settle = (
    message: string,
    reasons: readonly string[],
    studies: readonly StudyDraft[],
    waiting: MatchKeys | null = null,
  ) => {
    const all = twins.has(message) ? [TWIN, ...reasons] : reasons;
    return { ...settlement(message, all.length === 0 ? null : all.join("; "), studies), waiting };
  };
  const settlements = [...leftOut].map(([message, reason]) => settle(message, [reason], []));
  for (const { report, results, rows, images, messages, namedIn } of reports) {
    const { patient, reason, how, waiting } = await findPatient(
      report,
      spool,
      directory,
      matchPatientsByName ? namedIn : null,
    );
    const first = stored.find(({ message }) => message === messages[0])!;
    const { body, snapshot } = study(report, patient, { device_id: first.device, message_id: first.message });
    const draft = {
      body: { ...body, results: [...body.results, ...results] },
      snapshot: { ...snapshot, rows: [...snapshot.rows, ...rows], notes: [how, ...snapshot.notes], images },
      freshFp: newFp("cds"),
    };
    const reasons = [...(reason === null ? [] : [reason]), ...report.notes, ...describe(report)];
    // One message waits for all of its study.
    for (const message of messages) {
      settlements.push(settle(message, reasons, [draft], message === messages[0] ? waiting : null));
    }
  }
  return settlements;
}

async function readInstance(stored: StoredInstance, stages: ImageStages): Promise<ImageInstance> {
  const { message, receivedAt, sopInstance, sha256 } = stored;
  const device = stages.deviceById(stored.device);
  const header =
    device === undefined ? `no device ${stored.device} in the configuration` : await headerOf(stored, stages);
  return { message, receivedAt, sopInstance, sha256, header, ...(device ?? NO_DEVICE) };
}

/** Read once; a string says why it cannot be. */
async function headerOf(
  { message, headerBytes, transferSyntax, header }: StoredInstance,
  { data, headers, lookup }: ImageStages,
): Promise<Header | string> {
  if (header !== null) return JSON.parse(header) as Header;
  const answer = await headers.read({ file: imageFile(data, message), headerBytes, transferSyntax });
  if ("problem" in answer) return `its header cannot be read: ${answer.problem}`;
  lookup.spool.callLater("noteHeader", message, JSON.stringify(answer.header));
  return answer.header;
}

const NO_DEVICE: ImageDevice = { timeZone: "UTC", modality: null };
const TWIN = "the same SOP Instance UID came with other content: both are kept";

function settlement(message: string, reason: string | null, studies: readonly StudyDraft[]): Settlement {
  return { message, state: "quarantined", reason, studies, completes: [], at: Date.now() };
}
