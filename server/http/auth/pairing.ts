import { createHmac, randomInt, timingSafeEqual } from "node:crypto";
import { CODE_CHARS, CODE_MINUTES, codeOf, type Paired } from "../../../shared/api/agent/pairing.ts";
import { isProof, proofKey, proofOf } from "../../../shared/network/pairing-proof.ts";
import { agentPermissions } from "../../dashboard/types/settings/keys.ts";
import { judge, selectorOf } from "../../records/agents/pairing-code.ts";
import { agentOfKey, insertAgent } from "../../records/agents/agents.ts";
import {
  countOpenCodes,
  findCode,
  findCodes,
  forgetCodes,
  type FoundCode,
  putCode,
  useCode,
} from "../../records/agents/pairing-codes.ts";
import { adminsOf } from "../../records/users/members.ts";
import { type AuditActor, auditCommand } from "../../records/audit/audit.ts";
import type { Session } from "../../database/query.ts";
import type { Store } from "../../database/store.ts";
import { findKey, findKeyById } from "../../records/clinics/keys.ts";
import { addKey, digest, isActive } from "./api-keys.ts";
import { CODES_OPEN_MAX } from "./pairing-limit.ts";

// Pairing: a code of the dashboard, exchanged once for the access of one clinic PC.
//
// The agent makes its own key, keeps it on its disk, and sends it with the code. The key is thus also the id of the request: the
// server stores its digest as of any key, and a repeat with the same code and key changes nothing. A server that made the key
// would have to revoke it at each repeat and make another one, because it cannot show a key twice.

/** Time for which an ended code is reported as ended, and a repeat gets its response. */
const KEEP_MS = 86_400_000;

/** Selectors that other clinics have are drawn again. With 100 open codes among 32 768, three draws almost never fail. */
const DRAWS_MAX = 20;

/** Makes the code of a clinic and ends its last one. @returns undefined if too many codes of other clinics are open */
export async function makePairingCode(
  store: Store,
  pepper: Buffer,
  { clinicId, clinicFp, userId, actor }: { clinicId: number; clinicFp: string; userId: number; actor: AuditActor },
): Promise<{ code: string; expiresAt: number } | undefined> {
  const expiresAt = actor.now + CODE_MINUTES * 60_000;
  for (let draws = 0; draws < DRAWS_MAX; draws += 1) {
    const code = codeOf(Array.from({ length: CODE_CHARS }, () => randomInt(32)));
    const codeHash = codeDigest(pepper, code);
    // Before the transaction, which others wait for.
    const proof_key = masked(pepper, codeHash, await proofKey(code)).toString("hex");
    const outcome = await store.transaction(async (session) => {
      await forgetCodes(session, actor.now - KEEP_MS);
      if ((await countOpenCodes(session, clinicId, actor.now)) >= CODES_OPEN_MAX) return "too many";
      const taken = await findCode(session, selectorOf(code));
      if (taken !== undefined && taken.clinicId !== clinicId) return "taken";
      await putCode(session, {
        ...{ clinic_id: clinicId, selector: selectorOf(code), digest: codeHash, proof_key },
        ...{ expires_at: expiresAt, api_key_id: null, user_id: userId },
      });
      await auditCommand(session, "agents code", [clinicFp], actor);
      return "made";
    });
    if (outcome === "too many") return undefined;
    if (outcome === "made") return { code, expiresAt };
  }
  throw new Error(`no free selector in ${DRAWS_MAX} draws, expected far fewer codes`);
}

/** The prefix keeps the digests of codes apart from those of keys. */
function codeDigest(pepper: Buffer, code: string): string {
  return digest(pepper, `pairing code ${code}`);
}

/** Encrypts or decrypts the proof key of a code: a copy of the database alone pairs nothing. Each code has a mask of its own. */
function masked(pepper: Buffer, codeHash: string, key: Buffer): Buffer {
  const mask = createHmac("sha256", pepper).update(`pairing proof ${codeHash}`).digest();
  return mask.map((byte, index) => byte ^ (key[index] ?? 0)) as Buffer;
}

