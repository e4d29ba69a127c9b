import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Pack } from "./pack.ts";

/** Packs the program's folder, with units for systemd and launchd, as vetwire-<program>-<version>-<platform>.tar.gz. */
export const packTar: Pack = async ({ program, platform, release, staged, work, out }) => {
  const name = `vetwire-${program}-${release.version}-${platform}`;
  fs.cpSync(staged, path.join(work, name), { recursive: true, preserveTimestamps: true });
  const file = path.join(out, `${name}.tar.gz`);
  const words = [
    "--sort=name",
    `--mtime=@${release.time}`,
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--format=ustar",
  ];
  execFileSync("tar", ["-C", work, ...words, "--use-compress-program=gzip -n -6", "-cf", file, name]);
  return file;
};
