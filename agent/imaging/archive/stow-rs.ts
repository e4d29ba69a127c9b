import { randomUUID } from "node:crypto";
import fs from "node:fs";
import type http from "node:http";
import { isUnsent, sendRequest } from "../../../shared/network/client.ts";
import { connectionFault } from "../../../shared/network/connection-fault.ts";
import { readRetryAfter } from "../../../shared/network/retry-after.ts";
import type { StowTarget } from "../../config/values/destination.ts";
import { readSecret } from "../../config/values/secret-file.ts";
import { STATUS } from "../../protocols/dicom/dimse.ts";
import { type FailureKind, SendError } from "../../runtime/send-error.ts";
import type { InstanceFile } from "../../spool/queries/images/instance-file.ts";
import { PATIENCE, type Patience, startDeadline } from "./s3/signed-request.ts";
import { readStowResponse } from "./stow-response.ts";

// STOW-RS (PS3.18 §10.5): sends one instance per request and streams its file unchanged.

/** Max bytes of a response body that are read. A server writes some hundred bytes per instance. */
const RESPONSE_BYTES_MAX = 65_536;
/** Max characters of a redirect's target in an error. */
const LOCATION_CHARS_MAX = 100;

/**
 * Sends an instance. @throws SendError if the server did not store it; its kind decides the retry. Only a response that names
 * the instance is permanent.
 */
export async function stow(
  { url, authorizationFile }: StowTarget,
  file: string,
  { sopInstance, transferSyntax }: Pick<InstanceFile, "sopInstance" | "transferSyntax">,
  patience: Patience = PATIENCE,
): Promise<void> {
  const type = `application/dicom; transfer-syntax=${transferSyntax}`;
  // Unpredictable, so that no image holds the delimiter (RFC 2046 §5.1.1).
  const boundary = randomUUID();
  const before = Buffer.from(`--${boundary}\r\nContent-Type: ${type}\r\n\r\n`);
  const after = Buffer.from(`\r\n--${boundary}--\r\n`);
  const { size } = await fs.promises.stat(file);
  const { status, location, retryAfterMs, text } = await post(
    new URL(`${url.replace(/\/+$/, "")}/studies`),
    {
      "content-type": `multipart/related; type="application/dicom"; boundary=${boundary}`,
      "content-length": before.length + size + after.length,
      accept: "application/dicom+json",
      ...(authorizationFile === null ? {} : { authorization: readSecret(authorizationFile) }),
    },
    async function* () {
      yield before;
      yield* fs.createReadStream(file) as AsyncIterable<Buffer>;
      yield after;
    },
    { patience, bytes: size },
  );
  // Never followed, because image and credentials belong to this server. A user has to correct the URL, so the image stays queued.
  if (status >= 300 && status < 400) {
    const target = location.slice(0, LOCATION_CHARS_MAX);
    throw new SendError("transient", `the server redirects (${status}) to ${target}: expected the final URL in stow`);
  }
  const reason = `the server responded with ${status}: ${text.slice(0, 200) || "no body"}`;
  if (status === 401 || status === 403) throw new SendError("unauthorized", reason, { status });
  const verdict = readStowResponse(text, sopInstance);
  if (verdict.is === "failed") throw new SendError(kindOfFailure(verdict.reason), reason, { status, retryAfterMs });
  // 202: some instances were stored with warnings or not at all (PS3.18 table 10.5.3-1). The request has one instance.
  if ((status === 200 || status === 202) && verdict.is === "stored") return;
  const isTransient = status >= 500 || status === 429 || status === 408;
  throw new SendError(isTransient ? "transient" : "uncertain", reason, { status, retryAfterMs });
}

/** Decides by a Failure Reason (PS3.18 table 10.5.3-1 and PS3.4 table B.2-1); null if the response has none. */
function kindOfFailure(code: number | null): FailureKind {
  if (code === NOT_AUTHORIZED) return "unauthorized";
  const isTransient = code === STATUS.processingFailure || (code !== null && code >>> 8 === 0xa7);
  return isTransient ? "transient" : "permanent";
}

const NOT_AUTHORIZED = 0x0124;

interface StowResponse {
  readonly status: number;
  /** Target of a redirect; empty without one. */
  readonly location: string;
  readonly retryAfterMs: number | null;
  readonly text: string;
}

async function post(
  url: URL,
  headers: http.OutgoingHttpHeaders,
  body: () => AsyncGenerator<Buffer>,
  { patience, bytes }: { readonly patience: Patience; readonly bytes: number },
): Promise<StowResponse> {
  const { idleMs } = patience;
  // An archive that sends a byte now and then is never idle, and would hold up all images.
  const { signal, end } = startDeadline(patience, bytes);
  try {
    const response = await sendRequest(url, { method: "POST", headers, body, idleMs, signal });
    let text = "";
    for await (const chunk of response as AsyncIterable<Buffer>) {
      text += chunk.toString();
      if (text.length > RESPONSE_BYTES_MAX) break;
    }
    // A server may refuse before it has read the complete instance.
    response.destroy();
    return {
      status: response.statusCode ?? 0,
      location: response.headers.location ?? "",
      retryAfterMs: readRetryAfter(response.headers),
      text: text.replace(/\s+/g, " ").trim(),
    };
  } catch (error) {
    throw new SendError(isUnsent(error) ? "transient" : "uncertain", connectionFault(error as Error));
  } finally {
    end();
  }
}
