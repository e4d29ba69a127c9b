import { createHmac, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

// Proofs of a pairing over TLS whose certificate the agent does not know yet.
//
// The agent sees a certificate that any machine on the way may have made. So it does not send the code. It sends a MAC of the
// public key that it saw, under a key derived from the code, and the server returns a MAC of its own. A machine in the middle has
// another public key, so it can pass on neither of them, and it cannot make one without the code.
//
// It can guess codes against the agent's MAC. A code has 60 bits and ends after 15 minutes, and each guess costs a scrypt of 16
// MiB and about 0.03 s. A million cores find one in that time with a chance of 1 in 30 million. After its end a code is worth
// nothing, and the key that the agent made was not registered.

const derive = promisify<string, string, number, { N: number; r: number; p: number }, Buffer>(scrypt);

/** Parties of a pairing. Each signs in its own name, so that nobody sends the other's proof back. */
type Party = "agent" | "server";

export interface ProvenPairing {
  /** The pin of the certificate that the agent sees. */
  readonly pin: string;
  /** The API key that the agent made. */
  readonly apiKey: string;
}

/** Returns the key of the proofs of a pairing code, 32 bytes. */
export function proofKey(code: string): Promise<Buffer> {
  return derive(code, "vetwire pairing", 32, { N: 16_384, r: 8, p: 1 });
}

/** Returns the proof that a party knows the code and means this certificate. */
export function proofOf(party: Party, key: Buffer, { pin, apiKey }: ProvenPairing): string {
  return createHmac("sha256", key).update(`${party}\n${pin}\n${apiKey}`).digest("base64");
}

export function isProof(text: string, party: Party, key: Buffer, of: ProvenPairing): boolean {
  const [given, expected] = [Buffer.from(text), Buffer.from(proofOf(party, key, of))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
