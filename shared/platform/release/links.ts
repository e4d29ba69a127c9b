import { LATEST, type LatestRelease } from "../../api/upgrade.ts";
import { errorMessage } from "../../runtime/error-message.ts";
import { fileAddress, newestAddress } from "./addresses.ts";
import { signedFiles, SUMS } from "./signatures.ts";

// Checks that every address of a release leads to its file, as users and programs reach it.

interface Link {
  readonly address: string;
  /** The size of the file (bytes), where the release names it. */
  readonly size?: number;
}

const RESPONSE_MS = 60_000;

/** The addresses that a release has made public. Without a release, the owner's address alone. */
export function releaseLinks(base: string, latest: LatestRelease | null): Link[] {
  if (latest === null) return [{ address: base }];
  const beside = [SUMS, ...signedFiles(latest).map((name) => `${name}.minisig`)];
  return [
    { address: base },
    { address: newestAddress(base, LATEST) },
    ...latest.files.map(({ url, size }) => ({ address: url, size })),
    ...beside.map((name) => ({ address: fileAddress(base, latest.version, name) })),
  ];
}

/** Requests each address and follows redirects. Returns one sentence for each that does not lead to its file. */
export async function linkProblems(links: readonly Link[], timeoutMs = RESPONSE_MS): Promise<string[]> {
  const found = await Promise.all(links.map((link) => problemOf(link, timeoutMs)));
  return found.filter((problem) => problem !== null);
}

async function problemOf({ address, size }: Link, timeoutMs: number): Promise<string | null> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    // Some hosts refuse HEAD. The file itself is not read. A compressed response would have another length.
    const response = await fetch(address, { signal, headers: { "accept-encoding": "identity" } });
    await response.body?.cancel();
    if (response.status !== 200) return `${address} responds with ${response.status}, expected 200`;
    const length = response.headers.get("content-length");
    if (size === undefined || length === null || Number(length) === size) return null;
    return `${address} has ${length} bytes, expected ${size}`;
  } catch (error) {
    if (signal.aborted) return `${address} did not respond within ${timeoutMs / 1000} s`;
    return `${address} cannot be reached: ${errorMessage((error as Error).cause ?? error)}`;
  }
}
