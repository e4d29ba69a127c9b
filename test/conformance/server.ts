import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createKey, type Permission } from "../../server/http/auth/api-keys.ts";
import { loadPepper } from "../../server/http/auth/pepper.ts";
import type { KeyHolder } from "../../server/dashboard/types/settings/keys.ts";
import { findClinic, listKeys, revokeKey as storeRevocation } from "../../server/records/clinics/keys.ts";
import { openStore } from "../../server/database/open.ts";
import { type ApiDocument, Contract } from "../support/runner/contract.ts";
import { dump } from "../support/machine/postgres.ts";
import { notChecked } from "./check.ts";
import { type ClinicName, clinics, lines } from "./data.ts";

// The checked server: one that the suite starts with its own data, or the one at VETWIRE_URL.

interface KeyPlan {
  clinic: ClinicName;
  type: KeyHolder;
  permissions: Permission[];
}

const published: Permission[] = ["clinic.patient.view", "clinic.calendar.view", "clinic.inventory.view"];

/** The keys of the checks. The limits of `partner` keys are too high to reach; other keys have the default limits. */
export const keyPlan = {
  ours: { clinic: "ours", type: "partner", permissions: published },
  theirs: { clinic: "theirs", type: "partner", permissions: published },
  lonely: { clinic: "lonely", type: "partner", permissions: published },
  crowded: { clinic: "crowded", type: "partner", permissions: published },
  patient: { clinic: "ours", type: "partner", permissions: ["clinic.patient.view"] },
  calendar: { clinic: "ours", type: "partner", permissions: ["clinic.calendar.view"] },
  inventory: { clinic: "ours", type: "partner", permissions: ["clinic.inventory.view"] },
  soap: { clinic: "ours", type: "partner", permissions: ["clinic.soap.view"] },
  lab: { clinic: "ours", type: "partner", permissions: ["clinic.lab.view"] },
  agent: { clinic: "ours", type: "device", permissions: ["clinic.patient.view", "clinic.lab.ingest"] },
  limited: { clinic: "ours", type: "integration", permissions: ["clinic.patient.view", "clinic.calendar.view"] },
  counted: { clinic: "ours", type: "integration", permissions: published },
  waiting: { clinic: "ours", type: "integration", permissions: published },
  revoked: { clinic: "ours", type: "integration", permissions: published },
  writing: {
    clinic: "written",
    type: "partner",
    permissions: ["clinic.sync.write", "clinic.patient.view", "clinic.calendar.view"],
  },
  writeOnly: { clinic: "written", type: "partner", permissions: ["clinic.sync.write"] },
  writeLimited: { clinic: "written", type: "integration", permissions: ["clinic.sync.write", "clinic.patient.view"] },
  expired: { clinic: "ours", type: "integration", permissions: published },
} satisfies Record<string, KeyPlan>;
export type KeyName = keyof typeof keyPlan;

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

/** Actions on the server's data folder, by its own commands. */
export interface Operator {
  import(...entities: object[]): Promise<void>;
  makeKey(plan: KeyPlan): Promise<{ key: string; id: string }>;
  revokeKey(id: string): Promise<void>;
  /** Returns the list of the clinic's keys, and all output of the server: that list, its data, log, audit and export. */
  written(): Promise<{ listed: { id: string; key: string }[]; written: string }>;
}

interface ApiOptions {
  readonly keys: Record<KeyName, string>;
  readonly today: number;
  readonly contract: Contract | null;
  readonly syncContract: Contract | null;
}

export class Api {
  readonly url: string;
  readonly keys: Readonly<Record<KeyName, string>>;
  /** The first instant of the UTC day around which the events lie, in milliseconds since 1970. */
  readonly today: number;
  /** The API document of the server. Null if it serves none. */
  readonly contract: Contract | null;
  readonly #syncContract: Contract | null;
  /** Differences between the responses so far and the API document. */
  readonly breaches: string[] = [];
  readonly #operator: Operator | null;

