import { type Static, Type } from "typebox";
import { DATE_PATTERN, SHA256_PATTERN } from "../schema/schema.ts";
import { textForm } from "../schema/text-form.ts";

// The upgrade of an agent, as server and agent exchange it. The response to a heartbeat names the wanted version; the agent
// fetches the release and reports its progress in its heartbeats.

/** Longest version and platform, such as 0.2.0 and linux-x64. */
export const RELEASE_WORD_CHARS_MAX = 64;

const REASON_CHARS_MAX = 1_000;

/** The last upgrade of an agent, in its heartbeat. A later agent may know further states. */
export const UpgradeReport = Type.Object({
  /** The version that was wanted. */
  to: Type.String({ maxLength: RELEASE_WORD_CHARS_MAX }),
  /**
   * `preparing`: the agent fetches and checks the release, and waits until no device sends. `trying`: the new version runs for its first
   * minute. `done`: it stays. `rolled back`: the version before runs again. `refused`: it was never started.
   */
  state: Type.String({ maxLength: RELEASE_WORD_CHARS_MAX }),
  /** Why it was rolled back or refused. */
  reason: Type.Union([Type.String({ maxLength: REASON_CHARS_MAX }), Type.Null()]),
  /** Time of its last change by the agent's clock. It distinguishes two equal failures. */
  at: Type.Optional(Type.String({ maxLength: RELEASE_WORD_CHARS_MAX })),
});
export type UpgradeReport = Static<typeof UpgradeReport>;

/** The version that the server wants of the agent, in the response to a heartbeat. */
export const WantedVersion = Type.Object({ version: Type.String({ maxLength: RELEASE_WORD_CHARS_MAX }) });

/** A release of the agent for a platform. */
export interface Release {
  /** Three numbers, such as 0.2.0. */
  readonly version: string;
  /** The system and processor of Node, such as linux-x64 or win-x64. */
  readonly platform: string;
}

const NAME = /^vetwire-agent-(\d{1,5}\.\d{1,5}\.\d{1,5})-([a-z0-9]{1,16}-[a-z0-9]{1,16})\.tar\.gz$/;

/** Names the archive of a release. Its signature is next to it with `.minisig`. */
export function archiveName({ version, platform }: Release): string {
  return `vetwire-agent-${version}-${platform}.tar.gz`;
}

/** Reads the name of an archive. @returns undefined for any other name */
export function readArchiveName(name: string): Release | undefined {
  const [, version, platform] = NAME.exec(name) ?? [];
  return version === undefined || platform === undefined ? undefined : { version, platform };
}

/** Compares two versions of three numbers. @returns below 0 if `one` is the older one; NaN if one of them is not such a version */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  const differing = a.findIndex((number, index) => number !== b[index]);
  return differing === -1 ? 0 : (a[differing] ?? Number.NaN) - (b[differing] ?? Number.NaN);
}

function numbersOf(version: string): number[] {
  return /^\d{1,5}\.\d{1,5}\.\d{1,5}$/.test(version) ? version.split(".").map(Number) : [Number.NaN];
}

/** The list of the newest release. Its files and `latest.json.minisig` are next to it. */
export const LATEST = "latest.json";

const FILES_MAX = 100;

/** The content of `latest.json`. A later one may have further fields and kinds. */
export const LatestRelease = Type.Object({
  version: Type.String({ pattern: textForm("^\\d{1,5}\\.\\d{1,5}\\.\\d{1,5}$", "three numbers such as 0.2.0") }),
  released_on: Type.String({ pattern: DATE_PATTERN }),
  files: Type.Array(
    Type.Object({
      /** The first character is no dot, and there is no slash: it cannot name another folder. */
      name: Type.String({
        pattern: textForm("^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$", "the name of a file without a folder"),
      }),
      /** `archive`, `deb`, `msi`, `image`, `sbom` or `docs`. */
      kind: Type.String({ maxLength: RELEASE_WORD_CHARS_MAX }),
      /** `agent`, `server`, or `both` for what is of both. */
      program: Type.String({ maxLength: RELEASE_WORD_CHARS_MAX }),
      platform: Type.String({ maxLength: RELEASE_WORD_CHARS_MAX }),
      /** The size in bytes. */
      size: Type.Integer({ minimum: 1 }),
      sha256: Type.String({ pattern: SHA256_PATTERN }),
      /** Where people download it. A mirror has it next to its own `latest.json`. */
      url: Type.String({ maxLength: 2_000 }),
    }),
    { maxItems: FILES_MAX },
  ),
});
export type LatestRelease = Static<typeof LatestRelease>;
