import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { dialled } from "../../../agent/doctor/connections/dialled.ts";
import { tryWay } from "../../../agent/doctor/connections/server-network.ts";
import type { Config } from "../../../agent/config/values/schema.ts";
import { DicomClient } from "../../../agent/imaging/archive/scu.ts";
import { stow } from "../../../agent/imaging/archive/stow-rs.ts";
import { pair } from "../../../agent/push/pair.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { dialTransport } from "../../../agent/transport/tcp.ts";
import { openPostgres } from "../../../server/database/postgres.ts";
import { createMailer } from "../../../server/operations/mail/smtp.ts";
import type { Finding } from "../../../agent/page/types/doctor.ts";
import { ObjectStore } from "../../../agent/imaging/archive/s3/object-store.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { sendWebhook } from "../../../server/operations/webhooks/send.ts";
import { newWebhookSecret } from "../../../server/operations/webhooks/sign.ts";
import { CR_STORAGE, EXPLICIT } from "../protocols/dicom.ts";
import { bucketOf } from "../peers/bucket.ts";

// Every way on which the two programs connect to another machine. Each tries its host once. Its failure is a text.

export interface Place {
  readonly host: string;
  readonly port: number;
}

type Attempt = (place: Place, scheme: "http" | "https") => Promise<unknown>;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "vetwire-outgoing-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));

const urlOf = ({ host, port }: Place, scheme: string) => `${scheme}://${host}:${port}`;
const server = (place: Place, scheme: string) => createServerClient(urlOf(place, scheme), () => "key", 3000);

async function webhook(place: Place, scheme: string): Promise<void> {
  const receiver = { url: urlOf(place, scheme), secret: newWebhookSecret() };
  // Plain http is for private receivers alone, and the names of the test have public addresses.
  const outcome = await sendWebhook(receiver, { id: "1", body: "{}" }, { allowPrivate: true, deadlineMs: 3000 });
  throw new Error(outcome.delivered ? "delivered" : outcome.reason);
}

async function mail({ host, port }: Place, isTls: boolean): Promise<void> {
  const send = createMailer({ host, port, isTls, user: null, from: "a@example.com", password: () => "" });
  const outcome = await send({ to: "b@example.com", subject: "s", text: "t" });
  throw new Error(outcome.ok ? outcome.said : outcome.reason);
}

function image(): string {
  const file = path.join(folder, "image");
  fs.writeFileSync(file, "x".repeat(300_000));
  return file;
}

function device(place: Place, isTls: boolean): Promise<void> {
  const transport = dialTransport(place, isTls ? { minVersion: "TLSv1.2" } : null);
  return new Promise<never>((_resolve, reject) => {
    const handler = { chunk: () => undefined, closed: () => reject(new Error("the wire closed")) };
    transport.open(
      () => handler,
      (reason) => reject(new Error(reason)),
    );
  }).finally(() => void transport.close());
}

async function association(address: Place): Promise<void> {
  const contexts = [{ id: 1, abstractSyntax: CR_STORAGE, transferSyntaxes: [EXPLICIT] }];
  const client = await DicomClient.connect({ address, calledAe: "PACS", callingAe: "VETWIRE", contexts });
  await client.release();
}

async function doctor(found: Promise<readonly Finding[]>): Promise<void> {
  throw new Error((await found).map(({ sentence }) => sentence).join("; "));
}

function dialledBy({ host, port }: Place): Promise<readonly Finding[]> {
  const config = {
    devices: [{ id: "d", connection: { dial: `${host}:${port}` } }],
    destinations: [],
    resultDestinations: [],
  };
  return Promise.resolve(
    dialled.run({
      config: config as unknown as Config,
      isAgentRunning: false,
      isOffline: false,
      configFile: "",
      read: { problems: [] },
    }),
  );
}

export const OUTGOING: Readonly<Record<string, Attempt>> = {
  push: (place, scheme) => server(place, scheme).post("/agent/v1/studies", { studies: [] }),
  download: (place, scheme) => server(place, scheme).download("/agent/v1/x", path.join(folder, "x"), 1000),
  pairing: (place, scheme) => {
    const keyFile = path.join(fs.mkdtempSync(path.join(folder, "pair-")), "key");
    return pair({ serverUrl: urlOf(place, scheme), code: "7KQM-X2HD-9FVT", name: "PC", keyFile });
  },
  webhook,
  bucket: (place, scheme) => {
    const target = { ...bucketOf(1, folder), endpoint: urlOf(place, scheme) };
    const patience = { idleMs: 3000, bytesPerSecond: 1024 };
    return new ObjectStore(target, { secret: () => "key", patience }).tryWriting();
  },
  stow: (place, scheme) => {
    const instance = { sopInstance: "1.2", transferSyntax: EXPLICIT };
    return stow({ url: urlOf(place, scheme), authorizationFile: null }, image(), instance);
  },
  "C-STORE and storage commitment": association,
  "e-mail": (place, scheme) => mail(place, scheme === "https"),
  "dialled device": (place, scheme) => device(place, scheme === "https"),
  "doctor's server": (place, scheme) => doctor(tryWay(urlOf(place, scheme)).then(({ found }) => found)),
  "doctor's device": (place) => doctor(dialledBy(place)),
  database: ({ host, port }) => openPostgres(`postgres://vetwire:x@${host}:${port}/vetwire`),
};

/** @returns the failure of an attempt in words, without a stack */
export async function failureOf(name: string, place: Place, scheme: "http" | "https"): Promise<string> {
  const attempt = OUTGOING[name];
  if (attempt === undefined) return "no such attempt";
  return attempt(place, scheme).then(() => "no failure", errorMessage);
}
