import { newFp } from "../shared/fp.ts";
import type { Modality } from "../shared/study.ts";
import { realTimer, type SetTimer } from "./connection.ts";
import type { Header } from "./dicom/header.ts";
import type { Directory } from "./directory.ts";
import { findPatient } from "./filing.ts";
import type { Headers } from "./headers.ts";
import { imageFile } from "./image-store.ts";
import { type ImageInstance, readImages } from "./read-dicom.ts";
import { describe } from "./report.ts";
import { type Spool, StorageError } from "./spool.ts";
import type { Settlement, StoredInstance, StudyDraft } from "./spool-operations.ts";
import { study } from "./study.ts";

// Takes a study of images through the stages read, match and study once nothing came of it for a while. What comes later
// makes it be done again, with all that is there then.

export interface ImageDevice {
  readonly timeZone: string;
  /** Of images whose modality the API does not name; null: they make no study. */
  readonly modality: Modality | null;
}

export interface ImageFilingEvents {
  /** `studies`: of the API. */
  settled(device: string, studies: number, instances: number): void;
  /** Our own fault; the instances are quarantined with it. */
  fault(error: unknown): void;
}

const RETRY_MS = 1_000;
/** Settled in one go: no other device's commit waits for a whole study of some thousand. */
const SETTLE_BATCH = 50;

export class ImageFiling {
  readonly #data: string;
  readonly #spool: Spool;
  readonly #headers: Headers;
  readonly #directory: Directory;
  readonly #deviceById: (id: string) => ImageDevice | undefined;
  readonly #events: ImageFilingEvents;
  readonly #setTimer: SetTimer;
  #cancelTimer: (() => void) | null = null;
  /** When the timer fires. */
  #lookAt = Number.POSITIVE_INFINITY;
  #settling: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    data: string,
    spool: Spool,
    headers: Headers,
    directory: Directory,
    deviceById: (id: string) => ImageDevice | undefined,
    events: ImageFilingEvents,
    setTimer: SetTimer = realTimer,
  ) {
    this.#data = data;
    this.#spool = spool;
    this.#headers = headers;
    this.#directory = directory;
    this.#deviceById = deviceById;
    this.#events = events;
    this.#setTimer = setTimer;
  }

  /** Something is due then; at once where nothing is said: what an earlier process left. */
  wake(dueAt = 0): void {
    if (this.#stopped || dueAt >= this.#lookAt) return;
    this.#cancelTimer?.();
    this.#lookAt = dueAt;
    this.#cancelTimer = this.#setTimer(Math.max(0, dueAt - Date.now()), () => {
      this.#lookAt = Number.POSITIVE_INFINITY;
      this.#settling = this.#settling.then(() => this.#settleDue());
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    await this.#settling;
  }

  /** Settles what is due, and looks again when the next one is. Never rejects. */
  async #settleDue(): Promise<void> {
    while (!this.#stopped) {
      try {
        const next = await this.#spool.call("nextImageStudy");
        if (next === null) return;
        if (next.dueAt > Date.now()) return this.wake(next.dueAt);
        await this.#settle(next.study);
        await this.#spool.call("endImageStudy", next.study, next.dueAt);
      } catch (error) {
        if (!(error instanceof StorageError)) this.#events.fault(error);
        return this.wake(Date.now() + RETRY_MS);
      }
    }
  }

  async #settle(studyUid: string): Promise<void> {
    const stored = await this.#spool.call("instancesOf", studyUid);
    const settlements = await this.#assess(studyUid, stored).catch((error: unknown) => {
      if (error instanceof StorageError) throw error;
      this.#events.fault(error);
      const reason = `our own fault: ${error instanceof Error ? error.message : String(error)}`;
      return stored.map(({ message }) => settlement(message, reason, []));
    });
    for (let from = 0; from < settlements.length; from += SETTLE_BATCH) {
      const batch = settlements.slice(from, from + SETTLE_BATCH);
      await Promise.all(batch.map((one) => this.#spool.call("settle", one)));
    }
    const studies = new Set(settlements.flatMap((one) => one.studies.map(({ body }) => body.dedupe_key)));
    this.#events.settled(stored[0]?.device ?? "", studies.size, stored.length);
  }

  async #assess(studyUid: string, stored: readonly StoredInstance[]): Promise<Settlement[]> {
    const instances: ImageInstance[] = [];
    for (const instance of stored) instances.push(await this.#read(instance));
    const { reports, leftOut } = readImages(studyUid, instances);
    const twins = new Set(stored.filter(({ hasTwin }) => hasTwin !== 0).map(({ message }) => message));
    const settle = (message: string, reasons: readonly string[], studies: readonly StudyDraft[]) => {
      const all = twins.has(message) ? [TWIN, ...reasons] : reasons;
      return settlement(message, all.length === 0 ? null : all.join("; "), studies);
    };
    const settlements = [...leftOut].map(([message, reason]) => settle(message, [reason], []));
    for (const { report, measurements, images, messages } of reports) {
      const { patient, reason, how } = await findPatient(report, this.#spool, this.#directory);
      const first = stored.find(({ message }) => message === messages[0])!;
      const { body, snapshot } = study(report, patient, { device_id: first.device, message_id: first.message });
      const draft = {
        body: { ...body, results: [...body.results, ...measurements] },
        snapshot: { ...snapshot, notes: [how, ...snapshot.notes], images },
        freshFp: newFp("cds"),
      };
      const reasons = [...(reason === null ? [] : [reason]), ...report.notes, ...describe(report)];
      for (const message of messages) settlements.push(settle(message, reasons, [draft]));
    }
    return settlements;
  }

  async #read(stored: StoredInstance): Promise<ImageInstance> {
    const { message, receivedAt, sopInstance, sha256 } = stored;
    const device = this.#deviceById(stored.device);
    const header =
      device === undefined ? `no device ${stored.device} in the configuration` : await this.#header(stored);
    return { message, receivedAt, sopInstance, sha256, header, ...(device ?? NO_DEVICE) };
  }

  /** Read once; a string says why it cannot be. */
  async #header({ message, headerBytes, transferSyntax, header }: StoredInstance): Promise<Header | string> {
    if (header !== null) return JSON.parse(header) as Header;
    const answer = await this.#headers.read({ file: imageFile(this.#data, message), headerBytes, transferSyntax });
    if ("problem" in answer) return `its header cannot be read: ${answer.problem}`;
    this.#spool.callLater("noteHeader", message, JSON.stringify(answer.header));
    return answer.header;
  }
}

const NO_DEVICE: ImageDevice = { timeZone: "UTC", modality: null };
const TWIN = "the same SOP Instance UID came with other content: both are kept";

function settlement(message: string, reason: string | null, studies: readonly StudyDraft[]): Settlement {
  return { message, state: "quarantined", reason, studies, completes: [], at: Date.now() };
}
