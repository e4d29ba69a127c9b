import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Command, Option } from "commander";
import { VERSION } from "../../files/program-files.ts";
import { bundle } from "./bundle.ts";
import { packDeb } from "./deb.ts";
import { packImage } from "./image.ts";
import { packMsi } from "./msi.ts";
import type { Pack, PackOrder } from "./pack.ts";
import { seal } from "./seal.ts";
import { BILL_OF_MATERIALS, type Platform, type Release, stage } from "./stage.ts";
import { packTar } from "./tar.ts";

// npm run build and npm run package: bundles the programs, and makes packages that need neither Node nor a compiler.

interface Kind {
  readonly pack: Pack;
  /** The first is the default. */
  readonly platforms: readonly Platform[];
  /** The programs, if the kind is not for both. */
  readonly programs?: readonly PackOrder["program"][];
  /** Commands that this machine needs, each with its Debian package. */
  readonly tools?: Readonly<Record<string, string>>;
}

const BOTH = ["agent", "server"] as const;

const KINDS: Readonly<Record<string, Kind>> = {
  tar: { pack: packTar, platforms: ["linux-x64", "linux-arm64", "win-x64"] },
  deb: { pack: packDeb, platforms: ["linux-x64", "linux-arm64"], tools: { "dpkg-deb": "dpkg" } },
  image: { pack: packImage, platforms: ["linux-x64"], programs: ["server"], tools: { mmdebstrap: "mmdebstrap" } },
  msi: { pack: packMsi, platforms: ["win-x64"], tools: { wixl: "wixl", msibuild: "msitools" } },
};

interface PackageOptions {
  readonly program: "agent" | "server" | "both";
  readonly platform?: Platform;
  readonly out: string;
  readonly releaseVersion: string;
  readonly publicKey?: string;
  readonly signKey?: string;
  readonly authenticodeCertificate?: string;
  readonly authenticodeKey?: string;
}

const program = new Command("package").description("makes the bundle and the packages of Vetwire");
program
  .command("bundle")
  .description("bundle the programs into dist/")
  .action(async () => {
    await bundle("dist");
  });
for (const [name, kind] of Object.entries(KINDS)) {
  packageCommand(name, `make the package: ${name}`)
    .addOption(new Option("--platform <name>", "system and processor").choices(kind.platforms))
    .action((options: PackageOptions) => {
      const platform = options.platform ?? kind.platforms[0];
      return makePackages(platform === undefined ? [] : [[platform, [kind]]], options);
    });
}
packageCommand("all", "make every package that this machine can make").action((options: PackageOptions) => {
  const kinds = Object.entries(KINDS).filter(([name, kind]) => canMake(name, kind));
  const platforms = [...new Set(kinds.flatMap(([, kind]) => kind.platforms))];
  const jobs = platforms.map((platform): Job => {
    return [platform, kinds.map(([, kind]) => kind).filter((kind) => kind.platforms.includes(platform))];
  });
  return makePackages(jobs, options);
});
await program.parseAsync();

/** A platform, and the kinds to make for it from one staged folder. */
type Job = readonly [platform: Platform, kinds: readonly Kind[]];

function packageCommand(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .addOption(
      new Option("--program <name>", "agent, server, or both").choices(["agent", "server", "both"]).default("both"),
    )
    .option("--out <folder>", "folder of the finished packages", "release")
    .option("--release-version <version>", "version of the package", VERSION)
    .option("--public-key <file>", "minisign key that the program trusts for upgrades")
    .option("--sign-key <file>", "secret minisign key that signs the packages")
    .option("--authenticode-certificate <file>", "certificate of the owner, with its chain, in PEM: sign for Windows")
    .option("--authenticode-key <file>", "private key of the certificate in PEM");
}

/** Whether this machine has the tools of a kind. Prints what is missing. */
function canMake(name: string, { tools = {} }: Kind): boolean {
  const missing = Object.entries(tools).filter(([tool]) => !hasTool(tool));
  for (const [tool, source] of missing)
    process.stdout.write(`${name}: left out, ${tool} is missing (apt-get install ${source})\n`);
  return missing.length === 0;
}

function hasTool(tool: string): boolean {
  return (process.env["PATH"] ?? "").split(path.delimiter).some((folder) => fs.existsSync(path.join(folder, tool)));
}

async function makePackages(jobs: readonly Job[], options: PackageOptions): Promise<void> {
  const release = { version: options.releaseVersion, time: releaseTime(), publicKey: options.publicKey ?? null };
  const out = path.resolve(options.out);
  fs.mkdirSync(out, { recursive: true });
  const made: string[] = [];
  for (const job of jobs) made.push(...(await packPlatform(job, release, options, out)));
  seal(out, made, options.signKey ?? null);
  for (const file of made) process.stdout.write(`${file} (${Math.round(fs.statSync(file).size / 1e6)} MB)\n`);
}

/** Stages a platform once and makes its packages. Returns their files. */
async function packPlatform(
  [platform, kinds]: Job,
  release: Release,
  options: PackageOptions,
  out: string,
): Promise<string[]> {
  const authenticode = signer(options);
  const draft = fs.mkdtempSync(path.join(os.tmpdir(), "vetwire-package-"));
  try {
    const staged = path.join(draft, "staged");
    await stage(staged, platform, release);
    fs.copyFileSync(
      path.join(staged, BILL_OF_MATERIALS),
      path.join(out, `vetwire-${release.version}-${platform}.cdx.json`),
    );
    const files: string[] = [];
    for (const { pack, programs = BOTH } of kinds) {
      for (const name of programs.filter((each) => options.program === "both" || each === options.program)) {
        const work = fs.mkdtempSync(path.join(draft, `${name}-`));
        files.push(await pack({ program: name, platform, release, staged, work, out, authenticode }));
      }
    }
    return files;
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

function signer({
  authenticodeCertificate: certificate,
  authenticodeKey: key,
}: PackageOptions): PackOrder["authenticode"] {
  if (certificate === undefined && key === undefined) return null;
  if (certificate !== undefined && key !== undefined)
    return { certificate: path.resolve(certificate), key: path.resolve(key) };
  throw new Error("a signature needs both: give --authenticode-certificate and --authenticode-key");
}

/** The time of the newest commit, or SOURCE_DATE_EPOCH (reproducible-builds.org), in s. */
function releaseTime(): number {
  const set = process.env["SOURCE_DATE_EPOCH"];
  if (set !== undefined) return Number(set);
  return Number(execFileSync("git", ["log", "-1", "--format=%ct"], { encoding: "utf8" }));
}
