// The reasons for which a sign-in through the provider fails, as codes. The words belong to the part that shows them.

export type OidcCode =
  /** The provider did not answer, or an address rule forbids it. */
  | "OIDC.UNREACHABLE"
  /** The provider refused this server, or its settings do not fit. The operator has to look. */
  | "OIDC.PROVIDER"
  /** The user, or a rule of the provider, ended the sign-in. */
  | "OIDC.DENIED"
  /** The sign-in took too long, began in another browser, or its answer was used before. */
  | "OIDC.ENDED"
  /** The answer does not belong to this sign-in, or its signature does not prove it. */
  | "OIDC.NOT_VERIFIED";

/** `cause` is a word for the log: the name of an error, never a part of a token. */
export class OidcFault extends Error {
  readonly code: OidcCode;
  override readonly cause: string;

  constructor(code: OidcCode, cause: string) {
    super(`${code}: ${cause}`);
    this.code = code;
    this.cause = cause;
  }
}
