import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeBackup } from "../../../../shared/platform/care/backup.ts";
import { readManifest } from "../../../../shared/platform/care/backup-file.ts";
import { readBackupState } from "../../../../shared/platform/care/backup-state.ts";
import { checkBackup, restoreBackup, type RestoreTarget } from "../../../../shared/platform/care/restore.ts";
import { settleRestore } from "../../../../shared/platform/care/restore-steps.ts";
import { noteSchema } from "../../../support/releases/note-schema.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

// Goal: a backup that somebody crafted, with right digests, is refused in words, and restores nothing.

let root: string;
let honest: { readonly body: Buffer; readonly manifest: Record<string, unknown> };
const identity = { program: "agent", schema: 3, database: "app.db" } as const;

beforeAll(async () => {
  root = temporaryFolder();
  const data = path.join(root, "data");
  fs.mkdirSync(data, { mode: 0o700 });
  const db = new Database(path.join(data, "app.db"));
  db.exec("CREATE TABLE row (text TEXT)");
  noteSchema(db, 3);
  db.close();
  fs.writeFileSync(path.join(data, "pepper"), "secret");
  const file = path.join(root, "honest.backup");
  const source = { ...identity, version: "1.2.3", folder: data, images: null };
  await makeBackup({ ...source, files: [{ name: "pepper", path: path.join(data, "pepper") }] }, file);
  const manifest = readManifest(file);
  const length = manifest.members.reduce((sum, { bytes }) => sum + bytes, 0);
  honest = { body: fs.readFileSync(file).subarray(0, length), manifest: { ...manifest } };
});

afterAll(() => fs.rmSync(root, { recursive: true }));

/** Writes a backup with a list of contents and its right digest. */
function crafted(list: string, body: Uint8Array = honest.body): string {
  const file = path.join(root, "crafted.backup");
  const text = Buffer.from(list);
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(text.length));
  const digest = createHash("sha256").update(text).digest();
  fs.writeFileSync(file, Buffer.concat([body, text, Buffer.from("VETWIRE1"), length, digest]));
  return file;
}

function target(): RestoreTarget {
  const images = { folder: "images", query: "SELECT text FROM row" };
  return { ...identity, folder: path.join(root, "fresh"), files: ["pepper"], images };
}

/** Restores a backup. @returns the error without the path of the file; "restored" without one */
function outcome(file: string, { withImages = false } = {}): string {
  const fresh = target().folder;
  fs.rmSync(fresh, { recursive: true, force: true });
  if (withImages) fs.mkdirSync(path.join(fresh, "images"), { recursive: true, mode: 0o700 });
  try {
    restoreBackup(
      file,
      checkBackup(file, identity, () => undefined),
      target(),
      false,
    );
    return "restored";
  } catch (error) {
    const { name, message } = error as Error;
    return (name === "Error" ? message : `${name}: ${message}`).replace(file, "FILE");
  }
}

const withField = (change: object) => outcome(crafted(JSON.stringify({ ...honest.manifest, ...change })));
const member = (change: object, index = 1) => {
  const members = [...(honest.manifest["members"] as object[])];
  members[index] = { ...members[index], ...change };
  return withField({ members });
};

test("the honest list is restored, also with fields of a later version", () => {
  expect(withField({})).toBe("restored");
  expect(withField({ later: { unknown: [1] } })).toBe("restored");
});

test.each([
  ["program", "demo", 'program is "demo", expected one of agent, server'],
  ["version", "1.0\u001b[31m", 'version is "1.0\\u001b[31m", expected a version such as 1.2.0'],
  ["schema", "3", 'schema is "3", expected an integer'],
  ["schema", -1, "schema is -1, expected at least 0"],
  ["made_at", "yesterday", 'made_at is "yesterday", expected a time in UTC such as 2026-11-21T09:30:00.000Z'],
  ["made_at", "2026-99-99T99:99:99.999Z", "made_at is 2026-99-99T99:99:99.999Z, expected a time that exists"],
  ["source", "desk:\u0007", 'source is "desk:\\u0007", expected text without control characters'],
  ["members", null, "members is null, expected an array"],
  ["members", [], "members is a list of 0, expected at least 1"],
  ["members", [7], "members/0 is 7, expected an object"],
])("a list whose %s is %j is refused with what was got and what was expected", (name, value, reason) => {
  expect(withField({ [name]: value })).toBe(`FILE has a wrong list of contents: ${reason}. Use another backup`);
});

