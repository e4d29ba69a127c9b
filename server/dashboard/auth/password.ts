import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { refuseValue } from "../refuse.ts";
import { refusal } from "../types/refusals.ts";
import { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from "../types/settings/session.ts";
import { ApiError } from "../../http/errors.ts";
import { randomText } from "../../../shared/runtime/random-text.ts";

// Passwords as scrypt hashes (RFC 7914). Each hash is stored with its parameters, so that they can be raised later.

interface Parameters {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** 64 MiB and about 0.3 s on a clinic PC. */
const current: Parameters = { N: 2 ** 16, r: 8, p: 1 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Max simultaneous hashes: each holds 64 MiB, and further ones would slow down the API. */
const AT_ONCE_MAX = 2;
/**
 * Max hashes that wait, of strangers and of known people each. Of a flood of sign-ins the further ones are refused, so that a person's
 * own waits a few seconds at most. Known people are served first, so that no flood of strangers refuses them.
 */
const WAITING_MAX = 20;
/** Time after which a refused one is sent again, in seconds. */
const RETRY_AFTER_S = "5";

/** 79 bits, to be read from a screen and typed. */
export function randomPassword(): string {
  return randomText(16).toLowerCase();
}

/** Somebody who waits for a hash. */
interface Waiting {
  readonly isGone: () => boolean;
  /** Whether the request is of a session, or of a browser in which the user signed in before. */
  readonly isKnown: boolean;
}

const known: Waiting = { isGone: () => false, isKnown: true };

let running = 0;
const queues = { known: [] as (() => void)[], strangers: [] as (() => void)[] };

/**
 * Hashes a new password. The length is checked here, since an error of a schema would repeat the password.
 * @returns `scrypt$N$r$p$salt$hash`, in base64
 */
export async function hashPassword(password: string): Promise<string> {
  if (password.length < PASSWORD_CHARS_MIN || password.length > PASSWORD_CHARS_MAX) {
    refuseValue(refusal("PASSWORD.LENGTH", PASSWORD_CHARS_MIN, PASSWORD_CHARS_MAX));
  }
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, current, known);
  return ["scrypt", current.N, current.r, current.p, salt.toString("base64"), hash.toString("base64")].join("$");
}

/**
 * Whether the password belongs to a stored hash. Without a stored hash it takes the same time and returns false.
 * @throws ApiError 503 if too many wait
 */
export async function isPassword(password: string, stored: string | undefined, who: Waiting = known): Promise<boolean> {
  if (password.length > PASSWORD_CHARS_MAX) return isPassword("", undefined, who);
  const [scheme, N, r, p, salt = "", hash = ""] = (stored ?? "").split("$");
  if (scheme !== "scrypt") {
    await derive(password, Buffer.alloc(SALT_BYTES), current, who);
    return false;
  }
  const parameters = { N: Number(N), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, "base64"), parameters, who);
  return timingSafeEqual(derived, Buffer.from(hash, "base64"));
}

async function derive(
  password: string,
  salt: Buffer,
  { N, r, p }: Parameters,
  { isGone, isKnown }: Waiting,
): Promise<Buffer> {
  if (running >= AT_ONCE_MAX) {
    const waiting = isKnown ? queues.known : queues.strangers;
    if (waiting.length >= WAITING_MAX) {
      throw new ApiError("SERVER.UNAVAILABLE", "", { headers: { "retry-after": RETRY_AFTER_S } });
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running += 1;
  try {
    if (isGone()) throw new ApiError("REQUEST.TIMEOUT");
    return await new Promise((resolve, reject) => {
      const options = { N, r, p, maxmem: 256 * N * r };
      scrypt(password.normalize("NFC"), salt, HASH_BYTES, options, (error, key) =>
        error === null ? resolve(key) : reject(error),
      );
    });
  } finally {
    // The next one in line takes over the place.
    const next = queues.known.shift() ?? queues.strangers.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
