import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { addRelease, listReleases, openReleaseFile, removeRelease } from "../../../server/operations/release-folder.ts";
import { archiveName } from "../../../shared/api/upgrade.ts";
import { ReleaseKey } from "../../support/releases/signed-release.ts";
import { temporaryFolder } from "../harness.ts";

const release = { version: "0.2.0", platform: "linux-x64" };
const name = archiveName(release);
const key = new ReleaseKey();

const places = () => ({ from: temporaryFolder(), folder: path.join(temporaryFolder(), "releases") });
const modeOf = (file: string) => fs.statSync(file).mode & 0o777;

async function bytesOf(folder: string, file: string): Promise<string | undefined> {
  const found = await openReleaseFile(folder, file);
  if (found === undefined) return undefined;
  const text = await found.file.readFile("utf8");
  await found.file.close();
  return text;
}

describe("the folder of releases", () => {
  test("takes an archive with its signature, and returns both unchanged until they are removed", async () => {
    const { from, folder } = places();
    expect(listReleases(folder)).toEqual([]);
    const file = key.write(from, release);
    expect(await addRelease(folder, file, key.publicKey)).toEqual(release);
    expect(listReleases(folder)).toEqual([release]);
    expect(await bytesOf(folder, name)).toBe("archive of 0.2.0");
    expect(await bytesOf(folder, `${name}.minisig`)).toBe(fs.readFileSync(`${file}.minisig`, "utf8"));
    expect(fs.readdirSync(folder).toSorted()).toEqual([name, `${name}.minisig`]);
    expect([modeOf(folder), modeOf(path.join(folder, name))]).toEqual([0o755, 0o644]);
    // Again is the same.
    await addRelease(folder, file, key.publicKey);
    await addRelease(folder, key.write(from, { ...release, platform: "win-x64" }), key.publicKey);
    expect(listReleases(folder).length).toBe(2);
    expect(removeRelease(folder, "0.2.1")).toEqual([]);
    expect(removeRelease(folder, "0.2.0").length).toBe(2);
    expect(fs.readdirSync(folder)).toEqual([]);
    expect(listReleases(null)).toEqual([]);
  });

  test("refuses what its key's owner did not sign under that name, and keeps nothing of it", async () => {
    const { from, folder } = places();
    const file = key.write(from, release);
    const refusal = (archive: string, publicKey = key.publicKey) =>
      addRelease(folder, archive, publicKey).then(
        () => "taken",
        (error: Error) => error.message,
      );
    expect(await refusal(file, new ReleaseKey().publicKey)).toMatch(/is signed with the key \w+, expected/);
    const later = path.join(from, archiveName({ ...release, version: "0.3.0" }));
    fs.copyFileSync(file, later);
    fs.copyFileSync(`${file}.minisig`, `${later}.minisig`);
    expect(await refusal(later)).toContain("is for another file");
    fs.appendFileSync(file, "x");
    expect(await refusal(file)).toContain("does not match its signature");
    fs.rmSync(`${file}.minisig`);
    expect(await refusal(file)).toContain("copy the signature that minisign made next to the archive");
    for (const strange of ["vetwire-agent-0.2.0.tar.gz", "vetwire-server-0.2.0-linux-x64.tar.gz", `..${name}`, "x"]) {
      fs.writeFileSync(path.join(from, strange), "x");
      expect(await refusal(path.join(from, strange))).toContain("expected one such as vetwire-agent-0.2.0");
    }
    expect(fs.existsSync(folder) ? fs.readdirSync(folder) : []).toEqual([]);
  });

  test("keeps a release as it is, until a person removes it", async () => {
    const { from, folder } = places();
    await addRelease(folder, key.write(from, release), key.publicKey);
    const other = key.write(from, release, Buffer.from("other bytes"));
    await expect(addRelease(folder, other, key.publicKey)).rejects.toThrow("run releases remove 0.2.0 first");
    expect(await bytesOf(folder, name)).toBe("archive of 0.2.0");
  });

  test("holds 50 releases at most", async () => {
    const { from, folder } = places();
    for (let minor = 1; minor <= 50; minor += 1)
      await addRelease(folder, key.write(from, { ...release, version: `0.${minor}.0` }), key.publicKey);
    const next = key.write(from, { ...release, version: "0.51.0" });
    await expect(addRelease(folder, next, key.publicKey)).rejects.toThrow("remove an old version");
  });

  test("must not be a link, and keeps the rights that it has", async () => {
    const { from, folder } = places();
    const file = key.write(from, release);
    const secret = temporaryFolder();
    fs.symlinkSync(secret, folder);
    await expect(addRelease(folder, file, key.publicKey)).rejects.toThrow("is not a folder: remove it");
    expect([modeOf(secret), fs.readdirSync(secret)]).toEqual([0o700, []]);
    expect(() => removeRelease(folder, release.version)).toThrow("is not a folder: remove it");
    fs.rmSync(folder);
    fs.mkdirSync(folder, { mode: 0o700 });
    const other = path.join(secret, "other");
    fs.writeFileSync(other, "x", { mode: 0o600 });
    fs.symlinkSync(other, path.join(folder, `${name}.part`));
    await addRelease(folder, file, key.publicKey);
    expect([modeOf(folder), modeOf(path.join(folder, name)), modeOf(other)]).toEqual([0o700, 0o644, 0o600]);
    expect(fs.readFileSync(other, "utf8")).toBe("x");
  });

  test("opens no other file, and follows no link", async () => {
    const { from, folder } = places();
    await addRelease(folder, key.write(from, release), key.publicKey);
    fs.writeFileSync(path.join(folder, "secret"), "x");
    fs.writeFileSync(path.join(folder, "..", "pepper"), "x");
    const link = archiveName({ ...release, version: "0.9.0" });
    fs.symlinkSync(path.join(folder, "..", "pepper"), path.join(folder, link));
    for (const wrong of [
      "secret",
      "../pepper",
      `../releases/${name}`,
      `${name}.part`,
      `${name}/`,
      "",
      ".minisig",
      link,
    ])
      expect([wrong, await bytesOf(folder, wrong)]).toEqual([wrong, undefined]);
    expect(await bytesOf(folder, archiveName({ ...release, version: "0.2.1" }))).toBeUndefined();
    expect(await openReleaseFile(null, name)).toBeUndefined();
  });
});

const hasMinisign = fs.existsSync("/usr/bin/minisign");
if (!hasMinisign) process.stderr.write("releases signed by minisign itself are not tested: apt install minisign\n");

test.runIf(hasMinisign)("a release that minisign itself signed is taken", async () => {
  const { from, folder } = places();
  const [secret, open] = [path.join(from, "key"), path.join(from, "key.pub")];
  execFileSync("minisign", ["-G", "-W", "-p", open, "-s", secret]);
  const file = path.join(from, name);
  fs.writeFileSync(file, "an archive");
  execFileSync("minisign", ["-S", "-s", secret, "-m", file, "-t", `file:${name}`]);
  expect(await addRelease(folder, file, fs.readFileSync(open, "utf8"))).toEqual(release);
});
