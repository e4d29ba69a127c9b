import { createHash } from "node:crypto";
import { isResultType } from "./message-types.ts";
import { type Unstamped, withoutStamp } from "./message.ts";

const ID_CHARS_MAX = 20;

/** Bytes that are searched for a time of the sample. */
const HEAD_BYTES_MAX = 8 * 1024;

/** A time with hour and minute in an order, specimen or result. A birth date is in the PID. */
const OWN_TIME =
  /[\r\n](?:OBR|SPM|OBX)[^\r\n]*\W(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])[ T]?[0-2]\d:?[0-5]\d/;

/**
 * Returns a key that only a message and its resends share, per device; null if nothing identifies it. An id alone does
 * not: analyzers restart at 1, never count, or send none. The header's time counts if the sample has none, because the next
 * day's sample of the same number may have the same value.
 */
export function duplicateKey(
  { bytes, incomplete }: { readonly bytes: Uint8Array; readonly incomplete: string | null },
  profile: { readonly protocol: string; readonly registry?: object },
): string | null {
  if (profile.protocol !== "hl7" || incomplete !== null) return null;
  const stamped = withoutStamp(bytes);
  if (profile.registry !== undefined) return stamped === null ? null : registryKey(stamped, bytes);
  // A repeated query gets its reply again.
  if (stamped === null || !isResultType(stamped.type)) return null;
  const { id, sent, header, end } = stamped;
  const body = Buffer.from(bytes.buffer, bytes.byteOffset + end, Math.min(bytes.length - end, HEAD_BYTES_MAX));
  const time = OWN_TIME.test(body.toString("latin1")) ? "" : sent;
  const hash = createHash("sha256")
    .update(`${id}\r${header}${time === "" ? "" : `\r${time}`}`)
    .update(bytes.subarray(end))
    .digest("hex");
  // The id comes first, so that consecutive messages of a device are adjacent in the index.
  return `${id.slice(0, ID_CHARS_MAX)} ${hash}`;
}

/** MSH-7 with seconds. */
const EXACT_TIME = /^\d{14}/;

/**
 * A message of practice software is a resend if all its bytes are the same. Without an id and a time to the second the same
 * content may be sent again on purpose, after other content.
 */
function registryKey({ id, sent }: Unstamped, bytes: Uint8Array): string | null {
  if (id === "" || !EXACT_TIME.test(sent)) return null;
  const hash = createHash("sha256").update(bytes).digest("hex");
  return `${id.slice(0, ID_CHARS_MAX)} ${hash}`;
}
