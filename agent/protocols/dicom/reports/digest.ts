import { createHash } from "node:crypto";

/** Returns the SHA-256 of lines, which is the same for any order. */
export function digest(lines: readonly string[]): string {
  return createHash("sha256").update(lines.toSorted().join("\n")).digest("hex");
}
