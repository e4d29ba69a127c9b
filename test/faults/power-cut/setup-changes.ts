import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { listReleases, RELEASES } from "../../../server/operations/release-folder.ts";
import { openStore } from "../../../server/database/open.ts";
import { archiveName } from "../../../shared/api/upgrade.ts";
import { PLATFORM } from "../../../shared/files/program-files.ts";
import {
  readJson,
  readUpgrades,
  readVersions,
  unpackedVersions,
} from "../../../shared/platform/upgrade/version-store.ts";
import { choose, versionInForce } from "../../../shared/platform/upgrade/versions.ts";
import { AGENT, ROOT, SERVER, temporaryFolder } from "../../support/machine/processes.ts";
import { scriptedServer } from "../../support/peers/scripted-server.ts";
import { ReleaseKey } from "../../support/releases/signed-release.ts";
import { scriptOf } from "./care-changes.ts";
import { type Change, recordChange, toldLines } from "./change.ts";
import { readTree } from "./traced-program.ts";

// Pairing, configuration, releases and upgrades.

const KEY_FILE = "new/agent.key";
const DRAFT = `${KEY_FILE}.pairing`;

const pairing: Change = {
  name: "a pairing of the agent",
  async record() {
    const paired = {
      agent: "agent_01K9TEST000000000000000A01",
      clinic: { fp: "clinic_01K9TEST000000000000000C01", name: "Test clinic" },
    };
    let askedAt = 0;
    const server = await scriptedServer(() => {
      askedAt = Date.now();
      return { status: 200, body: { success: true, data: paired } };
    });
    try {
      const recording = await recordChange(
        async () => undefined,
        (root, trace) => [
          trace("paired", [
            ...[AGENT, "pair", "--server", server.url, "--code", "7KQM-X2HD-9FVT"],
            ...["--key-file", path.join(root, KEY_FILE)],
          ]),
        ],
      );
      return { ...recording, told: [...recording.told, { word: "asked", at: askedAt }] };
    } finally {
      await server.close();
    }
  },
  async check(root, told) {
    const text = (name: string) =>
      fs.existsSync(path.join(root, name)) ? fs.readFileSync(path.join(root, name), "utf8") : null;
    const [key, draft] = [text(KEY_FILE), text(DRAFT)];
    const drafted = draft === null ? null : (JSON.parse(draft) as { readonly key: string }).key;
    const isWhole = (each: string | null) => each !== null && /^\S{30,}$/.test(each.trim());
    return [
      ...(key !== null && !isWhole(key) ? ["the key file is damaged"] : []),
      ...(drafted !== null && !isWhole(drafted) ? ["the draft is damaged"] : []),
      ...(told.has("asked") && key === null && drafted === null ? ["the key that the server knows is lost"] : []),
      ...(told.has("paired") && key === null ? ["the key file is missing"] : []),
    ];
  },
};

const TEXT_FILE = "new/config/agent.yaml";

const configuration: Change = {
  name: "a configuration that page or server writes",
  async record() {
    return recordChange(
      async () => undefined,
      (root, trace) => [trace(toldLines, scriptOf("configurations", root))],
    );
  },
  async check(root, told) {
    const numberOf = (name: string): number => {
      const file = path.join(root, name);
      if (!fs.existsSync(file)) return 0;
      const text = fs.readFileSync(file, "utf8");
      const number = Number(/^# (\d)\n/.exec(text)?.[1]);
      return text === `# ${number}\n`.repeat(500) ? number : Number.NaN;
    };
    const [now, previous] = [numberOf(TEXT_FILE), numberOf(`${TEXT_FILE}.previous`)];
    const written = told.size;
    const isNow = now === written || now === written + 1;
    // The text before is written first, so both may be the same for a moment.
    const isPrevious = previous === now || previous === now - 1;
    return isNow && isPrevious ? [] : [`text ${now} after ${previous}, ${written} were reported as written`];
  },
};

const release = { version: "0.2.0", platform: "linux-x64" };

const releases: Change = {
  name: "a release that is added to the server and removed",
  async record() {
    const key = new ReleaseKey();
    const outside = temporaryFolder();
    const keyFile = path.join(outside, "release.pub");
    fs.writeFileSync(keyFile, key.publicKey);
    const archive = key.write(outside, release, Buffer.alloc(100_000, "r"));
    const prepare = async (root: string) => {
      // Releases go to a folder that a server has used.
      await (await openStore(path.join(root, "server"))).close();
      fs.copyFileSync(archive, path.join(root, "archive"));
      fs.copyFileSync(`${archive}.minisig`, path.join(root, "signature"));
    };
    try {
      return await recordChange(prepare, (root, trace) => {
        const data = ["--data", path.join(root, "server")];
        return [
          trace("added", [SERVER, "releases", "add", archive, "--public-key", keyFile, ...data]),
          trace("removed", [SERVER, "releases", "remove", release.version, ...data]),
        ];
      });
    } finally {
      fs.rmSync(outside, { recursive: true });
    }
  },
  async check(root, told) {
    const folder = path.join(root, "server", RELEASES);
    const isThere = listReleases(folder).length > 0;
    if (!isThere) return told.has("added") ? ["the release is missing"] : [];
    if (told.has("removed")) return ["the removed release is there"];
    const isSame = (name: string, as: string) =>
      fs.readFileSync(path.join(folder, name)).equals(fs.readFileSync(path.join(root, as)));
    const name = archiveName(release);
    return isSame(name, "archive") && isSame(`${name}.minisig`, "signature") ? [] : ["the release is damaged"];
  },
};

const OWN = "0.0.1";

/** The files of a version: a program that reports its health, and orders the next version if that is unpacked. */
function programOf(version: string, next: string | null): ReadonlyMap<string, string> {
  const main = `
import fs from "node:fs";
if (process.argv.includes("--version")) { console.log("${version}"); process.exit(0); }
if ("${version}" === "0.3.0") process.exit(1);
process.on("disconnect", () => process.exit(0));
process.on("message", ({ is }) => { if (is === "stop") process.exit(0); });
process.send({ is: "health", problems: [], heartbeat: true });
const next = ${JSON.stringify(next)};
if (next !== null && fs.existsSync(process.env.VETWIRE_VERSIONS + "/" + next))
  process.send({ is: "upgrade", version: next, expects: { heartbeat: true, known: [] } });
setInterval(() => undefined, 1000);
`;
  return new Map([
    ["app/package.json", '{"type":"module"}'],
    ["app/shared/main.js", main],
    ["runtime/node", `#!/bin/sh\nexec ${process.execPath} "$@"\n`],
  ]);
}

const PROGRAMS = new Map([
  ["0.1.0", programOf("0.1.0", "0.2.0")],
  ["0.2.0", programOf("0.2.0", "0.3.0")],
  ["0.3.0", programOf("0.3.0", null)],
]);

function writeProgram(folder: string, version: string): void {
  for (const [name, text] of PROGRAMS.get(version)!) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text, { mode: name === "runtime/node" ? 0o755 : 0o644 });
  }
}

