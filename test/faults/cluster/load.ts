import { newFp } from "../../../shared/api/fp.ts";
import type { ClusterClinic } from "./clinic.ts";
import { SERVERS } from "./clinic.ts";

// Load of an agent and of integrations while nodes fail: pushes that are repeated until they are acknowledged, and reads of two
// servers in turn that must never see less than before.

const PUSH_EVERY_MS = 60;
const READ_EVERY_MS = 15;
/** Reads of one key that run at once. */
const READERS = 3;
/** An agent waits this long for an answer. */
const ANSWER_MS = 30_000;
const RETRY_MS = 200;
const NO_HINT = {
  ...{ identifier: null, name: null, species: null, breed: null, sex: null },
  ...{ owner: null, date_of_birth: null, weight_kg: null },
};

/** Pushes corrections of one study, and a new study with each. Both name a number that rises. */
export class Pusher {
  readonly counterFp = newFp("cds");
  /** The new studies that a server has acknowledged. */
  readonly acknowledged: string[] = [];
  /** The last acknowledged number. */
  number = 0;
  /** Requests by status; 0 for a failed connection. */
  readonly statuses = new Map<number, number>();
  readonly problems: string[] = [];
  #isOpen = true;
  readonly #clinic: ClusterClinic;

  constructor(clinic: ClusterClinic) {
    this.#clinic = clinic;
  }

  async run(): Promise<void> {
    let number = 0;
    while (this.#isOpen) {
      await this.#push((number += 1));
      await pause(PUSH_EVERY_MS);
    }
  }

  stop(): void {
    this.#isOpen = false;
  }

  /** Repeats a push at both servers in turn until it is acknowledged. */
  async #push(number: number): Promise<void> {
    const fp = newFp("cds");
    const studies = [this.#study(this.counterFp, number, number), this.#study(fp, 1, number)];
    let attempt = number;
    while (this.#isOpen) {
      const answer = await request(`${this.#clinic.url((attempt += 1) % SERVERS)}/agent/v1/studies`, {
        method: "POST",
        headers: { "x-api-key": this.#clinic.agentKey, "content-type": "application/json" },
        body: JSON.stringify({ studies }),
      });
      this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 200) {
        const { outcomes } = answer.body as { outcomes: { outcome: string; reason: string | null }[] };
        const wrong = outcomes.filter(({ outcome }) => outcome !== "filed" && outcome !== "unchanged");
        if (wrong.length > 0) this.problems.push(`push ${number}: ${JSON.stringify(wrong)}`);
        this.number = number;
        this.acknowledged.push(fp);
        return;
      }
      const problem = refusalProblem(answer);
      if (problem !== null) this.problems.push(`push ${number}: ${problem}`);
      await pause(RETRY_MS);
    }
  }

  #study(fp: string, revision: number, number: number): object {
    return {
      fp,
      patient_fp: this.#clinic.patientFp,
      modality: "BIOCHEMISTRY",
      device_name: "Tester",
      status: "COMPLETED",
      acquired_at: "2026-11-01T08:00:00.000Z",
      results: [{ analyte: "ALT", value: number, unit: "U/L", reference_range: null, flag: null }],
      revision,
      dedupe_key: `load:${fp}`,
      source: { device_id: "load", message_id: String(number) },
      patient_hint: NO_HINT,
    };
  }
}

/** Reads of one key, at both servers in turn. */
export class Reader {
  readonly problems: string[] = [];
  readonly statuses = new Map<number, number>();
  /** Milliseconds from the first failed read of each stretch to the next one with an answer. */
  readonly outagesMs: number[] = [];
  #isOpen = true;
  #failedSince: number | undefined;
  /** The largest number and total that a finished read showed. */
  #seen = { number: 0, total: 0 };
  readonly #bodies = new Map<string, number>();
  readonly #clinic: ClusterClinic;
  readonly #key: string;
  readonly #counterFp: string;

  constructor(clinic: ClusterClinic, key: string, counterFp: string) {
    this.#clinic = clinic;
    this.#key = key;
    this.#counterFp = counterFp;
  }

  async run(): Promise<void> {
    await Promise.all(
      Array.from({ length: READERS }, async (_, reader) => {
        let turn = reader;
        while (this.#isOpen) {
          turn += 1;
          await (turn % 2 === 0 ? this.#readCounter(turn) : this.#readTotal(turn));
          await pause(READ_EVERY_MS);
        }
      }),
    );
  }

  stop(): void {
    this.#isOpen = false;
  }

  /** Reads the corrected study, as a client that remembers the last ETag. */
  async #readCounter(turn: number): Promise<void> {
    const before = this.#seen.number;
    const [etag] = [...this.#bodies.keys()].slice(-1);
    const answer = await this.#get(turn, `/api/v1/lab/diagnostics/${this.#counterFp}`, etag);
    if (answer === null) return;
    let number = etag === undefined ? undefined : this.#bodies.get(etag);
    if (answer.status === 200) {
      number = (answer.body as { data: { results: { value: number }[] } }).data.results[0]?.value;
      if (answer.etag !== null && number !== undefined) {
        this.#bodies.delete(answer.etag);
        this.#bodies.set(answer.etag, number);
      }
    }
    if (number === undefined) return void this.problems.push(`no number in ${JSON.stringify(answer.body)}`);
    if (number < before) this.problems.push(`revision ${number} after ${before} at server ${turn % SERVERS}`);
    this.#seen.number = Math.max(this.#seen.number, number);
  }

  async #readTotal(turn: number): Promise<void> {
    const before = this.#seen.total;
    const path = `/api/v1/lab/diagnostics?patient_fp=${this.#clinic.patientFp}&page_size=5`;
    const answer = await this.#get(turn, path);
    if (answer === null) return;
    const { total } = (answer.body as { data: { total: number } }).data;
    if (total < before) this.problems.push(`${total} studies after ${before} at server ${turn % SERVERS}`);
    this.#seen.total = Math.max(this.#seen.total, total);
  }

  /** @returns the answer; null if the server cannot answer now */
  async #get(turn: number, path: string, etag?: string): Promise<Answer | null> {
    const answer = await request(`${this.#clinic.url(turn % SERVERS)}${path}`, {
      headers: { authorization: `Bearer ${this.#key}`, ...(etag === undefined ? {} : { "if-none-match": etag }) },
    });
    this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
    if (answer.status === 200 || answer.status === 304) {
      if (this.#failedSince !== undefined) this.outagesMs.push(performance.now() - this.#failedSince);
      this.#failedSince = undefined;
      return answer;
    }
    this.#failedSince ??= performance.now();
    const problem = refusalProblem(answer);
    if (problem !== null) this.problems.push(`${path}: ${problem}`);
    return null;
  }
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly etag: string | null;
  readonly retryAfter: string | null;
}

async function request(url: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
    const text = await response.text();
    const { status, headers } = response;
    const body: unknown = text === "" ? null : JSON.parse(text);
    return { status, body, etag: headers.get("etag"), retryAfter: headers.get("retry-after") };
  } catch (error) {
    return { status: 0, body: String(error), etag: null, retryAfter: null };
  }
}

/** @returns what is wrong with a refusal: a server that cannot answer now says 503 and when to ask again */
function refusalProblem({ status, body, retryAfter }: Answer): string | null {
  if (status === 0) return String(body).includes("TimeoutError") ? "no answer" : null;
  if (status !== 503) return `status ${status}, ${JSON.stringify(body)}`;
  return retryAfter === null ? "503 without Retry-After" : null;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
