import { createHash } from "node:crypto";
import { isResultType } from "./read.ts";
import { withoutStamp } from "./message.ts";

const ID_CHARS_MAX = 20;

/**
 * The same for a message and for that message sent again, and for no other of its device; null where nothing tells. An id
 * alone does not: analyzers begin again at 1, or never count.
 */
export function fingerprint(
  { bytes, incomplete }: { readonly bytes: Uint8Array; readonly incomplete: string | null },
  profile: { readonly protocol: string },
): string | null {
  if (profile.protocol !== "hl7" || incomplete !== null) return null;
  const stamped = withoutStamp(bytes);
  // A query that comes again is asked again.
  if (stamped === null || !isResultType(stamped.type)) return null;
  const { id, header, end } = stamped;
  const hash = createHash("sha256").update(`${id}\r${header}`).update(bytes.subarray(end)).digest("hex");
  // With the id before it, what a device sends one after the other stands together in the index.
  return `${id.slice(0, ID_CHARS_MAX)} ${hash}`;
}
