import { execFile, execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addToApt } from "../../../../shared/platform/release/apt.ts";
import { ROOT, temporaryFolder } from "../../../support/machine/processes.ts";
import { StaticHost } from "../../../support/peers/static-host.ts";

// Goal: apt-get takes the packages from the repository by its signature alone. Method: small packages, a key of gpg made here, a
// static host on this machine, and an apt-get whose lists, sources and installed packages are in a folder of the test.

const missing = ["apt-ftparchive", "apt-get", "dpkg-deb", "gpg"].filter(
  (tool) => spawnSync(tool, ["--version"]).status !== 0,
);
if (missing.length > 0) process.stdout.write(`the apt repository is not tried: ${missing.join(", ")} is missing\n`);

let [folder, repository, key] = ["", "", ""];
let host: StaticHost;
const before = process.env["GNUPGHOME"];

beforeAll(async () => {
  if (missing.length > 0) return;
  folder = temporaryFolder();
  const home = path.join(folder, "gnupg");
  fs.mkdirSync(home, { mode: 0o700 });
  process.env["GNUPGHOME"] = home;
  const make = ["--batch", "--passphrase", "", "--quick-generate-key", "releases@vetwire.example", "ed25519", "sign"];
  execFileSync("gpg", [...make, "never"], { stdio: "ignore" });
  const listed = execFileSync("gpg", ["--list-keys", "--with-colons"], { encoding: "utf8" });
  key = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? "";
  repository = path.join(folder, "apt");
  addToApt(repository, [deb("vetwire-agent", "0.1.0"), deb("vetwire-server", "0.1.0")], key);
  host = await StaticHost.start(repository);
});

afterAll(async () => {
  if (missing.length > 0) return;
  await host.end();
  spawnSync("gpgconf", ["--kill", "all"]);
  if (before === undefined) delete process.env["GNUPGHOME"];
  else process.env["GNUPGHOME"] = before;
  fs.rmSync(folder, { recursive: true });
});

/** Makes a package as `packDeb` does, with one file in it. */
function deb(name: string, version: string): string {
  const tree = path.join(folder, `${name}-${version}`);
  fs.mkdirSync(path.join(tree, "DEBIAN"), { recursive: true });
  const fields = { Package: name, Version: version, Architecture: "amd64", Maintainer: "A <a@vetwire.example>" };
  const control = Object.entries({ ...fields, Description: "a package" }).map(
    ([field, value]) => `${field}: ${value}\n`,
  );
  fs.writeFileSync(path.join(tree, "DEBIAN/control"), control.join(""));
  fs.writeFileSync(path.join(tree, "file"), version);
  const file = path.join(folder, `${name}_${version}_amd64.deb`);
  execFileSync("dpkg-deb", ["--root-owner-group", "-Zzstd", "--build", tree, file], { stdio: "ignore" });
  return file;
}

/** Runs apt-get in a world of its own. The host is in this process, so it may not be blocked. */
async function aptGet(...words: string[]) {
  const world = path.join(folder, "world");
  for (const name of ["state/lists/partial", "cache/archives/partial", "etc", "log"]) {
    fs.mkdirSync(path.join(world, name), { recursive: true });
  }
  for (const name of ["status", "apt.conf"]) fs.writeFileSync(path.join(world, name), "");
  fs.writeFileSync(
    path.join(world, "etc/sources.list"),
    `deb [arch=amd64 signed-by=${path.join(repository, "vetwire.asc")}] ${host.url} stable main\n`,
  );
  const options = {
    ...{ "Dir::State": `${world}/state`, "Dir::State::status": `${world}/status`, "Dir::Cache": `${world}/cache` },
    ...{ "Dir::Etc": `${world}/etc`, "Dir::Log": `${world}/log`, "APT::Architecture": "amd64" },
    // The user _apt cannot read the folder of the test. A proxy does not know this machine's port.
    ...{ "APT::Sandbox::User": "root", "Acquire::http::Proxy": "DIRECT", "Acquire::Languages": "none" },
  };
  const all = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const env = { ...process.env, APT_CONFIG: `${world}/apt.conf`, LC_ALL: "C.UTF-8" };
  const result = await promisify(execFile)("apt-get", [...all, ...words], { env }).catch(
    (error: unknown) => error as { stdout: string; stderr: string; code: number },
  );
  const archives = path.join(world, "cache/archives");
  const fetched = fs.readdirSync(archives).filter((name) => name.endsWith(".deb"));
  return { code: "code" in result ? result.code : 0, output: result.stdout + result.stderr, fetched };
}

