// Decides which file of a watched folder is complete. Another program writes the files, and nothing else reports their end.

/** A file as one look at the folder found it. */
export interface Sighting {
  readonly name: string;
  readonly bytes: number;
  /** A time of the machine that has the disk, in ms since 1970. */
  readonly modifiedMs: number;
}

/** A file that has not changed since a look. */
interface Standing {
  readonly seen: Sighting;
  readonly looks: number;
  readonly sinceMs: number;
}

/** The files of a folder since they last changed, by their names. */
export type Standings = ReadonlyMap<string, Standing>;

/** Looks in which size and time of change are the same, and the time over which they are. Programs pause between two writes. */
const LOOKS_MIN = 3;
const STANDS_MS_MIN = 6_000;

/** Names that programs give to files that they have not finished, or that they have open. */
const UNFINISHED = /^(?:~\$|\.)|\.(?:tmp|part|crdownload)$/i;

/** Whether a file is one of those that the folder is watched for. `extensions` are in lower case, without a dot. */
export function isWanted(name: string, extensions: readonly string[]): boolean {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase();
  return extension !== undefined && extensions.includes(extension) && !UNFINISHED.test(name) && !/[/\\\0]/.test(name);
}

/**
 * Compares a look with the ones before it. `nowMs` comes from a clock that is never set. @returns the files that are complete, the
 * oldest first; an empty file never is
 */
export function compareLooks(
  before: Standings,
  found: readonly Sighting[],
  nowMs: number,
): { readonly standings: Standings; readonly ready: readonly Sighting[] } {
  const standings = new Map<string, Standing>();
  for (const seen of found) {
    const last = before.get(seen.name);
    const stands = last?.seen.bytes === seen.bytes && last.seen.modifiedMs === seen.modifiedMs;
    standings.set(seen.name, {
      seen,
      looks: stands ? last.looks + 1 : 1,
      sinceMs: stands ? last.sinceMs : nowMs,
    });
  }
  const ready = [...standings.values()]
    .filter(({ seen, looks, sinceMs }) => seen.bytes > 0 && looks >= LOOKS_MIN && nowMs - sinceMs >= STANDS_MS_MIN)
    .map(({ seen }) => seen)
    .toSorted((one, other) => one.modifiedMs - other.modifiedMs || (one.name < other.name ? -1 : 1));
  return { standings, ready };
}