  constructor(url: string, { keys, today, contract, syncContract }: ApiOptions, operator: Operator | null) {
    this.url = url.replace(/\/$/, "");
    this.keys = keys;
    this.today = today;
    this.contract = contract;
    this.#syncContract = syncContract;
    this.#operator = operator;
  }

  get operator(): Operator {
    return this.#operator ?? notChecked("needs a server that the suite starts, without VETWIRE_URL");
  }

  /** Sends one request. */
  async send(path: string, init: RequestInit = {}): Promise<ApiResponse> {
    const response = await fetch(`${this.url}${path}`, init);
    const text = await response.text();
    const { status, headers } = response;
    const answer = { method: init.method ?? "GET", url: path, status, headers, text };
    for (const contract of [this.contract, this.#syncContract])
      this.breaches.push(...(contract?.problems(answer) ?? []));
    return { status, headers, text, json: text === "" ? undefined : parsed(text) };
  }

  /** Sends a body of practice software. */
  async post(path: string, body: unknown, key: KeyName = "writing", more: object = {}): Promise<ApiResponse> {
    const headers = { "content-type": "application/json", ...more };
    return this.get(`/sync/v1/${path}`, key, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** Sends GET with a key in the header that the path takes. Waits and repeats if the key is over its limit. */
  async get(path: string, key: KeyName | null = "ours", init: RequestInit = {}): Promise<ApiResponse> {
    for (;;) {
      const headers = { ...authorization(path, key === null ? null : this.keys[key]), ...(init.headers as object) };
      const response = await this.send(path, { ...init, headers });
      if (response.status !== 429) return response;
      const seconds = Number(response.headers.get("retry-after"));
      if (!(seconds <= 60)) throw new Error(`Retry-After of key ${key} is ${seconds} s, expected at most 60 s`);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }

  /** Sends raw bytes to the server's port. Returns all received bytes as text. */
  async exchange(bytes: string): Promise<string> {
    const { hostname, port } = new URL(this.url);
    return new Promise((resolve, reject) => {
      let received = "";
      const socket = connect(Number(port), hostname, () => socket.end(bytes, "latin1"));
      socket.on("data", (chunk) => (received += chunk.toString("utf8")));
      socket.on("close", () => resolve(received));
      socket.on("error", reject);
    });
  }
}

/** Returns the header that carries the key to a path. */
export function authorization(path: string, key: string | null): Record<string, string> {
  if (key === null) return {};
  return /^\/api\/v1\/(soap|lab)\b/.test(path) ? { authorization: `Bearer ${key}` } : { "x-api-key": key };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function startOfToday(): number {
  return Math.floor(Date.now() / 86_400_000) * 86_400_000;
}

/** Returns the API of a running server, which has imported `npm run conformance -- data FILE` and has the keys of `keyPlan`. */
export async function foreignServer(url: string, keysPath: string): Promise<Api> {
  const keys = JSON.parse(readFileSync(keysPath, "utf8")) as Record<KeyName, string>;
  const missing = Object.keys(keyPlan).filter((name) => !Object.hasOwn(keys, name));
  if (missing.length > 0) throw new Error(`${keysPath} lacks the keys ${missing.join(", ")}`);
  return new Api(url, { keys, today: startOfToday(), ...(await readContracts(url)) }, null);
}

async function readContracts(url: string): Promise<Pick<ApiOptions, "contract" | "syncContract">> {
  const read = async (path: string) => {
    const response = await fetch(`${url.replace(/\/$/, "")}${path}`);
    return response.ok ? new Contract((await response.json()) as ApiDocument) : null;
  };
  return { contract: await read("/openapi.json"), syncContract: await read("/sync/openapi.json") };
}

/** Starts a server with the suite's data, in a temporary folder or on an empty PostgreSQL database. */
export async function ownServer(postgresUrl?: string): Promise<{ api: Api; stop: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "vetwire-conformance-"));
  const data = join(folder, "data");
  const place = postgresUrl ?? data;
  const today = startOfToday();

  /** Runs a command of the server on its data. Returns its stdout. */
  async function command(...args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [...program(), ...args, "--data", data], {
      env: environment(postgresUrl),
      maxBuffer: 1 << 30,
    });
    return stdout;
  }

  async function importLines(...entities: readonly object[]): Promise<void> {
    const file = join(folder, "import.ndjson");
    writeFileSync(file, entities.map((entity) => `${JSON.stringify(entity)}\n`).join(""));
    await command("import", file);
  }

  const listedKeys = async (clinic: ClinicName) =>
    JSON.parse(await command("keys", "list", "--json", "--clinic", clinics[clinic])) as { id: string; key: string }[];

  async function makeKey({ clinic, type, permissions }: KeyPlan): Promise<{ key: string; id: string }> {
    const options = ["--clinic", clinics[clinic], "--type", type, "--permissions", permissions.join()];
    const key = (await command("keys", "create", "--name", "conformance", ...options)).trim();
    return { key, id: (await listedKeys(clinic)).at(-1)?.id ?? "" };
  }

  const revokeKey = async (id: string): Promise<void> => void (await command("keys", "revoke", id));

  /** Creates the keys of the plan. It calls the store directly, since no command creates an expired key. */
  async function makeKeys(): Promise<Record<KeyName, string>> {
    const store = await openStore(place);
    const pepper = loadPepper(data, false);
    const keys: Partial<Record<KeyName, string>> = {};
    for (const [name, { clinic, ...plan }] of Object.entries(keyPlan) as [KeyName, KeyPlan][]) {
      const clinicId = (await findClinic(store, clinics[clinic]))?.id ?? 0;
      const now = Date.now();
      const expiresAt = name === "expired" ? now : null;
      keys[name] = await createKey(store, pepper, { ...plan, clinicId, name: "conformance", now, expiresAt });
      const { id } = (await listKeys(store, clinicId)).at(-1) ?? { id: "" };
      if (name === "revoked") await store.transaction((session) => storeRevocation(session, id, now));
    }
    await store.close();
    return keys as Record<KeyName, string>;
  }

  await importLines(...lines(today));
  const keys = await makeKeys();

  const limit = ["--rate-limit", "partner=1000000/1000000"];
  const { child, url, log } = await startProcess(postgresUrl, "run", "--port", "0", "--data", data, ...limit);
  const operator: Operator = {
    import: importLines,
    makeKey,
    revokeKey,
    async written() {
      const files = readdirSync(data).map((name) => readFileSync(join(data, name), "latin1"));
      const stored = postgresUrl === undefined ? "" : dump(postgresUrl);
      const printed = [await command("keys", "list", "--clinic", clinics.ours), await command("audit")];
      const written = [...files, stored, ...printed, await command("export"), log()].join("\n");
      return { listed: await listedKeys("ours"), written };
    },
  };
  return {
    api: new Api(url, { keys, today, ...(await readContracts(url)) }, operator),
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Arguments of node for the built server if VETWIRE_BUILT is set, otherwise for the sources. */
function program(): string[] {
  return process.env["VETWIRE_BUILT"] === undefined ? ["server/main.ts"] : ["dist/server/main.js"];
}

/** The environment of the server. In this zone the local day mostly differs from the UTC day, so that confusion shows. */
function environment(postgresUrl: string | undefined): NodeJS.ProcessEnv {
  return { ...process.env, TZ: "Pacific/Auckland", DATABASE_URL: postgresUrl };
}

async function startProcess(
  postgresUrl: string | undefined,
  ...command: string[]
): Promise<{ child: ChildProcess; url: string; log: () => string }> {
  const child = spawn(process.execPath, [...program(), ...command], {
    stdio: ["ignore", "pipe", "pipe"],
    env: environment(postgresUrl),
  });
  process.once("exit", () => child.kill("SIGKILL"));
  let log = "";
  const url = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      log += chunk.toString();
      const address = /listening on (http:[^"]+)/.exec(log)?.[1];
      if (address !== undefined) resolve(address);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () => reject(new Error(`the server exited: ${log}`)));
  });
  return { child, url: await url, log: () => log };
}
