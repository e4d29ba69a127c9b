import { execFileSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { completeTables, setSummaryTime } from "./msi-tables.ts";
import type { Pack, PackOrder } from "./pack.ts";
import { nameGuid, WINDOWS_PROGRAMS } from "./windows-program.ts";
import { wxs } from "./wxs.ts";

/** Packs the program's folder with its service as vetwire-<program>-<version>-win-x64.msi, by wixl and msibuild on Linux. */
export const packMsi: Pack = async ({ program: name, platform, release, staged, work, out, authenticode }) => {
  const program = WINDOWS_PROGRAMS[name];
  const version = productVersion(release.version);
  // wixl reads files below its own folder only.
  const source = "program";
  fs.cpSync(staged, path.join(work, source), { recursive: true, preserveTimestamps: true });
  const shortcut = "shortcut.url";
  fs.writeFileSync(path.join(work, shortcut), `[InternetShortcut]\r\nURL=${program.page}\r\n`);
  fs.utimesSync(path.join(work, shortcut), release.time, release.time);
  const files = filesOf(path.join(work, source));
  const foreign = files.find((file) => !/^[ -~]+$/.test(file));
  // wixl crashes without a word.
  if (foreign !== undefined)
    throw new Error(`${foreign} has a name that wixl cannot read: leave it out of the package`);
  const description = wxs({ program, version, files, source, shortcut });
  fs.writeFileSync(path.join(work, "package.wxs"), description);
  const draft = path.join(work, "package.msi");
  // A cabinet has local times.
  const env = { ...process.env, TZ: "UTC" };
  execFileSync("wixl", ["-a", "x64", "-o", draft, "package.wxs"], {
    cwd: work,
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  completeTables(draft, program, packageCode(description, path.join(work, source), files), work);
  setSummaryTime(draft, release.time);
  const file = path.join(out, `vetwire-${name}-${release.version}-${platform}.msi`);
  if (authenticode === null) fs.copyFileSync(draft, file);
  else sign(draft, file, program.title, authenticode);
  return file;
};

/** The Windows Installer compares three numbers. A version with further words would be equal to the one without them. */
function productVersion(version: string): string {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,5})$/.exec(version)?.slice(1).map(Number) ?? [];
  const [major = 256, minor = 256, patch = 65_536] = parts;
  if (major > 255 || minor > 255 || patch > 65_535) {
    throw new Error(
      `the version ${version} is not possible on Windows: give three numbers, such as 1.2.3, at most 255.255.65535`,
    );
  }
  return version;
}

function filesOf(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
    .toSorted();
}

function packageCode(description: string, folder: string, files: readonly string[]): string {
  const digest = crypto.createHash("sha256").update(description);
  for (const file of files)
    digest.update(
      crypto
        .createHash("sha256")
        .update(fs.readFileSync(path.join(folder, file)))
        .digest(),
    );
  return nameGuid("package", digest.digest("hex"));
}

/** Signs the package with the owner's certificate. */
function sign(
  draft: string,
  file: string,
  title: string,
  { certificate, key }: NonNullable<PackOrder["authenticode"]>,
): void {
  fs.rmSync(file, { force: true });
  const words = ["sign", "-h", "sha256", "-certs", certificate, "-key", key, "-n", title];
  execFileSync("osslsigncode", [...words, "-in", draft, "-out", file], { stdio: ["ignore", "ignore", "inherit"] });
}
