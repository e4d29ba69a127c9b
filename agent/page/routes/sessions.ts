import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isLoopback } from "../../../shared/runtime/network-address.ts";

// Lets two kinds of users in: one at this machine, and one elsewhere who entered the PIN.

const COOKIE = "vetwire_page";
const SESSION_MS = 12 * 60 * 60_000;
const SESSIONS_MAX = 50;
/** Wrong PINs in a row, of all addresses together; a caller may change its own. */
const TRIES_MAX = 5;
const WAIT_MS = 15 * 60_000;

export type PinOutcome =
  | { readonly is: "right" /** The Set-Cookie header of the session. */; readonly cookie: string }
  | { readonly is: "wrong" | "too many" };

export class Sessions {
  /** Ends of the sessions by the hash of their token, the oldest first. */
  readonly #ends = new Map<string, number>();
  /** Running time in ms: a clock that is set back must not lock users out, nor one that is set ahead end their waiting. */
  readonly #now: () => number;
  #wrong = 0;
  #waitsUntil = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether a request may see the page. `pin` is null while the server listens for this machine alone. */
  mayEnter(request: IncomingMessage, pin: string | null): boolean {
    return isFromHere(request, pin) || this.#isKnown(request.headers.cookie ?? "");
  }

  /** Compares a PIN. After some wrong ones even the right one has to wait. */
  enter(given: string, pin: string | null): PinOutcome {
    const now = this.#now();
    if (now < this.#waitsUntil) return { is: "too many" };
    if (pin === null || !timingSafeEqual(digest(given), digest(pin))) {
      this.#wrong += 1;
      if (this.#wrong < TRIES_MAX) return { is: "wrong" };
      this.#wrong = 0;
      this.#waitsUntil = now + WAIT_MS;
      return { is: "too many" };
    }
    this.#wrong = 0;
    const token = randomBytes(32).toString("hex");
    if (this.#ends.size >= SESSIONS_MAX) this.#ends.delete(this.#ends.keys().next().value ?? "");
    this.#ends.set(hashOf(token), now + SESSION_MS);
    return {
      is: "right",
      cookie: `${COOKIE}=${token}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${SESSION_MS / 1000}`,
    };
  }

  #isKnown(cookies: string): boolean {
    const [, token] = new RegExp(`(?:^|; )${COOKIE}=([0-9a-f]{64})(?:;|$)`).exec(cookies) ?? [];
    return token !== undefined && (this.#ends.get(hashOf(token)) ?? 0) > this.#now();
  }
}

/** A proxy on this machine may forward a request of another one, so its headers make the request foreign. */
function isFromHere({ socket, headers }: IncomingMessage, pin: string | null): boolean {
  const remote = plain(socket.remoteAddress);
  const isOwn = isLoopback(remote) || (remote !== "" && remote === plain(socket.localAddress));
  const isForwarded = headers["x-forwarded-for"] !== undefined || headers.forwarded !== undefined;
  return isOwn && (pin === null || !isForwarded);
}

/** An IPv6 socket shows an IPv4 address in its own notation. */
function plain(address: string | undefined): string {
  return (address ?? "").replace(/^::ffff:/, "");
}

function hashOf(text: string): string {
  return digest(text).toString("hex");
}

/** Texts of any length become equally long, so that their comparison takes equally long. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
