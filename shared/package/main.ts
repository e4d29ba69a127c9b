import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Command, Option } from "commander";
import { VERSION } from "../runtime/program-files.ts";
import { bundle } from "./bundle.ts";
import { packDeb } from "./deb.ts";
import type { Pack, PackOrder } from "./pack.ts";
import { type Platform, stage } from "./stage.ts";
import { packTar } from "./tar.ts";

// npm run build and npm run package: bundles the programs, and makes packages that need neither Node nor a compiler.

/** The kinds of packages, each with the platforms that it is for. The first is the default. */
const KINDS: Readonly<Record<string, { readonly pack: Pack; readonly platforms: readonly Platform[] }>> = {
  tar: { pack: packTar, platforms: ["linux-x64", "linux-arm64", "darwin-x64"] },
  deb: { pack: packDeb, platforms: ["linux-x64", "linux-arm64"] },
};

interface PackageOptions {
  readonly program: "agent" | "server" | "both";
  readonly platform?: Platform;
  readonly out: string;
  readonly releaseVersion: string;
  readonly publicKey?: string;
}

const program = new Command("package").description("makes the bundle and the packages of Vetwire");
program
  .command("bundle")
  .description("bundle the programs into dist/")
  .action(() => bundle("dist"));
for (const [kind, { pack, platforms }] of Object.entries(KINDS)) {
  program
    .command(kind)
    .description(`make the package: ${kind}`)
    .addOption(
      new Option("--program <name>", "agent, server, or both").choices(["agent", "server", "both"]).default("both"),
    )
    .addOption(new Option("--platform <name>", "system and processor").choices(platforms).default(platforms[0]))
    .option("--out <folder>", "folder of the finished packages", "release")
    .option("--release-version <version>", "version of the package", VERSION)
    .option("--public-key <file>", "minisign key that the program trusts for upgrades")
    .action((options: PackageOptions) => makePackages(pack, options));
}
await program.parseAsync();

async function makePackages(pack: Pack, options: PackageOptions): Promise<void> {
  const platform = options.platform ?? "linux-x64";
  const release = { version: options.releaseVersion, time: releaseTime(), publicKey: options.publicKey ?? null };
  const out = path.resolve(options.out);
  fs.mkdirSync(out, { recursive: true });
  const draft = fs.mkdtempSync(path.join(os.tmpdir(), "vetwire-package-"));
  try {
    const staged = path.join(draft, "staged");
    await stage(staged, platform, release);
    const programs: readonly PackOrder["program"][] =
      options.program === "both" ? ["agent", "server"] : [options.program];
    for (const name of programs) {
      const work = path.join(draft, name);
      fs.mkdirSync(work);
      const file = await pack({ program: name, platform, release, staged, work, out });
      process.stdout.write(`${file} (${Math.round(fs.statSync(file).size / 1e6)} MB)\n`);
    }
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

/** The time of the newest commit, or SOURCE_DATE_EPOCH (reproducible-builds.org), in s. */
function releaseTime(): number {
  const set = process.env["SOURCE_DATE_EPOCH"];
  if (set !== undefined) return Number(set);
  return Number(execFileSync("git", ["log", "-1", "--format=%ct"], { encoding: "utf8" }));
}
