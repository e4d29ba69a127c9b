import { afterEach, beforeEach } from "vitest";
import type { Profile } from "../../../agent/devices/profile.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import type { StoredMessage } from "../../../agent/spool/queries/messages/message-row.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import type { Spool } from "../../../agent/spool/spool.ts";
import { Filing } from "../../../agent/study/filing.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import type { ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import { vetScanRecords } from "../protocols/astm.ts";
import { scriptedServer } from "../peers/scripted-server.ts";
import { useSpool } from "../spool.ts";
import { astmDevice } from "./profiles.ts";

const genericAstm = astmDevice("generic-astm");
const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

/** Time of the first message, in ms since 1970. Later than all times of the devices. */
const RECEIVED = Date.UTC(2026, 11, 31);

export const cat = { fp: "patient_01K9TEST000000000000000002", species: "cat" };
export const dog = { fp: "patient_01K9TEST000000000000000001", species: "dog" };

/** A profile with an internal error. */
const poisoned: Profile = {
  ...abaxisVetscanVs2,
  code: () => {
    throw new Error("a bug");
  },
};

const PROFILES = new Map<string, Profile>([
  ["chem-1", abaxisVetscanVs2],
  ["lab-1", genericAstm],
  ["broken-1", poisoned],
]);

/** A filing with a real spool and directory. The patients of its server are a list that the test changes. */
export class TestFiling {
  readonly spool: Spool;
  readonly folder: string;
  readonly server: Awaited<ReturnType<typeof scriptedServer>>;
  readonly directory: Directory;
  readonly filing: Filing;
  known: { fp: string; species: string }[] = [dog];
  ranges: ClinicRanges | null = null;
  /** Whether every request fails. */
  isAway = false;
  /** Number of requests for patients. */
  patientRequests = 0;
  /** Devices with an internal error. */
  readonly faults: string[] = [];
  /** Ids of the messages whose outcome was stored, in order. */
  settled: string[] = [];
  ordinal = 0;

  static async create({ spool, folder }: { spool: Spool; folder: string }): Promise<TestFiling> {
    const server = await scriptedServer(({ url }) => created.#respond(url));
    const created = new TestFiling(spool, folder, server);
    return created;
  }

  private constructor(spool: Spool, folder: string, server: Awaited<ReturnType<typeof scriptedServer>>) {
    this.spool = spool;
    this.folder = folder;
    this.server = server;
    this.directory = this.newDirectory();
    const deviceById = (id: string) => {
      const profile = PROFILES.get(id);
      return profile === undefined ? undefined : { profile, timeZone: "UTC", model: null };
    };
    this.filing = new Filing(spool, this.directory, deviceById, {
      outcomeStored: ({ id }) => void this.settled.push(id),
      fault: (message) => void this.faults.push(message.device),
    });
  }

  newDirectory(): Directory {
    return new Directory(
      this.spool,
      createServerClient(this.server.url, () => "sk_live_test"),
    );
  }

  #respond(url: string) {
    if (this.isAway) return { status: 503 };
    if (url === "/agent/v1/ranges") return { status: 200, body: { success: true, data: this.ranges } };
    if (!url.startsWith("/api/v1/patients")) return { status: 404 };
    this.patientRequests += 1;
    const at = "2026-01-01T00:00:00.000Z";
    const facts = { name: "Test", breed: null, sex: null, date_of_birth: null, weight_kg: null };
    const owner_customer_fp = "customer_01K9TEST000000000000000D01";
    const items = this.known.map((patient) => ({
      ...patient,
      ...facts,
      owner_customer_fp,
      created_at: at,
      updated_at: at,
    }));
    const data = { items, total: items.length, page: 1, page_size: 100, has_more: false };
    return { status: 200, body: { success: true, message: "OK", data } };
  }

  /** Stores a VetScan message of the next minute. */
  async store(device: string, patient: string, alt: number, incomplete: string | null = null): Promise<StoredMessage> {
    const collected = `2026010109${String(10 + this.ordinal)}00`;
    const records = vetScanRecords({ patient, species: "Dog", collected, alt });
    const sent = incomplete === null ? records : records.slice(0, 4);
    const id = `M${this.ordinal++}`;
    const { ordinal } = this;
    const bytes = Buffer.from(sent.map((record) => `${record}\r`).join(""));
    const stored = { id, device, profile: "abaxis-vetscan-vs2", receivedAt: RECEIVED + ordinal, bytes, incomplete };
    const message = { ...stored, session: 1, ordinal };
    await this.spool.call("addMessage", message);
    return message;
  }

  /** @returns state and reason of each message */
  listed() {
    return readSpool(this.folder, listMessages).map(({ state, reason }) => [state, reason]);
  }

  /** @returns the ALT of each queued study */
  async queuedValues() {
    const { batch } = await this.spool.call("takeQueued", 100, 1_000_000, 0);
    await this.spool.call("noteAnswered", batch);
    return batch.map(({ body }) => (JSON.parse(body) as { results: { value: number }[] }).results[0]!.value);
  }
}

/** Creates a TestFiling before each test of a file, all on one spool, and passes it to `created`. */
export function useFiling(created: (clinic: TestFiling) => void): void {
  const used = useSpool();
  let current: TestFiling;
  beforeEach(async () => {
    current = await TestFiling.create(used);
    created(current);
  });
  afterEach(async () => {
    await current.filing.idle();
    await current.server.close();
  });
}
