import { type OidcCode, OidcFault } from "./faults.ts";
import { errorCode } from "../../shared/runtime/error-message.ts";

// The library's errors as codes. Its errors hold parts of tokens and responses, so that only their names go on.

/** OAuth's words for errors (RFC 6749 §4.1.2.1 and §5.2). A provider may send any other text. */
const WORD = /^[a-z_]{1,40}$/;

/** @returns the fault that an error of the library means; `otherwise` for one without a meaning of its own */
export function faultOf(error: unknown, otherwise: OidcCode = "OIDC.NOT_VERIFIED"): OidcFault {
  const own = causes(error).find((each) => each instanceof OidcFault);
  if (own !== undefined) return own;
  if (!(error instanceof Error)) return new OidcFault(otherwise, "UNKNOWN");
  const code = errorCode(error) || error.name;
  const word = "error" in error && typeof error.error === "string" && WORD.test(error.error) ? error.error : code;
  switch (code) {
    case "OAUTH_TIMEOUT":
      return new OidcFault("OIDC.UNREACHABLE", code);
    case "OAUTH_AUTHORIZATION_RESPONSE_ERROR":
      return new OidcFault(word === "access_denied" ? "OIDC.DENIED" : "OIDC.PROVIDER", word);
    // A code that was used or has ended, or another secret.
    case "OAUTH_RESPONSE_BODY_ERROR":
      return new OidcFault(word === "invalid_grant" ? "OIDC.ENDED" : "OIDC.PROVIDER", word);
    case "OAUTH_RESPONSE_IS_NOT_CONFORM":
    case "OAUTH_WWW_AUTHENTICATE_CHALLENGE":
      return new OidcFault("OIDC.PROVIDER", code);
    default:
      return new OidcFault(otherwise, code);
  }
}

function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let each = error; each instanceof Error && found.length < 10; each = each.cause) found.push(each);
  return found;
}
