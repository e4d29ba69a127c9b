import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

// Makes an apt repository of .deb files: static files for any host, signed by a key of gpg. A new release is added to the folder of
// the earlier ones.

const SUITE = "stable";
const COMPONENT = "main";
const ARCHITECTURES = ["amd64", "arm64"];

/** Adds packages to the repository in `folder`. `key` names a secret key of gpg's keyring. @throws Error without its tools */
export function addToApt(folder: string, packages: readonly string[], key: string): void {
  const pool = path.join(folder, "pool");
  fs.mkdirSync(pool, { recursive: true });
  for (const file of packages) {
    const target = path.join(pool, path.basename(file));
    // apt-get would find other bytes than those of an index that it has.
    if (fs.existsSync(target) && !fs.readFileSync(target).equals(fs.readFileSync(file))) {
      throw new Error(`${target} has other bytes: a released package never changes, so raise the version`);
    }
    // Under its name, a part that a killed run left would count as the released package.
    fs.copyFileSync(file, `${target}.part`);
    fs.renameSync(`${target}.part`, target);
  }
  const dist = path.join(folder, "dists", SUITE);
  fs.rmSync(dist, { recursive: true, force: true });
  for (const architecture of ARCHITECTURES) {
    const index = path.join(dist, COMPONENT, `binary-${architecture}`);
    fs.mkdirSync(index, { recursive: true });
    const words = ["--arch", architecture, "packages", "pool"];
    const text = execFileSync("apt-ftparchive", words, { cwd: folder, maxBuffer: 64 * 1024 ** 2 });
    fs.writeFileSync(path.join(index, "Packages"), text);
    fs.writeFileSync(path.join(index, "Packages.gz"), zlib.gzipSync(text));
  }
  signRelease(dist, key);
  fs.writeFileSync(path.join(folder, "vetwire.asc"), execFileSync("gpg", ["--batch", "--armor", "--export", key]));
}

/** Writes Release, and its two signatures: apt-get takes either. */
function signRelease(dist: string, key: string): void {
  const fields = { Origin: "Vetwire", Label: "Vetwire", Suite: SUITE, Codename: SUITE, Components: COMPONENT };
  const options = Object.entries({ ...fields, Architectures: ARCHITECTURES.join(" ") }).flatMap(([name, value]) => [
    "-o",
    `APT::FTPArchive::Release::${name}=${value}`,
  ]);
  // Written elsewhere first: apt-ftparchive would list the empty file.
  const text = execFileSync("apt-ftparchive", [...options, "release", dist]);
  const release = path.join(dist, "Release");
  fs.writeFileSync(release, text);
  for (const [form, name] of [
    ["--clearsign", "InRelease"],
    ["--detach-sign", "Release.gpg"],
  ] as const) {
    const target = path.join(dist, name);
    const words = ["--batch", "--yes", "--armor", "--local-user", key, "--output", target, form, release];
    execFileSync("gpg", words, { stdio: ["inherit", "ignore", "pipe"] });
  }
}
