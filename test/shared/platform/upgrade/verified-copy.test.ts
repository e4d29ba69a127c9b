import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { PLATFORM, releaseName } from "../../../../shared/files/program-files.ts";
import { verifiedCopy } from "../../../../shared/platform/upgrade/verified-copy.ts";
import { programOf } from "../../../../shared/platform/upgrade/version-store.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";
import { ReleaseKey } from "../../../support/releases/signed-release.ts";

// Goal: a command of root runs no byte that the user of the service wrote. Method: the versions folder of a service, in which its user
// changes files. Where root runs the test, the folder belongs to another user, below a folder that only root reaches.

const SERVICE = 64_999;
const VERSION = "9.0.0";
const NAME = `${releaseName("agent", VERSION)}.tar.gz`;
const [NODE, MAIN] = programOf("");

let root: string;
let key: ReleaseKey;
let unpacked: string;

beforeEach((context) => {
  context.skip(process.platform === "win32", "the program of the release is a script of sh");
  root = temporaryFolder();
  onTestFinished(() => fs.rmSync(root, { recursive: true }));
  key = new ReleaseKey();
  unpacked = path.join(root, "versions", VERSION);
  fs.mkdirSync(unpacked, { recursive: true, mode: 0o700 });
  key.write(unpacked, { version: VERSION, platform: PLATFORM }, archive(`echo ${VERSION}`));
  give();
});

/** Makes the archive of a release whose program is this script. */
function archive(script: string): Buffer<ArrayBuffer> {
  const top = releaseName("agent", VERSION);
  const staged = path.join(root, "staged", top);
  fs.mkdirSync(path.join(staged, "runtime"), { recursive: true });
  fs.mkdirSync(path.dirname(path.join(staged, MAIN)), { recursive: true });
  fs.writeFileSync(path.join(staged, NODE), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  fs.writeFileSync(path.join(staged, MAIN), "");
  return Buffer.from(execFileSync("tar", ["--format=ustar", "-C", path.dirname(staged), "-cz", top]));
}

/** Gives the versions folder to the user of the service, as far as this user may. */
function give(): void {
  if (process.geteuid?.() === 0) execFileSync("chown", ["-hR", `${SERVICE}:${SERVICE}`, path.dirname(unpacked)]);
}

const copies = () => path.join(root, "later");
const copy = () => {
  const of = { program: "agent", version: VERSION, folder: path.dirname(unpacked), copies: copies() } as const;
  return verifiedCopy({ ...of, publicKey: key.publicKey });
};

test("the copy is made of the signed archive, not of the unpacked files, and is used again", async () => {
  fs.mkdirSync(path.join(unpacked, "runtime"));
  fs.writeFileSync(path.join(unpacked, NODE), "#!/bin/sh\necho planted\n", { mode: 0o755 });
  const earlier = path.join(copies(), "agent/8.0.0");
  fs.mkdirSync(earlier, { recursive: true });
  const made = await copy();
  expect(made).toBe(path.join(copies(), "agent", VERSION));
  expect(execFileSync(path.join(made, NODE), { encoding: "utf8" })).toBe(`${VERSION}\n`);
  for (const each of [made, path.join(made, NODE), path.join(made, MAIN)]) {
    expect([fs.statSync(each).uid, fs.statSync(each).mode & 0o022]).toEqual([process.geteuid?.(), 0]);
  }
  expect(fs.readdirSync(copies(), { recursive: true })).not.toContain("agent/8.0.0");
  expect(fs.readdirSync(copies())).toEqual(["agent"]);
  fs.rmSync(path.join(unpacked, NAME));
  expect(await copy()).toBe(made);
});

test("the drafts of killed commands are removed, and that of a running one stays", async () => {
  const killed = spawnSync("true");
  const [left, older, own] = [`draft-${killed.pid}-abc`, "draft-AbCdEf", `draft-${process.pid}-abc`];
  for (const name of [left, older, own]) fs.mkdirSync(path.join(copies(), name, "9.0.0"), { recursive: true });
  await copy();
  expect(fs.readdirSync(copies())).toEqual(["agent", own]);
});

test("simultaneous commands use one copy, and none replaces that of another", async () => {
  const folders = await Promise.all([1, 2, 3].map(async () => fs.statSync(await copy()).ino));
  expect(new Set(folders).size).toBe(1);
  expect(fs.readdirSync(copies())).toEqual(["agent"]);
});

/** Changes of the service's user, and the reason why no copy is made. */
const CHANGES: Readonly<Record<string, { readonly change: (file: string) => void; readonly reason: RegExp }>> = {
  "another archive": {
    change: (file) => fs.writeFileSync(file, archive(`echo planted`)),
    reason: /does not match its signature/,
  },
  "an archive and a signature of another key": {
    change: () => new ReleaseKey().write(unpacked, { version: VERSION, platform: PLATFORM }, archive("echo planted")),
    reason: /is signed with the key/,
  },
  "a signed archive of another version": {
    change: (file) => {
      const other = key.write(root, { version: "8.0.0", platform: PLATFORM }, fs.readFileSync(file));
      fs.copyFileSync(other, file);
      fs.copyFileSync(`${other}.minisig`, `${file}.minisig`);
    },
    reason: /is for another file/,
  },
  "a link": {
    change: (file) => {
      fs.renameSync(file, path.join(root, "secret"));
      fs.symlinkSync(path.join(root, "secret"), file);
    },
    reason: /ELOOP/,
  },
  "a pipe": {
    change: (file) => {
      fs.rmSync(file);
      execFileSync("mkfifo", [file]);
    },
    reason: /is not the file of a release/,
  },
  "no file, as a version without it left": {
    change: (file) => fs.rmSync(file),
    reason: /\.tar\.gz is missing in .*: install the package of 9\.0\.0$/,
  },
  "a signed program that does not start": {
    change: () => key.write(unpacked, { version: VERSION, platform: PLATFORM }, archive("exit 1")),
    reason: /does not start on this machine/,
  },
};

test.each(Object.entries(CHANGES))("no copy is made of %s", async (_name, { change, reason }) => {
  change(path.join(unpacked, NAME));
  give();
  await expect(copy()).rejects.toThrow(reason);
  expect(fs.readdirSync(copies(), { recursive: true })).toEqual(["agent"]);
});
