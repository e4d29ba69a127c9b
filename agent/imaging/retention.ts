import fs from "node:fs";
import type { ImageLimits } from "../config/image-limits.ts";
import { GONE, imageFile } from "./instance-store.ts";
import type { RetentionCandidate, RetentionStatus } from "../spool/queries/images/image-retention.ts";
import type { Spool } from "../spool/spool.ts";

// Removes the files of images beyond the age and the size that the configuration allows: the oldest first, those that every
// archive has before those that are here alone, and none that anybody still waits for. The rows stay, so that what was removed
// is listed. A row says that its file is gone before it is: whatever is listed as kept is here.

export interface Removed {
  readonly count: number;
  readonly bytes: number;
  /** false: more is left than the configuration allows, since all of it is still needed. */
  readonly isEnough: boolean;
}

/** Files received within the last hour stay: they may still be on their way into place. */
const YOUNG_MS = 60 * 60_000;
/** In one go: no device's commit waits for more. */
const PAGE = 100;
/** A crash leaves the files of one page at most. */
const LEFTOVERS = 10 * PAGE;

export async function removeOld(
  data: string,
  spool: Pick<Spool, "call">,
  { keepMs, bytesMax }: Omit<ImageLimits, "freeBytes">,
): Promise<Removed> {
  await takeAway(data, spool.call("lastRemoved", LEFTOVERS));
  let left = bytesMax === null ? 0 : await spool.call("instanceBytes");
  let count = 0;
  let bytes = 0;

  /** Removes what came before, as long as there are bytes to spare. */
  const sweep = async (before: number, mayGo: readonly RetentionStatus[], spare: () => number) => {
    let place: Pick<RetentionCandidate, "storedAt" | "message"> = { storedAt: -1, message: "" };
    while (spare() > 0) {
      const page = await spool.call("retentionCandidates", place, before, PAGE);
      const chosen = upTo(
        spare(),
        page.filter(({ status }) => mayGo.includes(status)),
      );
      const removed = await takeAway(data, spool.call("removeInstances", chosen, Date.now()));
      for (const { fileBytes } of chosen.filter(({ message }) => removed.includes(message))) {
        count += 1;
        bytes += fileBytes;
        left -= fileBytes;
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      place = last;
    }
  };
  const young = Date.now() - YOUNG_MS;
  const tooMuch = () => (bytesMax === null ? 0 : left - bytesMax);
  if (keepMs !== null) await sweep(Math.min(young, Date.now() - keepMs), ["forwarded", "filed"], () => Infinity);
  for (const standing of ["forwarded", "filed"] as const) await sweep(young, [standing], tooMuch);
  return { count, bytes, isEnough: tooMuch() <= 0 };
}

/** The first of them that together have so many bytes. */
function upTo(bytes: number, images: readonly RetentionCandidate[]): RetentionCandidate[] {
  let taken = 0;
  return images.filter(({ fileBytes }) => {
    if (taken >= bytes) return false;
    taken += fileBytes;
    return true;
  });
}

/**
 * Removes the files of the messages that the spool answers. They lose their names in the very moment of the answer: an instance
 * that is sent again is answered for later, and what takes the name then must stay. So it runs in the thread that gives them
 * their names, and asks for it on the same way.
 */
async function takeAway(data: string, answer: Promise<readonly string[]>): Promise<readonly string[]> {
  let files: string[] = [];
  const messages = await answer.then((answered) => {
    files = answered.flatMap((message) => unname(imageFile(data, message)));
    return answered;
  });
  for (const file of files) await fs.promises.rm(file, { force: true });
  return messages;
}

/** Its name until it is removed; none: it is gone already. */
function unname(file: string): string[] {
  try {
    fs.renameSync(file, file + GONE);
    return [file + GONE];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
