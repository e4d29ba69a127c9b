import { spawnSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { Compile } from "typebox/compile";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { LATEST, LatestRelease } from "../../../../shared/api/upgrade.ts";
import { VERSION } from "../../../../shared/files/program-files.ts";
import { seal } from "../../../../shared/platform/package/seal.ts";
import { fileAddress, homepage } from "../../../../shared/platform/release/addresses.ts";
import { sectionOf, withSection } from "../../../../shared/platform/release/changelog.ts";
import { type Checkout, releaseProblems } from "../../../../shared/platform/release/checks.ts";
import { withDownloads } from "../../../../shared/platform/release/downloads.ts";
import { listLatest } from "../../../../shared/platform/release/latest.ts";
import { publicFiles, signCommand, verifyRelease } from "../../../../shared/platform/release/signatures.ts";
import { writeWinget } from "../../../../shared/platform/release/winget.ts";
import { ROOT, temporaryFolder } from "../../../support/machine/processes.ts";
import { ReleaseKey } from "../../../support/releases/signed-release.ts";

const BASE = "https://downloads.test/vetwire";
const README = path.join(ROOT, "README.md");

const PACKAGES = {
  "vetwire-agent-0.2.0-linux-x64.tar.gz": ["archive", "agent", "linux-x64"],
  "vetwire-agent-0.2.0-win-x64.msi": ["msi", "agent", "win-x64"],
  "vetwire-agent_0.2.0_amd64.deb": ["deb", "agent", "linux-x64"],
  "vetwire-server_0.2.0_amd64.deb": ["deb", "server", "linux-x64"],
  "vetwire-server_0.2.0_arm64.deb": ["deb", "server", "linux-arm64"],
  "vetwire-server-0.2.0-linux-x64-image.tar": ["image", "server", "linux-x64"],
  "vetwire-0.2.0-linux-x64.cdx.json": ["sbom", "both", "linux-x64"],
  "vetwire-docs-0.2.0.tar.gz": ["docs", "both", "any"],
} as const;

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
  const made = folder;
  onTestFinished(() => fs.rmSync(made, { recursive: true }));
  for (const name of Object.keys(PACKAGES)) fs.writeFileSync(at(name), `bytes of ${name}`);
  for (const name of ["Dockerfile", "compose.yaml"]) fs.writeFileSync(at(name), "");
});

const at = (name: string) => path.join(folder, name);
const list = () => listLatest(folder, "0.2.0", "2026-12-01", BASE);

function finish(): LatestRelease {
  const latest = list();
  fs.writeFileSync(at(LATEST), JSON.stringify(latest));
  seal(folder, [], null);
  return latest;
}

describe("a checkout", () => {
  const ready: Checkout = {
    ...{
      version: "0.2.0",
      changelog: "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- A.\n",
    },
    ...{ homepage: BASE, changes: [], commit: "aaaaaaaaaa", tagged: null, hasDatabases: true },
  };

  test("can be released with a dated section, a clean tree and a free tag", () => {
    expect(releaseProblems(ready)).toEqual([]);
    // In CI the tag is there already.
    expect(releaseProblems({ ...ready, tagged: ready.commit })).toEqual([]);
  });

  test.each<[string, Partial<Checkout>, string]>([
    ["a version of another form", { version: "0.2.0-rc.1" }, "expected three numbers"],
    ["changes", { changes: ["M README.md"] }, "the first of 1 is M README.md: commit them"],
    ["no section", { changelog: "## [0.1.0] - 2026-01-01\n\n- A.\n" }, "no dated section of 0.2.0"],
    ["a section without a day", { changelog: "## [0.2.0]\n\n- A.\n" }, "no dated section of 0.2.0"],
    ["an empty section", { changelog: "## [0.2.0] - 2026-12-01\n\n## [0.1.0]\n" }, "is empty"],
    ["lines that no section has", { changelog: `## [Unreleased]\n\n- B.\n\n${ready.changelog}` }, "under Unreleased"],
    ["a tag of another commit", { tagged: "bbbbbbbbbb" }, "of another commit (bbbbbbbb)"],
    ["a placeholder as address", { homepage: "https://vetwire.example" }, "expected the owner's address"],
    ["no databases for later versions", { hasDatabases: false }, "test/releases/0.2.0 is missing"],
  ])("with %s cannot be released", (_, change, sentence) => {
    expect(releaseProblems({ ...ready, ...change })).toContainEqual(expect.stringContaining(sentence));
  });

  test("that lacks something gets all sentences from the command, and no files", () => {
    const checkout = path.join(folder, "checkout");
    fs.mkdirSync(checkout);
    const git = "git init -q && git -c user.name=a -c user.email=a@b.test commit -q --allow-empty -m a";
    expect(spawnSync("sh", ["-c", git], { cwd: checkout }).status).toBe(0);
    fs.writeFileSync(path.join(checkout, "CHANGELOG.md"), "## [Unreleased]\n\n- A.\n");
    const script = path.join(ROOT, "shared/platform/release/main.ts");
    for (const words of [["check"], []]) {
      const { status, stderr } = spawnSync(process.execPath, [script, ...words], { cwd: checkout, encoding: "utf8" });
      expect(status).toBe(1);
      expect(stderr).toContain("the first of 1 is ?? CHANGELOG.md");
      expect(stderr).toContain(`no dated section of ${VERSION}`);
      expect(stderr).toContain("under Unreleased");
    }
    expect(fs.readdirSync(checkout)).toEqual([".git", "CHANGELOG.md"]);
  });
});

