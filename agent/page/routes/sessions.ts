import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isLoopback } from "../../../shared/network/network-address.ts";

// Lets two kinds of users in: one at this machine, and one elsewhere who entered the PIN.

const COOKIE = "vetwire_page";
const SESSION_MS = 12 * 60 * 60_000;
const SESSIONS_MAX = 50;
/** Time for which a browser keeps the cookie. After the session it only identifies the browser, so that it is not counted with strangers (RFC 6265bis §5.5). */
const COOKIE_S = 400 * 24 * 3600;
/**
 * Wrong PINs of one address, or of a browser that was in before, until it waits. Nothing is counted for all together: a stranger
 * would use it up for everybody. The PIN is long enough for tries from addresses without number (agent/config/page-pin.ts).
 */
const TRIES_MAX = 20;
const WAIT_MS = 15 * 60_000;
/** Addresses that are counted. Of further ones the longest unheard is forgotten. */
const COUNTED_MAX = 1000;

export type PinOutcome =
  | { readonly is: "right" /** The Set-Cookie header of the session. */; readonly cookie: string }
  | { readonly is: "wrong" | "too many" };

export class Sessions {
  /** Ends of the sessions by the hash of their token, the oldest first. */
  readonly #ends = new Map<string, number>();
  /** Running time in ms: a clock that is set back must not lock users out, nor one that is set ahead end their waiting. */
  readonly #now: () => number;
  /** Wrong PINs by address or browser, the longest unheard first. */
  readonly #wrong = new Map<string, { count: number; endsAt: number }>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether a request may see the page. `pin` is null while the server listens for this machine alone. */
  mayEnter(request: IncomingMessage, pin: string | null): boolean {
    return isFromHere(request, pin) || this.#isKnown(request.headers.cookie ?? "");
  }

  /**
   * Compares a PIN. Spaces, dashes and letter case do not count. After many wrong ones of an address even the right one has to wait
   * there, except in a browser that was in before and on this machine.
   */
  enter(request: IncomingMessage, given: string, pin: string | null): PinOutcome {
    const now = this.#now();
    const counted = this.#countedAs(request, pin);
    if (this.#mustWait(counted)) return { is: "too many" };
    if (pin === null || !timingSafeEqual(digest(plainPin(given)), digest(plainPin(pin)))) {
      this.#count(counted);
      return { is: this.#mustWait(counted) ? "too many" : "wrong" };
    }
    if (counted !== null) this.#wrong.delete(counted);
    const token = randomBytes(32).toString("hex");
    if (this.#ends.size >= SESSIONS_MAX) this.#ends.delete(this.#ends.keys().next().value ?? "");
    this.#ends.set(hashOf(token), now + SESSION_MS);
    const cookie = `${COOKIE}=${token}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${COOKIE_S}`;
    return { is: "right", cookie };
  }

  #isKnown(cookies: string): boolean {
    const hash = tokenHash(cookies);
    return hash !== null && (this.#ends.get(hash) ?? 0) > this.#now();
  }

  /** The browser that was in before, until it has tried too often itself, else the address. Null for this machine. */
  #countedAs(request: IncomingMessage, pin: string | null): string | null {
    if (isFromHere(request, pin)) return null;
    const browser = tokenHash(request.headers.cookie ?? "");
    return browser !== null && this.#ends.has(browser) && !this.#mustWait(browser) ? browser : senderOf(request);
  }

  #mustWait(counted: string | null): boolean {
    const wrong = counted === null ? undefined : this.#wrong.get(counted);
    return wrong !== undefined && wrong.count >= TRIES_MAX && wrong.endsAt > this.#now();
  }

  #count(counted: string | null): void {
    if (counted === null) return;
    const now = this.#now();
    const before = this.#wrong.get(counted);
    const { count, endsAt } =
      before !== undefined && before.endsAt > now ? before : { count: 0, endsAt: now + WAIT_MS };
    this.#wrong.delete(counted);
    if (this.#wrong.size >= COUNTED_MAX) this.#wrong.delete(this.#wrong.keys().next().value ?? "");
    this.#wrong.set(counted, { count: count + 1, endsAt });
  }
}

function tokenHash(cookies: string): string | null {
  const [, token] = new RegExp(`(?:^|; )${COOKIE}=([0-9a-f]{64})(?:;|$)`).exec(cookies) ?? [];
  return token === undefined ? null : hashOf(token);
}

/** The address of a request. A proxy on this machine names it last. */
function senderOf({ socket, headers }: IncomingMessage): string {
  const remote = plain(socket.remoteAddress);
  const forwarded = isLoopback(remote) ? String(headers["x-forwarded-for"] ?? headers.forwarded ?? "") : "";
  return hashOf(forwarded.split(",").at(-1)?.trim() || remote);
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

function plainPin(text: string): string {
  return text.toUpperCase().replaceAll(/[\s-]/g, "");
}

function hashOf(text: string): string {
  return digest(text).toString("hex");
}

/** Texts of any length become equally long, so that their comparison takes equally long. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