const WRONG_MEMBERS: readonly (readonly [object, RegExp])[] = [
  [{ bytes: 1e300 }, /^members\/1\/bytes is 1e\+300, expected at most 9007199254740991$/],
  [{ bytes: "5" }, /^members\/1\/bytes is "5", expected an integer$/],
  [{ bytes: 5 }, /^members end at byte \d+, expected \d+$/],
  [{ offset: 0 }, /^members\/1\/offset is 0, expected \d+$/],
  [{ sha256: "x" }, /^members\/1\/sha256 is "x", expected 64 digits and letters a to f$/],
  [{ name: "app.db" }, /^members\/1\/name is "app.db", which another member has already$/],
  ...["../pepper", "/etc/passwd", "config/../../x", "a//b", "a\\..\\b", "config/\0", "."].map(
    (name) => [{ name }, /^members\/1\/name is ".*", expected a path inside the backup$/] as const,
  ),
];

test.each(WRONG_MEMBERS)("a member with %j is refused", (change, reason) => {
  const found = /^FILE has a wrong list of contents: (.*)\. Use another backup$/.exec(member(change));
  expect(found?.[1]).toMatch(reason);
});

test.each([
  ["", "it is not JSON (Unexpected end of JSON input)"],
  ["[".repeat(100_000), "it nests values more than 32 deep"],
  ['{"members":[],"members":[]}', 'it has a name twice in one object: "members"'],
  ["7", "the value is 7, expected an object"],
])("a list of %.20s is refused", (list, reason) => {
  expect(outcome(crafted(list))).toBe(`FILE has a wrong list of contents: ${reason}. Use another backup`);
});

test("a list in which anything is replaced by anything never gives a fault of the program", () => {
  const places = [
    ...Object.keys(honest.manifest).map((name) => [name]),
    ...["name", "offset", "bytes", "sha256"].map((name) => ["members", name]),
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...places),
      fc.nat(1),
      fc.jsonValue({ maxDepth: 3 }),
      ([name = "", inner], index, value) => {
        const found = inner === undefined ? withField({ [name]: value }) : member({ [inner]: value }, index);
        expect(found).toMatch(/^restored$|^FILE (has|is|cannot) /);
        // The refusal quotes what it got, as JSON.
        expect(found.replaceAll(/"(?:[^"\\]|\\.)*"/g, "")).not.toMatch(
          /undefined|NaN|\[object|not iterable|Cannot read|\^|\$/,
        );
      },
    ),
    { numRuns: 300, examples: [[["schema"], 0, 0]] },
  );
});

test("a database that is not the program's is refused in words", () => {
  const body = (change: (db: Database.Database) => void) => {
    const file = path.join(root, "other.db");
    fs.rmSync(file, { force: true });
    const db = new Database(file);
    change(db);
    db.close();
    return fs.readFileSync(file);
  };
  const restored = (bytes: Buffer, withImages = false) => {
    const members = [
      { name: "app.db", offset: 0, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") },
    ];
    const file = crafted(JSON.stringify({ ...honest.manifest, members }), bytes);
    return outcome(file, { withImages }).replaceAll(root, "ROOT");
  };
  expect(restored(Buffer.from("no database at all"))).toMatch(
    /^FILE has a database that is not as its program made it \(file is not a database\)/,
  );
  expect(restored(body((db) => db.exec("CREATE TABLE x (y)")))).toMatch(
    /^FILE has a database of schema 0, expected 3 as listed: use another backup$/,
  );
  expect(restored(body((db) => db.exec("CREATE TABLE migration (other)")))).toMatch(
    /no such column: version\): use another backup$/,
  );
  const noRows = body((db) => noteSchema(db, 3));
  expect(restored(noRows, true)).toMatch(/ is not as its program made it \(no such table: row\): use another backup$/);
});

test("what is not a file is refused, and no pipe is waited for", () => {
  expect(outcome(root)).toBe(`${root} is not a file, expected the file of a backup`.replace(root, "FILE"));
});

test.each(["", "null", "7", '{"database":"app.db"}', '{"later":[{}]}', '{"files":{"length":1}}'])(
  "a plan of %s is refused, and the next start is not stopped by a fault",
  (text) => {
    const folder = path.join(root, "planned");
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "restore.json"), text);
    expect(() => settleRestore(folder)).toThrow(
      `${path.join(folder, "restore.json")} is not a plan that a restore made: remove it, then restore the backup again`,
    );
  },
);

test.each(["null", "7", "{}", '{"last":null}', '{"last":{"at":1},"succeeded":null}'])(
  "the outcome of backups in a file of %s counts as none",
  (text) => {
    fs.writeFileSync(path.join(root, "backup.json"), text);
    expect(readBackupState(root)).toBe(null);
  },
);
