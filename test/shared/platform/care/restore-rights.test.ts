import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeBackup } from "../../../../shared/platform/care/backup.ts";
import { readManifest } from "../../../../shared/platform/care/backup-file.ts";
import {
  checkBackup,
  restoreBackup,
  restoreConfig,
  type RestoreTarget,
} from "../../../../shared/platform/care/restore.ts";
import { settleRestore } from "../../../../shared/platform/care/restore-steps.ts";
import { noteSchema } from "../../../support/releases/note-schema.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

// Goal: whoever can write into a data folder gains no file outside of it by a restore, and a restore by root leaves no file that
// the service cannot open. Method: the data folder of another user, in a folder that only root reaches, with planted links.

const IMAGE = "01K9TEST00000000000000IMG1.dcm";
const IMAGES = { folder: "images", query: "SELECT text FROM row WHERE text LIKE '%.dcm'" };
const SERVICE = 64_999;
const PLAN = {
  backup: "b",
  database: "app.db",
  files: [] as string[],
  later: [] as object[],
  aside: "before-restore-1",
};

/** Makes a data folder, a backup of it with an image and a configuration, and a folder that is nobody's business. */
async function world() {
  const root = temporaryFolder();
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  const at = (...names: readonly string[]) => path.join(root, ...names);
  const [data, outside, config, file] = [at("data"), at("outside"), at("etc"), at("one.backup")];
  for (const folder of [data, at("data/images"), outside, config]) fs.mkdirSync(folder, { mode: 0o700 });
  const db = new Database(at("data/app.db"));
  db.exec(`CREATE TABLE row (text TEXT); INSERT INTO row VALUES ('${IMAGE}')`);
  noteSchema(db, 3);
  db.close();
  fs.writeFileSync(at("data/images", IMAGE), "pixels");
  fs.writeFileSync(at("data/pepper"), "secret");
  const source = {
    ...({ program: "agent", version: "1.2.3", schema: 3, database: "app.db", folder: data, images: IMAGES } as const),
    files: ["pepper", "config/agent.yaml", "config/tls/ca.pem"].map((name) => ({ name, path: at("data/pepper") })),
  };
  await makeBackup(source, file);
  const target: RestoreTarget = {
    ...({
      program: "agent",
      schema: 3,
      folder: data,
      database: "app.db",
      files: ["pepper"],
    } as const),
    images: IMAGES,
    prepare: (restored) => restored.exec("DELETE FROM row WHERE text = 'session'"),
  };
  const restore = () =>
    restoreBackup(
      file,
      checkBackup(file, target, () => undefined),
      target,
      true,
    );
  return { at, data, outside, config, file, restore };
}

/** Gives folders with their content to the service's user. */
function give(...folders: readonly string[]): void {
  for (const folder of folders) {
    for (const name of ["", ...namesIn(folder)]) fs.lchownSync(path.join(folder, name), SERVICE, SERVICE);
  }
}

const namesIn = (folder: string) => fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();

/** @returns the names of what the service's user does not own */
function foreignIn(folder: string): string[] {
  return ["", ...namesIn(folder)].filter((name) => {
    const { uid, gid } = fs.lstatSync(path.join(folder, name));
    return uid !== SERVICE || gid !== SERVICE;
  });
}

test("a plan that leads out of the data folder is refused, and moves nothing", async () => {
  const { at, data, outside } = await world();
  fs.writeFileSync(at("data/evil.service"), "[Service]");
  fs.writeFileSync(at("outside/secret"), "");
  const image = { file: `images/${IMAGE}`, kept: `images/${IMAGE}` };
  const plans = [
    { ...PLAN, later: [{ file: "evil.service", kept: "../../outside/evil.service" }] },
    { ...PLAN, later: [{ ...image, kept: `../../outside/${IMAGE}` }] },
    { ...PLAN, later: [{ ...image, file: "images/../../outside/secret" }] },
    { ...PLAN, later: [{ ...image, file: at("outside/secret") }] },
    { ...PLAN, aside: "../outside" },
    { ...PLAN, aside: "before-restore-1/../../outside" },
    { ...PLAN, files: ["../outside/secret"] },
    { ...PLAN, files: [".."] },
    { ...PLAN, database: "../outside/secret" },
    { ...PLAN, files: ["evil.service"], aside: outside },
  ];
  for (const plan of plans) {
    fs.mkdirSync(at("data/restoring"), { recursive: true });
    fs.writeFileSync(at("data/restoring/evil.service"), "");
    fs.writeFileSync(at("data/restore.json"), JSON.stringify(plan));
    expect(() => settleRestore(data)).toThrow(
      `${at("data/restore.json")} is not a plan that a restore made: remove it, then restore the backup again`,
    );
    expect([namesIn(outside), fs.existsSync(at("data/images", IMAGE))]).toEqual([["secret"], true]);
  }
});

