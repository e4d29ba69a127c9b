import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { LATEST, LatestRelease } from "../../api/upgrade.ts";
import { VERSION } from "../../files/program-files.ts";
import { compileLater } from "../../schema/compile-later.ts";
import { problems } from "../../schema/problems.ts";
import { seal } from "../package/seal.ts";
import { homepage } from "./addresses.ts";
import { addToApt } from "./apt.ts";
import { sectionOf, UNRELEASED, withSection } from "./changelog.ts";
import { readCheckout, releaseProblems } from "./checks.ts";
import { packDocs } from "./docs.ts";
import { withDownloads } from "./downloads.ts";
import { listLatest } from "./latest.ts";
import { linkProblems, releaseLinks } from "./links.ts";
import { NOTES, publicFiles, signCommand, verifyRelease } from "./signatures.ts";
import { writeWinget } from "./winget.ts";

// npm run release: makes everything that a release has, in release/v<version>. Nothing leaves this machine, except by the command
// draft. A person signs.

const OUT = "release";
/** The pages that npm run build makes. */
const WEB = "dist/server/web";
/** The public half of the owner's key. The secret half is never in the repository, nor in CI. */
const PUBLIC_KEY = path.join(import.meta.dirname, "release.pub");
/** The list of the last release, whose table README.md has. */
const COMMITTED = path.join(import.meta.dirname, LATEST);

const latestForm = compileLater(LatestRelease);

const program = new Command("release").description("makes the files of a release of this checkout");
program.command("check").description("print what this checkout lacks for a release").action(check);
program
  .command("version")
  .description(
    "raise the version in package.json, package-lock.json and README.md, and give it the lines of CHANGELOG.md",
  )
  .argument("<version>", "three numbers")
  .action(raise);
program
  .command("make", { isDefault: true })
  .description("check, then make packages, documentation, notes, latest.json and SHA256SUMS in release/v<version>")
  .option("--public-key <file>", "minisign key that the programs trust for upgrades", PUBLIC_KEY)
  .option("--rehearse <version>", "make this version whatever the checks find; it is not for users")
  .action(make);
program
  .command("finish")
  .description("write documentation, notes, latest.json and SHA256SUMS for the packages that release/v<version> has")
  .option("--rehearse <version>", "the version of make --rehearse")
  .action(({ rehearse }: { rehearse?: string }) => finish(rehearse ?? null));
program
  .command("verify")
  .description("verify hashes and signatures, and print how to sign what is not signed")
  .argument("[folder]", "folder with latest.json", folderOf(VERSION))
  .option("--public-key <file>", "minisign key that signed the release", PUBLIC_KEY)
  .action(verify);
program
  .command("apt")
  .description("add the .deb files to the apt repository release/apt, signed by the key APT_SIGNING_KEY of gpg")
  .argument("[folder]", "folder with latest.json", folderOf(VERSION))
  .action(apt);
program
  .command("winget")
  .description("write the manifests for winget to release/winget")
  .argument("[folder]", "folder with latest.json", folderOf(VERSION))
  .action((folder: string) => print(writeWinget(path.join(OUT, "winget"), readLatest(folder), homepage())));
program
  .command("draft")
  .description("verify the files, then make a draft of a release on GitHub by gh, which a person publishes")
  .argument("[folder]", "folder with latest.json", folderOf(VERSION))
  .option("--public-key <file>", "minisign key that signed the release", PUBLIC_KEY)
  .action(draft);
program
  .command("links")
  .description("check that the owner's address exists, and with a folder every file of its published release")
  .argument("[folder]", "folder with the latest.json of the published release")
  .action(links);
program
  .command("readme")
  .description("write the files of a published release into README.md, or again those of the last one")
  .argument("[folder]", "folder with the latest.json of the published release")
  .action(readme);
try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

function folderOf(version: string): string {
  return path.join(OUT, `v${version}`);
}

function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** Returns one sentence for each thing that this checkout lacks. */
function problemsHere(publicKey: string): string[] {
  const found = releaseProblems(readCheckout());
  if (fs.existsSync(publicKey)) return found;
  return [...found, `${publicKey} is missing, so no program could verify the next release: commit the key`];
}

function check(): void {
  const found = problemsHere(PUBLIC_KEY);
  if (found.length > 0) throw new Error(found.join("\n"));
  print([`version ${VERSION} can be released`]);
}

/** Edits every file that names the version of this checkout. */
function raise(version: string): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`the version is ${version}, expected three numbers`);
  const text = withSection(fs.readFileSync("CHANGELOG.md", "utf8"), version, new Date().toISOString().slice(0, 10));
  execFileSync("npm", ["version", version, "--no-git-tag-version"], { stdio: ["ignore", "ignore", "inherit"] });
  fs.writeFileSync("CHANGELOG.md", text);
  writeReadme(version);
  print([`this checkout is ${version}: commit it, and run npm run release -- check for what is left`]);
}

function make({ publicKey, rehearse }: KeyOption & { rehearse?: string }): void {
  const found = problemsHere(publicKey);
  if (rehearse === undefined && found.length > 0) throw new Error(found.join("\n"));
  print(found.map((problem) => `left for a release: ${problem}`));
  const version = rehearse ?? VERSION;
  const out = folderOf(version);
  // It may have signatures, which only a person can make again.
  if (fs.existsSync(out) && fs.readdirSync(out).length > 0) {
    throw new Error(`${out} has files: move them away, or run the command finish`);
  }
  const key = fs.existsSync(publicKey) ? ["--public-key", path.resolve(publicKey)] : [];
  const words = ["run", "package", "--", "all", "--out", out, "--release-version", version, ...key];
  execFileSync("npm", words, { stdio: "inherit" });
  finish(rehearse ?? null);
}

