import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { LatestRelease } from "../../api/upgrade.ts";
import { fileAddress } from "./addresses.ts";

// Lists the packages of a release for servers, package managers and README.md.

type File = LatestRelease["files"][number];

const DEB_PLATFORMS: Readonly<Record<string, string>> = { amd64: "linux-x64", arm64: "linux-arm64" };

const OF = "(?<program>agent|server)";
const VERSION = String.raw`(?<version>\d+\.\d+\.\d+)`;
const PLATFORM = "(?<platform>[a-z]+-[a-z0-9]+)";

/** The names of packages, by kind. */
const NAMES: readonly (readonly [kind: string, name: RegExp])[] = [
  ["archive", new RegExp(`^vetwire-${OF}-${VERSION}-${PLATFORM}\\.tar\\.gz$`)],
  ["deb", new RegExp(`^vetwire-${OF}_${VERSION}_(?<platform>amd64|arm64)\\.deb$`)],
  ["msi", new RegExp(`^vetwire-${OF}-${VERSION}-${PLATFORM}\\.msi$`)],
  ["image", new RegExp(`^vetwire-${OF}-${VERSION}-${PLATFORM}-image\\.tar$`)],
  ["sbom", new RegExp(`^vetwire-${VERSION}-${PLATFORM}\\.cdx\\.json$`)],
  ["docs", new RegExp(`^vetwire-docs-${VERSION}\\.tar\\.gz$`)],
];

/** Lists the packages of a folder. @throws Error for one of another version, and for a folder without any */
export function listLatest(folder: string, version: string, day: string, base: string): LatestRelease {
  const files = fs
    .readdirSync(folder)
    .toSorted()
    .flatMap((name) => fileOf(folder, name, version, base));
  if (files.every(({ kind }) => kind === "docs"))
    throw new Error(`${folder} has no package of ${version}: run npm run release first`);
  return { version, released_on: day, files };
}

function fileOf(folder: string, name: string, version: string, base: string): File[] {
  for (const [kind, pattern] of NAMES) {
    const found = pattern.exec(name)?.groups;
    if (found === undefined) continue;
    const { program = "both", platform = "any" } = found;
    if (found["version"] !== version) throw new Error(`${name} is of another version than ${version}: remove it`);
    const bytes = fs.readFileSync(path.join(folder, name));
    const sha256 = crypto.createHash("sha256").update(bytes).digest("hex");
    const about = { kind, program, platform: DEB_PLATFORMS[platform] ?? platform };
    return [{ name, ...about, size: bytes.length, sha256, url: fileAddress(base, version, name) }];
  }
  return [];
}