test("the notes are the section of the version, up to the next one", () => {
  const changelog =
    "# Log\n\n## [Unreleased]\n\n- C.\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- B.\n\n## [0.1.0]\n\n- A.\n";
  expect(sectionOf(changelog, "0.2.0")).toEqual({ day: "2026-12-01", notes: "### Added\n\n- B.\n" });
  expect(sectionOf(changelog, "0.1.0")).toEqual({ day: null, notes: "- A.\n" });
  expect(sectionOf(changelog, "0.3.0")).toBeNull();
});

describe("latest.json", () => {
  test("lists each package with kind, program, platform, size, hash and address", () => {
    const latest = list();
    expect(Compile(LatestRelease).Check(latest)).toBe(true);
    const listed = latest.files.map(({ name, kind, program, platform }) => [name, [kind, program, platform]]);
    expect(Object.fromEntries(listed)).toEqual(PACKAGES);
    const [first] = latest.files.filter(({ kind }) => kind === "msi");
    const bytes = Buffer.from(`bytes of ${first?.name}`);
    expect(first).toMatchObject({
      size: bytes.length,
      sha256: crypto.createHash("sha256").update(bytes).digest("hex"),
      url: `${BASE}/releases/download/v0.2.0/vetwire-agent-0.2.0-win-x64.msi`,
    });
  });

  test("is refused for a package of another version and for an empty folder", () => {
    fs.writeFileSync(at("vetwire-agent_0.1.9_amd64.deb"), "");
    expect(list).toThrow("vetwire-agent_0.1.9_amd64.deb is of another version than 0.2.0");
    for (const name of Object.keys(PACKAGES).filter((each) => !each.includes("docs"))) fs.rmSync(at(name));
    fs.rmSync(at("vetwire-agent_0.1.9_amd64.deb"));
    expect(list).toThrow("has no package of 0.2.0: run npm run release first");
    expect(() => listLatest(path.dirname(README), "0.2.0", "2026-12-01", BASE)).toThrow("run npm run release first");
  });
});

