import { createHash } from "node:crypto";
import { isResultType } from "./message-types.ts";
import { withoutStamp } from "./message.ts";

const ID_CHARS_MAX = 20;

/**
 * Returns a key that only a message and its resends share, per device; null if nothing identifies it. An id alone does
 * not: analyzers restart at 1, or never count.
 */
export function duplicateKey(
  { bytes, incomplete }: { readonly bytes: Uint8Array; readonly incomplete: string | null },
  profile: { readonly protocol: string },
): string | null {
  if (profile.protocol !== "hl7" || incomplete !== null) return null;
  const stamped = withoutStamp(bytes);
  // A repeated query gets its reply again.
  if (stamped === null || !isResultType(stamped.type)) return null;
  const { id, header, end } = stamped;
  const hash = createHash("sha256").update(`${id}\r${header}`).update(bytes.subarray(end)).digest("hex");
  // The id comes first, so that consecutive messages of a device are adjacent in the index.
  return `${id.slice(0, ID_CHARS_MAX)} ${hash}`;
}