/** The evidence that an agent knows the code: the code itself, or its MAC over the certificate that it sees. */
export type ShownCode = { readonly code: string } | { readonly pin: string; readonly mac: string };

export interface PairingRequest {
  readonly shown: ShownCode;
  readonly name: string;
  /** The well-formed key that the agent made. */
  readonly key: string;
  readonly address: string;
  readonly now: number;
}

/** Exchanges a code for access. One transaction uses the code up, stores the key and registers the agent. @throws KeyRefused */
export async function pairAgent(
  store: Store,
  pepper: Buffer,
  request: PairingRequest,
): Promise<Paired | "wrong" | "ended"> {
  const keyDigest = digest(pepper, request.key);
  // Guesses must not wait for the database's one writer, nor others for them.
  if ((await findShown(store, pepper, request)) === undefined) return "wrong";
  return store.transaction(async (session) => {
    const shown = await findShown(session, pepper, request);
    if (shown === undefined) return "wrong";
    const { found, proof } = shown;
    switch (judge(found, { keyDigest, now: request.now })) {
      case "ended":
        return "ended";
      case "repeated":
        return answered(await repeat(session, found, request.now), proof);
      case "right":
        // The right to pair ends with the right to make a code, and not a quarter of an hour later.
        if (!(await adminsOf(session, found.clinicId)).includes(found.userId)) return "ended";
        // The agent made the key just now, so a key of another clinic can only come from a forged request.
        if ((await findKey(session, keyDigest)) !== undefined) return "ended";
        return answered(await register(session, pepper, found, request), proof);
    }
  });
}

interface FoundByCode {
  readonly found: FoundCode;
  /** The server's own proof, if the agent sent one. */
  readonly proof?: string;
}

/** Finds the code that an agent shows. A proof names none, so that it is compared with each: there are few. */
async function findShown(
  session: Session,
  pepper: Buffer,
  { shown, key }: PairingRequest,
): Promise<FoundByCode | undefined> {
  if ("code" in shown) {
    const found = await findCode(session, selectorOf(shown.code));
    const isRight = found !== undefined && isSame(found.digest, codeDigest(pepper, shown.code));
    return isRight ? { found } : undefined;
  }
  const of = { pin: shown.pin, apiKey: key };
  for (const found of await findCodes(session)) {
    const secret = masked(pepper, found.digest, Buffer.from(found.proofKey, "hex"));
    if (isProof(shown.mac, "agent", secret, of)) return { found, proof: proofOf("server", secret, of) };
  }
  return undefined;
}

function answered(paired: Paired | "ended", proof: string | undefined): Paired | "ended" {
  return paired === "ended" || proof === undefined ? paired : { ...paired, proof };
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

async function register(
  session: Session,
  pepper: Buffer,
  { clinicId, clinic, userId }: FoundCode,
  { key, name, address, now }: PairingRequest,
): Promise<Paired> {
  const added = await addKey(session, pepper, key, {
    clinicId,
    name: name.trim(),
    type: "device",
    permissions: agentPermissions,
    now,
    expiresAt: null,
  });
  const agent = await insertAgent(session, { clinic_id: clinicId, api_key_id: added.id, paired_at: now });
  await useCode(session, clinicId, added.id);
  // The user who showed the code to the PC is responsible for it.
  await auditCommand(session, "agents pair", [agent, added.public_id], { by: address, now, userId, clinicId });
  return { agent, clinic };
}

/** Responds to a repeat, unless a person has revoked the key since. */
async function repeat(session: Session, { publicKeyId, clinic }: FoundCode, now: number): Promise<Paired | "ended"> {
  const key = await findKeyById(session, publicKeyId ?? "");
  if (key === undefined || !isActive(key, now)) return "ended";
  const agent = await agentOfKey(session, key.id);
  return agent === undefined ? "ended" : { agent: agent.fp, clinic };
}
