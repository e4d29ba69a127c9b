import { sendRequest } from "../../shared/network/client.ts";
import { addressesOf, before } from "../operations/webhooks/addresses.ts";
import { readReceiverUrl } from "../operations/webhooks/receiver.ts";
import { OidcFault } from "./faults.ts";
import { errorCode } from "../../shared/runtime/error-message.ts";

// The requests to the provider. They obey the rule for outgoing addresses: https to a public address. The operator named the issuer,
// so that its own host may be in the local network; other hosts that its metadata name may not.

/** Keys of a large provider have 20 kB. */
const BYTES_MAX = 1_000_000;

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string> | Headers;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Makes a `fetch` that follows no redirect and connects to the addresses that it checked. @throws OidcFault OIDC.UNREACHABLE */
export function guardedFetch(issuer: URL): (url: string, asked: Asked) => Promise<Response> {
  return async (text, { method = "GET", headers = {}, body, signal = AbortSignal.timeout(30_000) }) => {
    try {
      const isOwn = URL.canParse(text) && new URL(text).host === issuer.host;
      const url = readReceiverUrl(text, isOwn);
      if (!url.ok) throw new OidcFault("OIDC.UNREACHABLE", url.why.code);
      const addresses = await before(signal, addressesOf(url.value, isOwn));
      if (addresses?.ok === false) throw new OidcFault("OIDC.UNREACHABLE", addresses.why.code);
      const response = await sendRequest(url.value, {
        ...{ method, signal, headers: Object.fromEntries(new Headers(headers)) },
        ...{ body: isForm(body) ? Buffer.from(body.toString()) : undefined },
        ...(addresses !== null && { addresses: addresses.value }),
      });
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > BYTES_MAX) throw new OidcFault("OIDC.UNREACHABLE", "TOO_LONG");
        chunks.push(chunk);
      }
      const { statusCode: status = 0, headers: got } = response;
      // RFC 9110 §15.3.5 and §15.4.5: these have no body, and `Response` takes none.
      const isEmpty = status === 204 || status === 304;
      const type = { "content-type": got["content-type"] ?? "" };
      return new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers: type });
    } catch (error) {
      throw error instanceof OidcFault ? error : new OidcFault("OIDC.UNREACHABLE", nameOf(error));
    }
  };
}

/** The only kind of body that the libraries send. */
function isForm(body: unknown): body is URLSearchParams | string {
  return body instanceof URLSearchParams || typeof body === "string";
}

function nameOf(error: unknown): string {
  return errorCode(error) || (error instanceof Error ? error.name : "UNKNOWN");
}
