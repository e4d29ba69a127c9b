import { CODE_CHARS, Paired, type PairBody, PC_NAME_CHARS_MAX, readCode } from "../../shared/api/agent/pairing.ts";
import { isProof, proofKey, proofOf } from "../../shared/network/pairing-proof.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { storedText } from "../../shared/runtime/stored-text.ts";
import { advisedText } from "../../shared/runtime/advised.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { readableServer } from "../config/exposures.ts";
import { clockSentence, ClockWatch } from "./clock-watch.ts";
import { lookAt, pinOfServer } from "./pinned-server.ts";
import { createServerClient } from "./server-client.ts";
import { SendError } from "../runtime/send-error.ts";
import { notVetwire, PairingError, pairingFault, unproven } from "./faults.ts";
import { commitKey, draftKey } from "./key-draft.ts";
import { readServerUrl } from "./server-address.ts";

const answer = compileLater(Paired);

interface PairingWish {
  /** The server's address as a person types it. */
  readonly serverUrl: string;
  /** The code at the dashboard as a person types it. */
  readonly code: string;
  /** The name by which people know this PC. */
  readonly name: string;
  readonly keyFile: string;
}

export interface Pairing {
  /** The address for `server.url` of agent.yaml. */
  readonly serverUrl: string;
  /** The public key of its certificate for `server.pin`; undefined if an authority of this PC vouches for it. */
  readonly pin: string | undefined;
  readonly agent: string;
  readonly clinic: { readonly fp: string; readonly name: string };
  /** Sentences about settings that work, and should be corrected. */
  readonly warnings: readonly string[];
}

/**
 * Exchanges a code of the dashboard for this PC's access, and writes the key file. A call that failed or was killed may be repeated
 * with the same code: the key file is absent or works at each moment. @throws PairingError with what to do
 */
export async function pair({ serverUrl: typedUrl, code: typedCode, name, keyFile }: PairingWish): Promise<Pairing> {
  const serverUrl = readServerUrl(typedUrl);
  const code = readCode(typedCode);
  if (code === null) {
    const expected = `expected ${CODE_CHARS} letters and digits such as 7KQM-X2HD-9FVT, as the dashboard shows under Devices, Add a clinic PC`;
    throw new PairingError("code", `the code is not complete: ${expected}`);
  }
  const warnings: string[] = [];
  const readable = readableServer(serverUrl);
  if (readable !== null) warnings.push(advisedText(readable));
  const key = onDisk(keyFile, () => draftKey(keyFile, serverUrl, code));
  const pin = await unknownPin(serverUrl);
  const { agent, clinic } = await exchange({ serverUrl, key, code, name: nameOf(name), pin }, warnings);
  onDisk(keyFile, () => commitKey(keyFile, key));
  return { serverUrl, pin, agent, clinic, warnings };
}

/** The server refuses longer names, and half of a character at the cut. */
function nameOf(name: string): string {
  return storedText(name.trim().slice(0, PC_NAME_CHARS_MAX)) || "Clinic PC";
}

/**
 * The pin of a server that this PC has no reason to trust yet; undefined if it has, or if the request will report what is wrong.
 */
async function unknownPin(serverUrl: string): Promise<string | undefined> {
  if (!serverUrl.startsWith("https:")) return undefined;
  const seen = await lookAt(serverUrl).catch(() => null);
  return seen?.isUnknown === true ? (pinOfServer(seen) ?? undefined) : undefined;
}

interface Exchange {
  readonly serverUrl: string;
  readonly key: string;
  readonly code: string;
  readonly name: string;
  readonly pin: string | undefined;
}

async function exchange({ serverUrl, key, code, name, pin }: Exchange, warnings: string[]): Promise<Paired> {
  const clock = new ClockWatch({
    changed: () => undefined,
    isWrong: (offsetS) => warnings.push(...(offsetS === null ? [] : [clockSentence(offsetS)])),
  });
  const client = createServerClient(
    serverUrl,
    () => key,
    undefined,
    (times) => clock.heard(times),
    pin,
  );
  const secret = pin === undefined ? null : await proofKey(code);
  const meant = { pin: pin ?? "", apiKey: key };
  const body: PairBody =
    secret === null ? { code, name } : { proof: { pin: meant.pin, mac: proofOf("agent", secret, meant) }, name };
  try {
    const { data } = ((await client.post("/agent/v1/pair", body)) ?? {}) as { data?: unknown };
    if (answer.Check(data)) {
      if (secret === null || isProof(data.proof ?? "", "server", secret, meant)) return data;
      throw unproven(serverUrl, meant.pin);
    }
  } catch (error) {
    throw error instanceof SendError ? pairingFault(error, serverUrl, new Date()) : error;
  }
  throw notVetwire(serverUrl);
}

/** @throws PairingError if the disk refuses */
function onDisk<T>(keyFile: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const remedy = "choose a file in a folder that this user may write to, on a disk with free space";
    throw new PairingError("key file", `the key cannot be written to ${keyFile}: ${errorMessage(error)}: ${remedy}`);
  }
}
