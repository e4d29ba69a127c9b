import { afterEach, beforeEach } from "vitest";
import { fileHeader } from "../../../agent/protocols/file/file-message.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { CLINIC_CODES, type ClinicCode } from "../../../agent/spool/queries/clinic-codes.ts";
import type { TestOrder } from "../../../agent/spool/queries/orders/orders.ts";
import type { Spool } from "../../../agent/spool/spool.ts";
import type { FilingDevice } from "../../../agent/study/assess.ts";
import { Filing } from "../../../agent/study/filing.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import {
  type ReassessedMessage,
  reassess,
  type ReprocessFilter,
  store,
} from "../../../agent/tools/offline/reprocess.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import type { PushedStudy, Snapshot } from "../../../shared/api/study.ts";
import { noteFetched, useSpool } from "../spool.ts";

/** A revision as the agent pushes it. */
export interface Revision {
  readonly fp: string;
  readonly revision: number;
  readonly body: Omit<PushedStudy, "fp" | "revision">;
  readonly snapshot: Snapshot;
}

/** A clinic whose devices and their settings are a map that the test changes. Its server is away. */
export class FilingClinic {
  readonly devices = new Map<string, FilingDevice>();
  readonly #used: { readonly spool: Spool; readonly folder: string };
  #ordinal = 0;
  #filing: Filing;

  constructor(used: { readonly spool: Spool; readonly folder: string }) {
    this.#used = used;
    this.#filing = this.#newFiling();
  }

  #newFiling(): Filing {
    const { spool } = this.#used;
    const server = createServerClient("http://127.0.0.1:9", () => "sk_live_test", 100);
    return new Filing(spool, new Directory(spool, server), (id) => this.devices.get(id), {
      outcomeStored: () => undefined,
      fault: (_, error) => {
        throw error;
      },
    });
  }

  get folder(): string {
    return this.#used.folder;
  }

  get filing(): Filing {
    return this.#filing;
  }

  /** Adds a patient with its identifiers. */
  async know(patient: Patient, ...identifiers: string[]): Promise<void> {
    const { spool } = this.#used;
    await spool.call("upsertPatients", [{ fp: patient.fp, body: JSON.stringify(patient) }], Date.now());
    await spool.call("setIdentifiers", [{ patientFp: patient.fp, identifiers }], Date.now());
  }

  /** Stores the clinic's codes as a sync does. */
  async learn(codes: readonly ClinicCode[]): Promise<void> {
    await this.#used.spool.call("setMeta", CLINIC_CODES, JSON.stringify(codes));
    this.#filing = this.#newFiling();
  }

  async order(order: Pick<TestOrder, "accession" | "device" | "patientFp" | "tests">): Promise<void> {
    await this.#used.spool.call("placeOrder", { ...order, createdAt: Date.now(), state: "placed" });
  }

  /** Files a message of these records or segments. @returns its id */
  async receive(device: string, lines: readonly string[]): Promise<string> {
    return this.#receive(device, Buffer.from(lines.map((line) => `${line}\r`).join("")));
  }

  /** Files a file of a watched folder. @returns the id of its message */
  async receiveFile(device: string, name: string, content: string | Uint8Array): Promise<string> {
    const bytes = Buffer.from(content);
    return this.#receive(device, Buffer.concat([fileHeader({ name, bytes: bytes.length }), bytes]));
  }

  async #receive(device: string, bytes: Uint8Array): Promise<string> {
    const profile = this.devices.get(device)!.profile.id;
    const ordinal = this.#ordinal++;
    const message = { id: `M${ordinal}`, device, profile, receivedAt: Date.now(), bytes, incomplete: null };
    await this.#used.spool.call("addMessage", { ...message, session: 1, ordinal });
    await this.#filing.accept(message);
    return message.id;
  }

  /** Sends the queued revisions to a server that files those with a patient. @returns them, oldest first */
  async push(): Promise<Revision[]> {
    const { batch } = await this.#used.spool.call("takeQueued", 1_000, 100_000_000, Date.now());
    await this.#used.spool.call("noteAnswered", batch);
    const outcomes = batch.map(({ fp, revision, patientFp }) => {
      const matched = patientFp !== null;
      return { fp, revision, outcome: matched ? "filed" : "unmatched", reason: null, matched } as const;
    });
    await this.#used.spool.call("settleStudies", outcomes, Date.now());
    return batch.map(({ fp, revision, body, snapshot }) => ({
      fp,
      revision,
      body: JSON.parse(body) as Revision["body"],
      snapshot: JSON.parse(snapshot) as Snapshot,
    }));
  }

  /** Notes that a person placed a study at the server. */
  async placed(fp: string): Promise<void> {
    const item = { fp, place: "patient", updated_at: new Date().toISOString() } as const;
    await this.#used.spool.call("notePlacements", [item]);
  }

  listed() {
    return readSpool(this.folder, listMessages);
  }

  /** Computes the changes of `reprocess`, and stores nothing. */
  reassess(filter: Partial<ReprocessFilter> = {}): Promise<ReassessedMessage[]> {
    const known = { analyzers: this.devices, imaging: new Map() };
    const wanted = { states: ["filed", "unmatched", "quarantined"] as const, since: 0, devices: [], ...filter };
    return reassess(this.folder, wanted, known, false, () => undefined);
  }

  /** Runs `reprocess` and stores its changes. @returns the changed messages */
  async reprocess(filter: Partial<ReprocessFilter> = {}): Promise<ReassessedMessage[]> {
    const done = await this.reassess(filter);
    store(this.folder, done);
    return done.filter(({ diff }) => diff.length > 0);
  }
}

/** Creates a FilingClinic before each test of a file, and passes it to `created`. */
export function useFilingClinic(created: (clinic: FilingClinic) => void): void {
  const used = useSpool();
  let current: FilingClinic;
  beforeEach(async () => {
    await noteFetched(used.spool);
    current = new FilingClinic(used);
    created(current);
  });
  afterEach(() => current.filing.idle());
}

/** The results of a revision as `analyte value unit source`. */
export function resultsOf({ body }: Revision): string[] {
  return body.results.map(({ analyte, value, value_text, unit, flag, code_source }) =>
    [analyte, value ?? value_text, unit ?? "-", flag ?? "no flag", code_source ?? "catalogue"].join(" "),
  );
}