/** Writes what describes the packages. Signatures of earlier bytes are removed with them. */
function finish(rehearsed: string | null): void {
  const version = rehearsed ?? VERSION;
  const out = folderOf(version);
  const changelog = fs.readFileSync("CHANGELOG.md", "utf8");
  const section = sectionOf(changelog, version) ?? (rehearsed === null ? null : sectionOf(changelog, UNRELEASED));
  const day = section?.day ?? (rehearsed === null ? null : "1970-01-01");
  if (section === null || day === null) throw new Error(`CHANGELOG.md has no dated section of ${version}`);
  fs.writeFileSync(path.join(out, NOTES), section.notes);
  packDocs(WEB, out, version, Date.parse(day) / 1000);
  const latest = listLatest(out, version, day, homepage());
  fs.writeFileSync(path.join(out, LATEST), `${JSON.stringify(latest, null, 2)}\n`);
  fs.rmSync(path.join(out, `${LATEST}.minisig`), { force: true });
  seal(out, [], null);
  print([
    ...latest.files.map(({ name, size, sha256 }) => `${sha256}  ${name} (${(size / 1e6).toFixed(1)} MB)`),
    "sign it on the machine with the secret key, then run npm run release -- verify:",
    `  ${signCommand(out, latest)}`,
  ]);
}

async function verify(folder: string, { publicKey }: KeyOption): Promise<void> {
  const latest = readLatest(folder);
  const { unsigned, faults } = await verifyRelease(folder, latest, keyOf(publicKey));
  const missing = unsigned.length === 0 ? [] : [`not signed: ${unsigned.join(", ")}`, signCommand(folder, latest)];
  if (faults.length + missing.length > 0) throw new Error([...faults, ...missing].join("\n"));
  print([`all files of ${latest.version} are signed and have their hashes`]);
}

async function draft(folder: string, { publicKey }: KeyOption): Promise<void> {
  const latest = readLatest(folder);
  const { unsigned, faults } = await verifyRelease(folder, latest, keyOf(publicKey));
  if (faults.length > 0) throw new Error(faults.join("\n"));
  const files = publicFiles(folder, latest).map((name) => path.join(folder, name));
  const tag = `v${latest.version}`;
  // GitHub takes a second draft of a tag, and each has addresses of its own.
  if (spawnSync("gh", ["release", "view", tag], { stdio: "ignore" }).status === 0) {
    throw new Error(
      `GitHub has a release or a draft of ${tag}: look at it, and remove a draft by gh release delete ${tag}`,
    );
  }
  const words = ["release", "create", tag, "--draft", "--verify-tag", "--title", tag];
  execFileSync("gh", [...words, "--notes-file", path.join(folder, NOTES), ...files], { stdio: "inherit" });
  if (unsigned.length > 0) print([`before you publish it, sign and upload the signatures of ${unsigned.join(", ")}`]);
}

function apt(folder: string): void {
  const key = process.env["APT_SIGNING_KEY"];
  if (key === undefined || key === "") throw new Error("APT_SIGNING_KEY is not set, expected the fingerprint of a key");
  const debs = readLatest(folder).files.filter(({ kind }) => kind === "deb");
  if (debs.length === 0) throw new Error(`${folder} has no .deb`);
  const target = path.join(OUT, "apt");
  addToApt(
    target,
    debs.map(({ name }) => path.join(folder, name)),
    key,
  );
  print([
    `${target} is the repository of these packages, for any static host as ${homepage()}/apt. Its users put vetwire.asc into`,
    "/etc/apt/keyrings, and these lines into /etc/apt/sources.list.d/vetwire.sources:",
    ...["Types: deb", `URIs: ${homepage()}/apt`, "Suites: stable", "Components: main"],
    "Signed-By: /etc/apt/keyrings/vetwire.asc",
  ]);
}

async function links(folder: string | undefined): Promise<void> {
  const found = releaseLinks(homepage(), folder === undefined ? null : readLatest(folder));
  const faults = await linkProblems(found);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  print(found.map(({ address }) => `exists: ${address}`));
}

function readme(folder: string | undefined): void {
  if (folder !== undefined) fs.copyFileSync(path.join(folder, LATEST), COMMITTED);
  writeReadme(VERSION);
}

function writeReadme(version: string): void {
  const latest = fs.existsSync(COMMITTED) ? readLatest(path.dirname(COMMITTED)) : null;
  fs.writeFileSync("README.md", withDownloads(fs.readFileSync("README.md", "utf8"), latest, version, homepage()));
}

interface KeyOption {
  readonly publicKey: string;
}

function keyOf(file: string): string | null {
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : null;
}

function readLatest(folder: string): LatestRelease {
  const file = path.join(folder, LATEST);
  if (!fs.existsSync(file)) throw new Error(`${file} is missing: run npm run release first`);
  const value: unknown = JSON.parse(fs.readFileSync(file, "utf8"));
  if (latestForm.Check(value)) return value;
  throw new Error(`${file}: ${problems(latestForm, value, 3).join("; ")}`);
}