describe("the signatures", () => {
  const key = new ReleaseKey();
  const SIGNED = [LATEST, "SHA256SUMS", "vetwire-agent-0.2.0-linux-x64.tar.gz"];
  const sign = (name: string, by = key) =>
    fs.writeFileSync(at(`${name}.minisig`), by.sign(fs.readFileSync(at(name)), name));

  test("are asked for by one command, and verified once they are there", async () => {
    const latest = finish();
    expect(await verifyRelease(folder, latest, key.publicKey)).toEqual({ unsigned: SIGNED, faults: [] });
    expect(signCommand("release/v0.2.0", latest)).toBe(
      `for f in ${SIGNED.join(" ")}; do minisign -S -s release.key -m "release/v0.2.0/$f" -t "file:$f"; done`,
    );
    for (const name of SIGNED) sign(name);
    expect(await verifyRelease(folder, latest, key.publicKey)).toEqual({ unsigned: [], faults: [] });
  });

  test("of another key, of other bytes and a changed file are faults", async () => {
    const latest = finish();
    for (const name of SIGNED) sign(name);
    sign(LATEST, new ReleaseKey());
    fs.appendFileSync(at("vetwire-agent_0.2.0_amd64.deb"), "x");
    fs.rmSync(at("compose.yaml"));
    const { faults } = await verifyRelease(folder, latest, key.publicKey);
    expect(faults).toEqual([
      expect.stringContaining("compose.yaml is missing"),
      expect.stringContaining("vetwire-agent_0.2.0_amd64.deb is missing, or does not have the hash"),
      expect.stringContaining("latest.json is signed with the key"),
    ]);
    expect((await verifyRelease(folder, latest, null)).faults.length).toBe(5);
  });

  test("minisign signs them by that command", async (context) => {
    if (spawnSync("minisign", ["-v"]).status !== 0) return context.skip("minisign is not installed");
    const latest = finish();
    const cwd = temporaryFolder();
    onTestFinished(() => fs.rmSync(cwd, { recursive: true }));
    spawnSync("minisign", ["-G", "-W", "-p", "release.pub", "-s", "release.key"], { cwd });
    const publicKey = fs.readFileSync(path.join(cwd, "release.pub"), "utf8");
    // A key without a password, in place of one whose password a person types.
    const command = signCommand(folder, latest).replace("minisign -S", "minisign -W -S");
    expect(spawnSync("sh", ["-c", command], { cwd, encoding: "utf8" })).toMatchObject({ status: 0 });
    expect(await verifyRelease(folder, latest, publicKey)).toEqual({ unsigned: [], faults: [] });
    expect(publicFiles(folder, latest)).toEqual(fs.readdirSync(folder));
  });

  test("a folder with the secret key is refused", () => {
    const latest = finish();
    fs.writeFileSync(at("release.key"), "");
    expect(() => publicFiles(folder, latest)).toThrow("release.key, which no release has");
  });
});

test("a raise gives the unreleased lines to the version, and leaves the heading for the next ones", () => {
  const log = "# Log\n\n## [Unreleased]\n\n### Added\n\n- C.\n\n## [0.1.0]\n\n- A.\n";
  const raised = withSection(log, "0.2.0", "2026-12-01");
  expect(raised).toBe(log.replace("## [Unreleased]\n", "## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n"));
  expect(sectionOf(raised, "0.2.0")).toEqual({ day: "2026-12-01", notes: "### Added\n\n- C.\n" });
  expect(() => withSection(raised, "0.2.0", "2026-12-01")).toThrow("already has a section of 0.2.0");
  expect(() => withSection(raised, "0.3.0", "2026-12-01")).toThrow("no lines under Unreleased");
});

test("one command raises the version in every file that names it", () => {
  const checkout = path.join(folder, "checkout");
  const files = ["package.json", "package-lock.json", "README.md", "CHANGELOG.md"];
  fs.mkdirSync(checkout);
  for (const name of files) fs.copyFileSync(path.join(ROOT, name), path.join(checkout, name));
  const log = path.join(checkout, "CHANGELOG.md");
  const added = fs.readFileSync(log, "utf8").replace("## [Unreleased]\n", "## [Unreleased]\n\n- A change.\n");
  fs.writeFileSync(log, added);
  const script = path.join(ROOT, "shared/platform/release/main.ts");
  const raise = (to: string) =>
    spawnSync(process.execPath, [script, "version", to], { cwd: checkout, encoding: "utf8" });
  // npm takes these words too, and writes another version than the word.
  for (const word of ["minor", "v9.8.7"]) {
    expect(raise(word)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("expected three numbers") as string,
    });
    expect(fs.readFileSync(log, "utf8")).toBe(added);
  }
  const raised = raise("9.8.7");
  expect([raised.status, raised.stderr]).toEqual([0, ""]);
  const [manifest, lock, readme, changelog] = files.map((name) => fs.readFileSync(path.join(checkout, name), "utf8"));
  for (const text of [manifest, lock]) expect(JSON.parse(text ?? "")).toMatchObject({ version: "9.8.7" });
  expect(JSON.parse(lock ?? "")).toMatchObject({ packages: { "": { version: "9.8.7" } } });
  // Once there is a release, README.md names that one until the next is published.
  expect(readme?.replaceAll("9.8.7", VERSION)).toBe(fs.readFileSync(README, "utf8"));
  expect(sectionOf(changelog ?? "", "9.8.7")?.notes).toContain("- A change.");
});

