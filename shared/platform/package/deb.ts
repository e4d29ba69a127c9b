import { execFileSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { ServiceDescription } from "../service/description.ts";
import { systemdUnit } from "../service/systemd-unit.ts";
import type { Pack, PackOrder } from "./pack.ts";
import type { Platform, Release } from "./stage.ts";

// Packs the program's folder as a Debian package, with its service, its command and its user.

type Program = PackOrder["program"];

const FILES = path.join(import.meta.dirname, "files/deb");

const ARCHITECTURES: Readonly<Record<string, string>> = { "linux-x64": "amd64", "linux-arm64": "arm64" };

/** Versions of the libraries that the native code of Node and of its packages needs: Debian 12, Ubuntu 22.04. */
const DEPENDS = "libc6 (>= 2.34), libstdc++6 (>= 11), ca-certificates, passwd";

const TEXTS = {
  agent: {
    summary: "takes results from a veterinary clinic's devices",
    text: "The agent receives the results of analyzers and imaging devices, and pushes\n them to a Vetwire server. It carries its own Node.js.",
    other: "server",
    // Both packages hold the same command: of two versions, the server's comes first.
    priority: "40",
  },
  server: {
    summary: "serves the results of veterinary clinics",
    text: "The server takes results from agents, and serves them by its API and on its\n dashboard. It carries its own Node.js.",
    other: "agent",
    priority: "50",
  },
} as const;

/** Makes vetwire-PROGRAM_VERSION_ARCHITECTURE.deb. */
export const packDeb: Pack = async ({ program, platform, release, staged, work, out }) => {
  const name = `vetwire-${program}`;
  const architecture = ARCHITECTURES[platform] ?? "";
  const tree = path.join(work, "tree");
  const folder = path.join(tree, programFolder(program));
  fs.mkdirSync(path.dirname(folder), { recursive: true });
  // dpkg-deb follows no links, and staged is on the same disk: links save 160 MB.
  execFileSync("cp", ["-al", staged, folder]);
  const write = (file: string, text: string, mode = 0o644) => {
    fs.mkdirSync(path.dirname(path.join(tree, file)), { recursive: true });
    fs.writeFileSync(path.join(tree, file), text);
    fs.chmodSync(path.join(tree, file), mode);
  };
  write(`usr/lib/systemd/system/${name}.service`, systemdUnit(packagedService(program)));
  write(`usr/share/doc/${name}/copyright`, fs.readFileSync(path.join(staged, "LICENSE"), "utf8"));
  // Mode 600, because DATABASE_URL in it may hold a password.
  write(`etc/default/${name}`, fs.readFileSync(path.join(FILES, `${program}.default`), "utf8"), 0o600);
  const size = kilobytes(tree);
  const sums = checksums(tree);
  write("DEBIAN/control", control(program, debianVersion(release.version), architecture, size));
  write("DEBIAN/conffiles", `/etc/default/${name}\n`);
  write("DEBIAN/md5sums", sums);
  for (const script of ["postinst", "prerm", "postrm"])
    write(`DEBIAN/${script}`, maintainerScript(program, script), 0o755);
  settle(tree);
  const file = path.join(out, debName(program, platform, release));
  // One thread: the number of threads changes the bytes. xz takes minutes for a tenth of the size.
  const words = ["--root-owner-group", "-Zzstd", "-z9", "--threads-max=1", "--build", tree, file];
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(release.time) };
  execFileSync("dpkg-deb", words, { env, stdio: ["ignore", "ignore", "inherit"] });
  return file;
};

/** Describes the service of a package: the paths of Linux's file system standard. */
function packagedService(program: Program): ServiceDescription {
  const folder = `/${programFolder(program)}`;
  return {
    program,
    name: `vetwire-${program}`,
    node: `${folder}/runtime/node`,
    main: `${folder}/app/shared/main.js`,
    config: program === "agent" ? "/etc/vetwire/agent.yaml" : null,
    state: `/var/lib/vetwire/${program}`,
    writable: [],
    options: [],
  };
}

/** Returns the name of a package, in the form that Debian gives its own. */
export function debName(program: Program, platform: Platform, { version }: Release): string {
  return `vetwire-${program}_${debianVersion(version)}_${ARCHITECTURES[platform] ?? ""}.deb`;
}

/** Debian sorts `0.2.0~rc.1` before `0.2.0`, as semantic versions sort `0.2.0-rc.1`. */
function debianVersion(version: string): string {
  return version.replace("-", "~");
}

function programFolder(program: Program): string {
  return `usr/lib/vetwire-${program}`;
}

function control(program: Program, version: string, architecture: string, size: number): string {
  const { summary, text } = TEXTS[program];
  return [
    `Package: vetwire-${program}`,
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    "Maintainer: Vetwire <maintainers@vetwire.example>",
    `Installed-Size: ${size}`,
    `Depends: ${DEPENDS}`,
    "Section: net",
    "Priority: optional",
    `Description: ${summary}\n ${text}`,
    "",
  ].join("\n");
}

function maintainerScript(program: Program, name: string): string {
  const { other, priority } = TEXTS[program];
  return fs
    .readFileSync(path.join(FILES, name), "utf8")
    .replaceAll("@PROGRAM@", program)
    .replaceAll("@OTHER@", other)
    .replaceAll("@PRIORITY@", priority);
}

/** The sum of the files' sizes, in KiB as Debian's policy counts it. */
function kilobytes(tree: string): number {
  return filesOf(tree).reduce((sum, file) => sum + Math.ceil(fs.statSync(path.join(tree, file)).size / 1024), 0);
}

/** The list for `dpkg --verify`, without conffiles. */
function checksums(tree: string): string {
  return filesOf(tree)
    .filter((file) => !file.startsWith("etc/"))
    .map((file) => {
      const sum = crypto.createHash("md5").update(fs.readFileSync(path.join(tree, file)));
      return `${sum.digest("hex")}  ${file}\n`;
    })
    .join("");
}

/** The files below a folder, in the same order on every machine. */
function filesOf(tree: string): string[] {
  return fs
    .readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(tree, path.join(entry.parentPath, entry.name)))
    .toSorted();
}

/** Takes the umask out of the folders. dpkg-deb itself sets back times after the release. */
function settle(tree: string): void {
  fs.chmodSync(tree, 0o755);
  for (const entry of fs.readdirSync(tree, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) fs.chmodSync(path.join(entry.parentPath, entry.name), 0o755);
  }
}