describe.skipIf(missing.length > 0)("the apt repository", () => {
  test("gives a package to apt-get, which verifies its signature", async () => {
    expect(await aptGet("update")).toMatchObject({ code: 0, output: expect.not.stringContaining("W:") });
    const install = await aptGet("install", "--download-only", "--yes", "vetwire-server");
    expect([install.code, install.fetched]).toEqual([0, ["vetwire-server_0.1.0_amd64.deb"]]);
  });

  test("keeps earlier packages beside a new release, and refuses other bytes of one", async () => {
    addToApt(repository, [deb("vetwire-agent", "0.2.0")], key);
    expect((await aptGet("update")).code).toBe(0);
    expect((await aptGet("install", "--download-only", "--yes", "vetwire-agent")).fetched).toContain(
      "vetwire-agent_0.2.0_amd64.deb",
    );
    expect((await aptGet("install", "--download-only", "--yes", "vetwire-agent=0.1.0")).fetched).toContain(
      "vetwire-agent_0.1.0_amd64.deb",
    );
    const changed = deb("vetwire-agent", "0.2.0");
    fs.appendFileSync(changed, "x");
    expect(() => addToApt(repository, [changed], key)).toThrow("a released package never changes");
  });

  test("takes a package again whose copy was killed", (context) => {
    if (spawnSync("strace", ["--version"]).status !== 0) context.skip("strace is missing (apt-get install strace)");
    const [target, file] = [path.join(folder, "killed"), deb("vetwire-late", "0.1.0")];
    const module = path.join(ROOT, "shared/platform/release/apt.ts");
    const code = `import { addToApt } from ${JSON.stringify(module)}; addToApt(...JSON.parse(process.argv[1]));`;
    const program = [process.execPath, "--input-type=module", "-e", code, JSON.stringify([target, [file], key])];
    const kill = ["-f", "-o", "/dev/null", "-e", "inject=copy_file_range,sendfile:signal=KILL"];
    expect(spawnSync("strace", [...kill, ...program]).signal).toBe("SIGKILL");
    expect(fs.readdirSync(path.join(target, "pool")).length).toBe(1);
    addToApt(target, [file], key);
    expect(fs.readFileSync(path.join(target, "pool", path.basename(file))).equals(fs.readFileSync(file))).toBe(true);
  });

  test("is refused by apt-get with a changed list, and with a changed package", async () => {
    const file = path.join(repository, "pool/vetwire-server_0.1.0_amd64.deb");
    const bytes = fs.readFileSync(file);
    fs.writeFileSync(file, Buffer.concat([bytes.subarray(0, -1), Buffer.from("x")]));
    fs.rmSync(path.join(folder, "world"), { recursive: true });
    expect((await aptGet("update")).code).toBe(0);
    const install = await aptGet("install", "--download-only", "--yes", "vetwire-server");
    expect([install.code, install.fetched]).toEqual([100, []]);
    fs.writeFileSync(file, bytes);

    const list = path.join(repository, "dists/stable/InRelease");
    fs.writeFileSync(list, fs.readFileSync(list, "utf8").replace("Suite: stable", "Suite: staple"));
    fs.rmSync(path.join(folder, "world"), { recursive: true });
    const update = await aptGet("update");
    expect(update).toMatchObject({ code: 100, output: expect.stringMatching(/BADSIG|not signed|invalid/i) });
  });
});
