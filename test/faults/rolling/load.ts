import http from "node:http";
import { newFp } from "../../../shared/api/fp.ts";
import type { TestPatient } from "../../support/processes.ts";

// Clients with kept connections that read patients and push studies without a pause that a failure could hide in.

const READERS = 8;
const PUSHERS = 3;
/** Pause between two requests of a client in milliseconds, so that the load leaves room for the servers on a small machine. */
const PAUSE_MS = 5;

export interface LoadResult {
  readonly reads: number;
  /** The studies that a server acknowledged. */
  readonly pushed: readonly string[];
  /** Each failed request in words. */
  readonly failures: readonly string[];
}

interface Target {
  readonly url: string;
  readonly key: string;
  readonly patients: readonly TestPatient[];
}

/** Runs the load while `work` runs. */
export async function underLoad(target: Target, work: () => Promise<void>): Promise<LoadResult> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: READERS + PUSHERS });
  const failures: string[] = [];
  const pushed: string[] = [];
  let reads = 0;
  let isOver = false;

  const repeat = async (client: number, ask: (turn: number) => Promise<void>): Promise<void> => {
    for (let turn = client; !isOver; turn += 1) {
      await ask(turn).catch((error: unknown) => failures.push(String(error)));
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const patientOf = (turn: number) => target.patients[turn % target.patients.length]?.fp ?? "";
  const read = async (turn: number): Promise<void> => {
    await send(target, agent, "GET", `/api/v1/patients/${patientOf(turn)}`);
    reads += 1;
  };
  const push = async (turn: number): Promise<void> => {
    const study = studyOf(patientOf(turn));
    const answer = await send(target, agent, "POST", "/agent/v1/studies", { studies: [study] });
    const [outcome] = (JSON.parse(answer) as { outcomes: { fp: string; outcome: string }[] }).outcomes;
    if (outcome?.outcome !== "filed") throw new Error(`push: expected a filed study, got ${answer}`);
    pushed.push(study.fp);
  };

  const clients = [
    ...Array.from({ length: READERS }, async (_, client) => repeat(client, read)),
    ...Array.from({ length: PUSHERS }, async (_, client) => repeat(client, push)),
  ];
  try {
    await work();
  } finally {
    isOver = true;
    await Promise.all(clients);
    agent.destroy();
  }
  return { reads, pushed, failures };
}

/** @returns the body. @throws Error for any status but 200, and for a broken connection */
function send({ url, key }: Target, agent: http.Agent, method: string, path: string, body?: object): Promise<string> {
  const headers = { "x-api-key": key, ...(body && { "content-type": "application/json" }) };
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`${method}: ${reason}`));
    const request = http.request(`${url}${path}`, { agent, method, headers }, (response) => {
      let text = "";
      response.on("data", (part: Buffer) => (text += part.toString()));
      response.on("error", ({ message }) => fail(message));
      response.on("end", () => {
        if (response.statusCode === 200 && response.complete) resolve(text);
        else fail(`${response.statusCode} ${text.slice(0, 200)}`);
      });
    });
    request.on("error", ({ message }) => fail(message));
    request.end(body && JSON.stringify(body));
  });
}

function studyOf(patient: string): { readonly fp: string } {
  return {
    ...{ fp: newFp("cds"), patient_fp: patient, modality: "BIOCHEMISTRY", device_name: "Abaxis VetScan VS2" },
    ...{ status: "COMPLETED", acquired_at: "2026-11-20T10:00:00.000Z", revision: 1, dedupe_key: newFp("cds") },
    results: [{ analyte: "ALT", value: 143, unit: "U/L", reference_range: "10-118", flag: "high" }],
    source: { device_id: "chem-1", message_id: "1" },
    patient_hint: {
      ...{ identifier: null, name: null, species: null, breed: null, sex: null, owner: null },
      ...{ date_of_birth: null, weight_kg: null },
    },
  } as { readonly fp: string };
}
