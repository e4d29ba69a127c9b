import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { ROOT, type Running, temporaryFolder } from "./processes.ts";
import { staticHostCommand } from "../peers/static-host.ts";
import { startedBy, type Systemd } from "./systemd.ts";

// A Debian or Ubuntu of its own with systemd as PID 1, booted by systemd-nspawn from the archive of its distribution.

/** The roots are kept between test runs: each is a download of about 60 MB. */
const CACHE = path.join(ROOT, "node_modules/.cache/vetwire-package");
/** A server of a clinic has these. Our packages need no other, so apt finds all of them without a network. */
const PACKAGES = "systemd,systemd-sysv,dbus,curl,libc6,libstdc++6,ca-certificates,passwd";
const ENV = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" };
const UBUNTU_KEYS = "usr/share/keyrings/ubuntu-archive-keyring.gpg";

export interface System {
  readonly name: string;
  readonly suite: string;
  readonly mirror: string;
  /** Packages that this root has besides. */
  readonly more?: string;
}

const DEBIAN = "http://deb.debian.org/debian";
const UBUNTU = "http://archive.ubuntu.com/ubuntu";

const TRIXIE: System = { name: "Debian 13", suite: "trixie", mirror: DEBIAN, more: ",ubuntu-keyring" };

export const SYSTEMS: readonly System[] = [
  { name: "Debian 12", suite: "bookworm", mirror: DEBIAN },
  TRIXIE,
  { name: "Ubuntu 22.04", suite: "jammy", mirror: UBUNTU },
  { name: "Ubuntu 24.04", suite: "noble", mirror: UBUNTU },
];

export class BootedSystem {
  readonly #nspawn: ChildProcess;
  readonly #systemd: Systemd;
  readonly #folder: string;

  /** Boots a new root. @returns the reason in words if this machine cannot */
  static async boot(system: System): Promise<BootedSystem | string> {
    if (process.getuid?.() !== 0) return "it needs root";
    for (const [tool, source] of Object.entries({ mmdebstrap: "mmdebstrap", "systemd-nspawn": "systemd-container" })) {
      if (spawnSync(tool, ["--version"]).status !== 0) return `${tool} is missing (apt-get install ${source})`;
    }
    const folder = temporaryFolder();
    try {
      execFileSync("tar", ["-xf", archiveOf(system), "-C", folder]);
    } catch (error) {
      fs.rmSync(folder, { recursive: true });
      return `no root of ${system.suite} from ${system.mirror}: ${(error as Error).message.split("\n", 2).join(": ")}`;
    }
    fs.chmodSync(folder, 0o755);
    const words = [`--directory=${folder}`, `--machine=vetwire-${system.suite}-${process.pid}`];
    const options = ["--quiet", "--boot", "--register=no", "--keep-unit", "--private-network", "--console=pipe"];
    const nspawn = spawn("systemd-nspawn", [...words, ...options], { stdio: "ignore" });
    const systemd = await startedBy(nspawn);
    if (systemd !== null) return new BootedSystem(nspawn, systemd, folder);
    fs.rmSync(folder, { recursive: true, force: true });
    return `systemd-nspawn does not boot ${system.suite} on this machine`;
  }

  private constructor(nspawn: ChildProcess, systemd: Systemd, folder: string) {
    this.#nspawn = nspawn;
    this.#systemd = systemd;
    this.#folder = folder;
  }

  /** @returns the file as this machine sees it */
  at(file: string): string {
    return path.join(this.#folder, file);
  }

  /** Runs a shell script as root. @returns its output, both streams @throws Error with the output if it fails */
  run(script: string): string {
    const { code, stdout } = this.#systemd.run(`exec 2>&1; ${script}`, ENV);
    if (code !== 0) throw new Error(`${script}: exit ${code}\n${stdout}`);
    return stdout;
  }

  /** Serves a folder of this machine to it, as a static host. */
  serve(folder: string, port: number): Running {
    return this.#systemd.startInNetwork(staticHostCommand(folder, port));
  }

  /** Ends the system. Nothing of it is needed any more, and its own shutdown waits for a service for up to 90 s. */
  async end(): Promise<void> {
    if (this.#nspawn.exitCode === null && this.#nspawn.signalCode === null) {
      const exited = once(this.#nspawn, "exit");
      // systemd-nspawn takes the first signal for a shutdown, and ends the system at the second.
      this.#nspawn.kill("SIGTERM");
      const again = setInterval(() => this.#nspawn.kill("SIGTERM"), 1000);
      await exited;
      clearInterval(again);
    }
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Makes the root of a system, once. */
function archiveOf({ suite, mirror, more = "" }: System): string {
  const archive = path.join(CACHE, `booted-${suite}.tar`);
  if (fs.existsSync(archive)) return archive;
  fs.mkdirSync(CACHE, { recursive: true });
  const draft = `${archive}.${process.pid}`;
  const words = ["--quiet", "--variant=apt", `--include=${PACKAGES}${more}`, "--format=tar", ...keysFor(mirror)];
  execFileSync("mmdebstrap", [...words, suite, draft, mirror], { stdio: ["ignore", "ignore", "pipe"] });
  fs.renameSync(draft, archive);
  return archive;
}

/** Names the keys of Ubuntu, which Debian 13 has in a package. apt trusts those of Debian already. */
function keysFor(mirror: string): string[] {
  if (mirror === DEBIAN || fs.existsSync(`/${UBUNTU_KEYS}`)) return [];
  const file = path.join(CACHE, path.basename(UBUNTU_KEYS));
  fs.writeFileSync(file, execFileSync("tar", ["-xOf", archiveOf(TRIXIE), `./${UBUNTU_KEYS}`]));
  return [`--keyring=${file}`];
}
