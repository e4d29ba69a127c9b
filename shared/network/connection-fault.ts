// The errors of a connection to another machine, for every protocol.

const NO_WAY = "there is no way there";

const NO_TLS = "no TLS is spoken there";

/** Codes of a connection that did not come about: nothing was sent. */
const UNREACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "no machine has that name",
  EAI_AGAIN: "the name cannot be looked up now",
  EADDRNOTAVAIL: NO_WAY,
  EHOSTUNREACH: NO_WAY,
  EHOSTDOWN: NO_WAY,
  ENETUNREACH: NO_WAY,
  ENETDOWN: NO_WAY,
};

const BROKEN: Readonly<Record<string, string>> = {
  ECONNRESET: "the connection broke off",
  EPIPE: "the connection broke off",
  ETIMEDOUT: "no answer",
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_SSL_HTTP_REQUEST: NO_TLS,
};

/** A connection that tried several addresses fails with the errors of all, without words. @returns the first of them */
export function firstFault(error: Error): NodeJS.ErrnoException {
  return error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
}

/** Whether what was to be sent surely stayed here. */
export function isUnreached(error: unknown): boolean {
  return error instanceof Error && isUnreachedCode(firstFault(error).code ?? "");
}

export function isUnreachedCode(code: string): boolean {
  return Object.hasOwn(UNREACHED, code);
}

/** Whether this machine has no route to the other one, as without a network. */
export function isNoWay(code: string): boolean {
  return UNREACHED[code] === NO_WAY;
}

/** Whether OpenSSL took what came for another protocol than TLS. EPROTO alone may be any refusal of the handshake. */
export function isNoTls(code: string): boolean {
  return code !== "EPROTO" && BROKEN[code] === NO_TLS;
}

/** @returns words with the code, such as `nothing listens there (ECONNREFUSED)`; the message of any other error */
export function connectionFault(error: Error): string {
  const { code, message } = firstFault(error);
  if (typeof code !== "string") return message;
  const words = code.startsWith("HPE_") ? "no HTTP is spoken there" : (UNREACHED[code] ?? BROKEN[code] ?? message);
  return `${words} (${code})`;
}