/** Copies this program with the key of the test, and makes two releases. @returns the script to run */
function makeProgram(outside: string): string {
  const key = new ReleaseKey();
  for (const version of ["0.2.0", "0.3.0"]) {
    const name = path.basename(archiveName({ version, platform: PLATFORM }), ".tar.gz");
    writeProgram(path.join(outside, name), version);
    const archive = path.join(outside, "archive.tar.gz");
    execFileSync("tar", ["-C", outside, "--format=ustar", "-czf", archive, name]);
    key.write(outside, { version, platform: PLATFORM }, fs.readFileSync(archive));
  }
  const program = path.join(outside, "program");
  fs.mkdirSync(program);
  for (const name of ["shared", "package.json", "tsconfig.json"])
    fs.cpSync(path.join(ROOT, name), path.join(program, name), { recursive: true });
  fs.symlinkSync(path.join(ROOT, "node_modules"), path.join(program, "node_modules"));
  fs.writeFileSync(path.join(program, "release.pub"), key.publicKey);
  const script = path.join(program, "test/faults/power-cut/upgrade-run.ts");
  fs.mkdirSync(path.dirname(script), { recursive: true });
  fs.copyFileSync(path.join(import.meta.dirname, "upgrade-run.ts"), script);
  return script;
}

const upgrade: Change = {
  name: "an upgrade that stays and one that is rolled back",
  async record() {
    const outside = temporaryFolder();
    try {
      const script = makeProgram(outside);
      const prepare = async (root: string) => {
        const versions = path.join(root, "versions");
        writeProgram(path.join(versions, "0.1.0"), "0.1.0");
        fs.writeFileSync(path.join(versions, "current.json"), JSON.stringify({ current: "0.1.0" }));
        const db = new Database(path.join(root, "spool.db"));
        db.exec("CREATE TABLE row (text TEXT)");
        db.prepare("INSERT INTO row VALUES (?)").run("x".repeat(20_000));
        db.close();
      };
      return await recordChange(prepare, (root, trace) => [trace(toldLines, [script, root, outside])]);
    } finally {
      fs.rmSync(outside, { recursive: true, force: true });
    }
  },
  async check(root, told) {
    const folder = path.join(root, "versions");
    const unpacked = unpackedVersions(folder);
    const versions = readVersions(folder);
    const files = ["current.json", "upgrades.json", "running.json", "starts.json"];
    const halves = files.filter((name) => fs.existsSync(path.join(folder, name)) && readJson(folder, name) === null);
    const named = [versions.current, versions.pending?.version ?? null].filter((name) => name !== null);
    const isBack = readUpgrades(folder).some(({ outcome }) => outcome === "rolled back");
    const expected = [
      { after: "prepared-0.2.0", isSo: unpacked.includes("0.2.0") },
      { after: "done", isSo: versionInForce(OWN, versions, unpacked) === "0.2.0" },
      { after: "back", isSo: isBack && choose(OWN, versions, unpacked).version === "0.2.0" },
      { after: "copied", isSo: fs.existsSync(path.join(root, "spool.db.before-upgrade")) },
    ];
    return [
      ...halves.map((name) => `${name} is damaged`),
      ...(versions.current === null ? ["no version is in force"] : []),
      ...unpacked.filter((version) => !isWholeVersion(folder, version)).map((version) => `${version} is not complete`),
      ...named.filter((version) => !unpacked.includes(version)).map((version) => `${version} is missing`),
      ...expected.filter(({ after, isSo }) => told.has(after) && !isSo).map(({ after }) => `${after} is undone`),
      ...copyProblems(path.join(root, "spool.db.before-upgrade")),
    ];
  },
};

function isWholeVersion(folder: string, version: string): boolean {
  const tree = [...readTree(path.join(folder, version))].filter(([, content]) => content !== null);
  const program = PROGRAMS.get(version)!;
  return tree.length === program.size && tree.every(([name, content]) => content?.toString() === program.get(name));
}

function copyProblems(file: string): string[] {
  if (!fs.existsSync(file)) return [];
  const db = new Database(file);
  try {
    const rows = db.prepare("SELECT length(text) FROM row").pluck().all();
    return rows.join() === "20000" ? [] : ["the copy of the database is not complete"];
  } catch (error) {
    return [`the copy of the database is damaged: ${String(error)}`];
  } finally {
    db.close();
  }
}

export const SETUP_CHANGES = [pairing, configuration, releases, upgrade];
