import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { ServiceDescription } from "../service/description.ts";
import { systemdUnit } from "../service/systemd-unit.ts";
import type { Pack, PackOrder } from "./pack.ts";

type Program = PackOrder["program"];

/**
 * Packs the program's folder as vetwire-<program>-<version>-<platform>.tar.gz, for systems without packages of their own and for
 * upgrades. It has the unit of its service and an INSTALL text.
 */
export const packTar: Pack = async ({ program, platform, release, staged, work, out }) => {
  const name = `vetwire-${program}-${release.version}-${platform}`;
  const folder = path.join(work, name);
  fs.cpSync(staged, folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "INSTALL"), installText(program, platform, `${name}.tar.gz`));
  if (platform !== "win-x64") {
    fs.mkdirSync(path.join(folder, "service"));
    fs.writeFileSync(path.join(folder, "service", unitFile(program)), systemdUnit(unpackedService(program)));
  }
  const file = path.join(out, `${name}.tar.gz`);
  tar(file, work, [name], release.time);
  return file;
};

/** Writes an archive of names in a folder, with nothing of this machine in it. It is compressed if its name ends in .gz. */
export function tar(file: string, folder: string, names: readonly string[], time: number): void {
  const words = [
    "--sort=name",
    `--mtime=@${time}`,
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=u=rwX,go=rX",
    "--format=ustar",
  ];
  if (file.endsWith(".gz")) words.push("--use-compress-program=gzip -n -6");
  // The variables of the user's shell would change the archive.
  const env = { PATH: process.env["PATH"], LC_ALL: "C" };
  execFileSync("tar", ["-C", folder, ...words, "-cf", file, ...names], { env });
}

function unitFile(program: Program): string {
  return `vetwire-${program}.service`;
}

/** Describes the service of an archive in /opt, with the places of `vetwire service install`. */
function unpackedService(program: Program): ServiceDescription {
  const name = `vetwire-${program}`;
  return {
    program,
    name,
    node: `/opt/${name}/runtime/node`,
    main: `/opt/${name}/app/shared/main.js`,
    config: program === "server" ? null : "/etc/vetwire/agent.yaml",
    state: `/var/lib/vetwire/${program}`,
    writable: [],
    options: [],
  };
}

function installText(program: Program, platform: PackOrder["platform"], archive: string): string {
  if (platform === "win-x64") {
    return `This archive upgrades an installed Vetwire ${program}: vetwire upgrade ${program} --from ${archive}\nTo install it on a PC for the first time, use the .msi file.\n`;
  }
  const folder = `/opt/vetwire-${program}`;
  const next =
    program === "agent" ? "Open http://127.0.0.1:8081 and set the agent up" : "Open http://127.0.0.1:8080/dashboard";
  return `Vetwire ${program}: it needs neither Node nor a compiler.

Install it as a service:
  sudo mkdir -p ${folder}
  sudo tar -xzf ${archive} -C ${folder} --strip-components=1
  sudo ${folder}/bin/vetwire service install ${program}
${next}. See how it runs:
  sudo ${folder}/bin/vetwire service status

Remove it (the data stays):
  sudo ${folder}/bin/vetwire service uninstall ${program}
  sudo rm -r ${folder}

service/${unitFile(program)} is the service for those who install it by tools of their own.
THIRD_PARTY_LICENSES and sbom.cdx.json list the packages of others in this folder.
`;
}
