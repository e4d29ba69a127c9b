import fs from "node:fs";
import type { ImageLimits } from "../config/values/image-limits.ts";
import { imageFile, REMOVED_SUFFIX } from "./files/image-folder.ts";
import type { RetentionCandidate, RetentionStatus } from "../spool/queries/images/image-retention.ts";
import type { Spool } from "../spool/spool.ts";
import { errorCode } from "../../shared/runtime/error-message.ts";

// Removes the files of images beyond the configured age and size. The oldest are first, and images that every archive has come
// before the only copies. Files that an archive or a study still needs stay. Rows stay too, so that removed images are listed.
// A row is marked before its file is removed, so that each image that is listed as kept has its file.

export interface RetentionResult {
  readonly count: number;
  readonly bytes: number;
  /** False if the images that are still needed exceed the configured size. */
  readonly isEnough: boolean;
}

/** Min age of a removed file, because a younger one may not have its final name yet. */
const YOUNG_MS = 60 * 60_000;
/** Images per operation, which bounds the time that commits of devices wait. */
const PAGE = 100;
/** Last removed images whose files are looked for again, because a crash may leave the files of a page. */
const LEFTOVERS = 10 * PAGE;

/** No image is too old while `agreed` is null: no server confirms this machine's clock. */
export async function removeOld(
  data: string,
  spool: Pick<Spool, "call">,
  { keepMs, bytesMax }: Omit<ImageLimits, "freeBytes">,
  agreed: number | null,
): Promise<RetentionResult> {
  await deleteFiles(data, spool.call("lastRemoved", LEFTOVERS));
  let left = bytesMax === null ? 0 : await spool.call("instanceBytes");
  let count = 0;
  let bytes = 0;

  /** Removes images stored before a time until no bytes are left to spare. */
  const sweep = async (before: number, removable: readonly RetentionStatus[], spare: () => number) => {
    let cursor: Pick<RetentionCandidate, "storedAt" | "message"> = { storedAt: -1, message: "" };
    while (spare() > 0) {
      const page = await spool.call("retentionCandidates", cursor, before, PAGE);
      const chosen = oldest(
        spare(),
        page.filter(({ status }) => removable.includes(status)),
      );
      const removed = await deleteFiles(data, spool.call("removeInstances", chosen, Date.now()));
      for (const { fileBytes } of chosen.filter(({ message }) => removed.includes(message))) {
        count += 1;
        bytes += fileBytes;
        left -= fileBytes;
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      cursor = last;
    }
  };
  const youngest = Math.min(Date.now(), agreed ?? Number.POSITIVE_INFINITY) - YOUNG_MS;
  const excess = () => (bytesMax === null ? 0 : left - bytesMax);
  if (keepMs !== null && agreed !== null) {
    await sweep(Math.min(youngest, agreed - keepMs), ["forwarded", "filed"], () => Infinity);
  }
  for (const standing of ["forwarded", "filed"] as const) await sweep(youngest, [standing], excess);
  return { count, bytes, isEnough: excess() <= 0 };
}

/** Returns the first images that together have at least `bytes` bytes. */
function oldest(bytes: number, images: readonly RetentionCandidate[]): RetentionCandidate[] {
  let taken = 0;
  return images.filter(({ fileBytes }) => {
    if (taken >= bytes) return false;
    taken += fileBytes;
    return true;
  });
}

/**
 * Removes the files of the messages in a database reply. They are renamed synchronously with the reply, so that an instance that
 * is sent again cannot take a name about to be deleted. This requires the thread that also names new files.
 */
async function deleteFiles(data: string, reply: Promise<readonly string[]>): Promise<readonly string[]> {
  let files: string[] = [];
  const messages = await reply.then((removed) => {
    files = removed.flatMap((message) => markRemoved(imageFile(data, message)));
    return removed;
  });
  for (const file of files) await fs.promises.rm(file, { force: true });
  return messages;
}

/** Renames a file for its deletion. @returns its new name, or an empty list if the file is missing */
function markRemoved(file: string): string[] {
  try {
    fs.renameSync(file, file + REMOVED_SUFFIX);
    return [file + REMOVED_SUFFIX];
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