test("the names of each restore are accepted, with the separator of each system", async () => {
  const { at, data } = await world();
  const part = "01K9TEST00000000000000IMG2";
  fs.writeFileSync(at(`data/images/${part}.part`), "late");
  const later = [
    { file: `images/${part}.part`, kept: `images/${part}.dcm` },
    { file: `images\\${part}.part`, kept: `images\\${part}.dcm` },
  ];
  const aside = `before-restore-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  fs.writeFileSync(at("data/restore.json"), JSON.stringify({ ...PLAN, files: ["pepper"], later, aside }));
  settleRestore(data);
  expect(fs.readFileSync(at("data", aside, `images/${part}.dcm`), "utf8")).toBe("late");
});

test("a restored file replaces a planted link and does not follow it", async () => {
  const { at, restore, config, file } = await world();
  fs.writeFileSync(at("outside/secret"), "kept");
  fs.rmSync(at("data/images", IMAGE));
  fs.symlinkSync(at("outside/secret"), at("data/images", `${IMAGE}.restoring`));
  fs.symlinkSync(at("outside/secret"), path.join(config, "agent.yaml.restoring"));
  restore();
  restoreConfig(file, readManifest(file), config);
  expect(fs.readFileSync(at("data/images", IMAGE), "utf8")).toBe("pixels");
  expect(fs.readFileSync(path.join(config, "agent.yaml"), "utf8")).toBe("secret");
  expect(fs.readFileSync(at("outside/secret"), "utf8")).toBe("kept");
});

describe.skipIf(process.geteuid?.() !== 0)("root in the folder of a service", () => {
  test("everything that a restore writes belongs to the service", async () => {
    const { data, config, file, restore } = await world();
    fs.rmSync(path.join(data, "images"), { recursive: true });
    give(data, config);
    const [before, groups] = [process.cwd(), process.getgroups?.()];
    const written = restoreConfig(file, readManifest(file), config);
    expect(written).toEqual(["tls/ca.pem", "agent.yaml"].map((name) => path.join(config, name)));
    const { aside, images } = restore();
    expect([images, fs.existsSync(path.join(data, "images", IMAGE))]).toEqual([1, true]);
    expect(namesIn(aside ?? "")).toEqual(["app.db", "pepper"]);
    expect([foreignIn(data), foreignIn(config)]).toEqual([[], []]);
    expect([process.cwd(), process.geteuid?.(), process.getegid?.(), process.getgroups?.()]).toEqual([
      before,
      0,
      0,
      groups,
    ]);
  });

  test("a restore into an empty folder leaves no file that the service cannot open", async () => {
    const { data, restore } = await world();
    for (const name of namesIn(data)) fs.rmSync(path.join(data, name), { recursive: true, force: true });
    give(data);
    restore();
    expect(namesIn(data)).toEqual(["app.db", "images", `images/${IMAGE}`, "lock.db", "pepper"]);
    expect(foreignIn(data)).toEqual([]);
  });

  test("planted links gain no file outside of the folder", async () => {
    const { at, data, outside, config, file, restore } = await world();
    const refusal = / may not use /;
    const link = (...place: readonly string[]) => fs.symlinkSync(outside, at(...place));
    fs.rmSync(at("data/images"), { recursive: true });
    link("data/images");
    link("etc/tls");
    give(data, config);
    expect(restore).toThrow(refusal);
    expect(() => restoreConfig(file, readManifest(file), config)).toThrow(refusal);

    link("data/before-restore-1");
    fs.mkdirSync(at("data/restoring"), { recursive: true });
    fs.writeFileSync(at("data/restoring/pepper"), "* * * * * root evil");
    fs.writeFileSync(at("data/restore.json"), JSON.stringify({ ...PLAN, files: ["pepper"] }));
    give(data);
    expect(() => settleRestore(data)).toThrow(refusal);
    expect([namesIn(outside), process.geteuid?.()]).toEqual([[], 0]);
    fs.writeFileSync(at("data/restore.json"), JSON.stringify({ ...PLAN, files: [".."] }));
    expect(() => settleRestore(data)).toThrow(`${at("data/restore.json")} is not a plan that a restore made`);

    fs.rmSync(at("data/lock.db"));
    fs.symlinkSync(at("outside/nologin"), at("data/lock.db"));
    expect(() => settleRestore(data)).toThrow("EEXIST");
    expect(namesIn(outside)).toEqual([]);
  });
});
