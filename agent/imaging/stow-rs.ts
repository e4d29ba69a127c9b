import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import { pipeline } from "node:stream/promises";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { StowTarget } from "../config/destination.ts";
import { readSecret } from "../config/secret-file.ts";
import { SendError } from "../runtime/send-error.ts";

// STOW-RS (PS3.18 §10.5): one instance a request, its file streamed as it stands.

const TIMEOUT_MS = 60_000;
/** Max bytes that are kept of a response. A server writes some hundred bytes for each instance. */
const ANSWER_BYTES_MAX = 65_536;
const BOUNDARY = "vetwire-instance";

/** @throws SendError where the instance was not stored, of the kind that says what to do */
export async function stow(
  { url, authorizationFile }: StowTarget,
  file: string,
  transferSyntax: string,
): Promise<void> {
  const type = `application/dicom; transfer-syntax=${transferSyntax}`;
  const before = Buffer.from(`--${BOUNDARY}\r\nContent-Type: ${type}\r\n\r\n`);
  const after = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  const { size } = await fs.promises.stat(file);
  const { status, retryAfterMs, text } = await post(
    new URL(`${url.replace(/\/+$/, "")}/studies`),
    {
      "content-type": `multipart/related; type="application/dicom"; boundary=${BOUNDARY}`,
      "content-length": before.length + size + after.length,
      accept: "application/dicom+json",
      ...(authorizationFile === null ? {} : { authorization: readSecret(authorizationFile) }),
    },
    async function* () {
      yield before;
      yield* fs.createReadStream(file) as AsyncIterable<Buffer>;
      yield after;
    },
  );
  if (status === 200) return;
  const said = `the server answered ${status}: ${text.slice(0, 200) || "nothing more"}`;
  // 202: some of the instances were stored with warnings, or not at all; ours is the only one (PS3.18 table 10.5.3-1).
  if (status === 202 && !text.includes(FAILED_SOP_SEQUENCE)) return;
  const again = status === 429 || status === 503 || status === 507 || status === 408;
  if (status === 401 || status === 403) throw new SendError("unauthorized", said, { status });
  if (again || status >= 500) throw new SendError("transient", said, { status, retryAfterMs });
  throw new SendError("permanent", said, { status });
}

const FAILED_SOP_SEQUENCE = "00081198";

interface Answer {
  readonly status: number;
  readonly retryAfterMs: number | null;
  readonly text: string;
}

async function post(url: URL, headers: http.OutgoingHttpHeaders, body: () => AsyncGenerator<Buffer>): Promise<Answer> {
  const request = (url.protocol === "https:" ? https : http).request(url, { method: "POST", headers });
  request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error(`nothing moved for ${TIMEOUT_MS / 1000} s`)));
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
  });
  answered.catch(() => undefined); // sending fails with the same
  try {
    // A server that refuses need not take the rest of the instance.
    await Promise.race([pipeline(body, request), answered]);
    const response = await answered;
    let text = "";
    for await (const chunk of response) {
      if (text.length < ANSWER_BYTES_MAX) text += (chunk as Buffer).toString();
    }
    const seconds = Number(response.headers["retry-after"] ?? "");
    return {
      status: response.statusCode ?? 0,
      retryAfterMs: seconds > 0 ? seconds * 1000 : null,
      text: text.replace(/\s+/g, " ").trim(),
    };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    const reached = !["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"].includes(code);
    throw new SendError(reached ? "uncertain" : "transient", errorMessage(error));
  } finally {
    request.destroy();
  }
}
