import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Pack } from "./pack.ts";

/** Packs the program's folder as vetwire-<program>-<version>-<platform>.tar.gz. */
export const packTar: Pack = async ({ program, platform, release, staged, work, out }) => {
  const name = `vetwire-${program}-${release.version}-${platform}`;
  fs.cpSync(staged, path.join(work, name), { recursive: true, preserveTimestamps: true });
  const file = path.join(out, `${name}.tar.gz`);
  tar(file, work, [name], release.time);
  return file;
};

/** Writes an archive of names in a folder, with nothing of this machine in it. It is compressed if its name ends in .gz. */
export function tar(file: string, folder: string, names: readonly string[], time: number): void {
  const words = ["--sort=name", `--mtime=@${time}`, "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"];
  if (file.endsWith(".gz")) words.push("--use-compress-program=gzip -n -6");
  execFileSync("tar", ["-C", folder, ...words, "-cf", file, ...names]);
}