test("winget gets three manifests for a program, with the fields that schema 1.6.0 requires", () => {
  // The schema is not in npm, and a test has no network. These are the required fields of schemas/JSON/manifests/v1.6.0 in
  // microsoft/winget-cli, and the forms of their values.
  const files = writeWinget(path.join(folder, "winget"), list(), BASE);
  const target = path.join(folder, "winget/manifests/v/Vetwire/Agent/0.2.0");
  const names = ["Vetwire.Agent.yaml", "Vetwire.Agent.installer.yaml", "Vetwire.Agent.locale.en-US.yaml"];
  expect(files).toEqual(names.map((name) => path.join(target, name)));
  const [version, installer, locale] = files.map((file) => parse(fs.readFileSync(file, "utf8")) as object);
  const head = { PackageIdentifier: "Vetwire.Agent", PackageVersion: "0.2.0", ManifestVersion: "1.6.0" };
  expect(version).toEqual({ ...head, DefaultLocale: "en-US", ManifestType: "version" });
  expect(installer).toMatchObject({ ...head, ManifestType: "installer", InstallerType: "wix", Scope: "machine" });
  expect(installer).toMatchObject({
    ReleaseDate: "2026-12-01",
    Installers: [
      {
        Architecture: "x64",
        InstallerUrl: fileAddress(BASE, "0.2.0", "vetwire-agent-0.2.0-win-x64.msi"),
        InstallerSha256: expect.stringMatching(/^[0-9A-F]{64}$/),
        AppsAndFeaturesEntries: [{ UpgradeCode: expect.stringMatching(/^\{[0-9A-F-]{36}\}$/) }],
      },
    ],
  });
  expect(locale).toMatchObject({
    ...{ ...head, ManifestType: "defaultLocale", PackageLocale: "en-US", Publisher: "Vetwire" },
    ...{ PackageName: "Vetwire Agent", License: "Apache-2.0", ShortDescription: expect.stringMatching(/^.{3,256}$/) },
  });
  fs.rmSync(at("vetwire-agent-0.2.0-win-x64.msi"));
  expect(() => writeWinget(folder, list(), BASE)).toThrow("the release has no .msi");
});

describe("README.md", () => {
  test("has the files of the last release, or says that there is none", () => {
    const file = path.join(ROOT, "shared/platform/release", LATEST);
    const latest = fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, "utf8")) as LatestRelease) : null;
    const text = fs.readFileSync(README, "utf8");
    expect(withDownloads(text, latest, VERSION, homepage())).toBe(text);
    expect(text.includes("There is no release yet")).toBe(latest === null);
  });

  test("gets a table from latest.json, and commands for each system that install the files of the table alone", () => {
    const latest = list();
    const text = withDownloads(fs.readFileSync(README, "utf8"), latest, VERSION, BASE);
    const lines = text.split("\n");
    for (const { url, sha256 } of latest.files) {
      expect(lines.filter((line) => line.includes(`](${url})`) && line.includes(sha256)).length).toBe(1);
    }
    const blocks = [...text.matchAll(/```(?:bat windows|bash debian)\n([^]*?)\n```/g)].map(([, block = ""]) => block);
    const [windows = "", debian = ""] = blocks;
    const msi = latest.files.find(({ kind }) => kind === "msi");
    expect(windows.split("\n")[1]).toBe(
      `certutil -hashfile ${msi?.name} SHA256 | findstr ${msi?.sha256} && start /wait msiexec /i ${msi?.name} /qn`,
    );
    // All lines pasted together, in the folder with the files that the first one downloads.
    const pasted = () =>
      spawnSync("sh", ["-c", `curl() { :; }\nsudo() { echo "$@"; }\n${debian}`], { cwd: folder, encoding: "utf8" });
    const names = ["vetwire-agent_0.2.0_amd64.deb", "vetwire-server_0.2.0_amd64.deb"] as const;
    const install = `apt-get install ${names.map((name) => `./${name}`).join(" ")}\n`;
    expect(pasted()).toMatchObject({ status: 0, stdout: `${names[0]}: OK\n${names[1]}: OK\n${install}` });
    fs.appendFileSync(at(names[1]), "x");
    expect(pasted()).toMatchObject({ status: 1, stdout: `${names[0]}: OK\n${names[1]}: FAILED\n` });
    // The same again, from the text that has a release.
    expect(withDownloads(text, latest, VERSION, BASE)).toBe(text);
  });
});
