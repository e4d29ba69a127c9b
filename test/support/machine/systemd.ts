import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { patiently } from "../runner/patience.ts";
import { type Running, startProgram } from "./processes.ts";

// A systemd as PID 1 in namespaces of its own: its root is an overlay of this machine's, so nothing here changes.

const SYSTEMD = "/lib/systemd/systemd";
const BOOT_MS = patiently(60_000);

/** Units that would touch the machine's devices, clock or kernel. */
const MASKED = [
  ...[
    "systemd-udevd",
    "systemd-udev-trigger",
    "systemd-tmpfiles-setup",
    "systemd-tmpfiles-setup-dev",
    "systemd-sysctl",
  ],
  ...["systemd-modules-load", "systemd-logind", "systemd-random-seed", "systemd-firstboot", "systemd-binfmt"],
  ...["systemd-remount-fs", "modprobe@"],
].map((name) => `${name}.service`);

function bootScript(folder: string): string {
  return `set -e
mount --make-rprivate /
mount -t tmpfs t ${folder}
mkdir ${folder}/upper ${folder}/work ${folder}/root
mount -t overlay -o lowerdir=/,upperdir=${folder}/upper,workdir=${folder}/work o ${folder}/root
cd ${folder}/root
mount -t proc p proc
mount --bind proc/sys proc/sys
mount -o remount,ro,bind proc/sys
mount -t tmpfs r run
mount -t tmpfs t tmp
mount --rbind /dev dev
mount --rbind /sys sys
rm -rf etc/systemd/system/* etc/vetwire var/lib/vetwire
for unit in ${MASKED.join(" ")} systemd-tmpfiles-clean.timer; do ln -sf /dev/null etc/systemd/system/$unit; done
: > etc/fstab
exec chroot . /usr/bin/env -i container=lxc PATH=${process.env["PATH"] ?? ""} ${SYSTEMD} --unit=basic.target
`;
}

export class Systemd {
  readonly #parent: ChildProcess;
  readonly #init: number;

  constructor(parent: ChildProcess, init: number) {
    this.#parent = parent;
    this.#init = init;
  }

  /** Runs a shell script next to the services. */
  run(script: string, env = process.env): { code: number | null; stdout: string; stderr: string } {
    const words = ["--target", String(this.#init), "--all", "--root", "--wd", "sh", "-c", script];
    const { status, stdout, stderr } = spawnSync("nsenter", words, {
      encoding: "utf8",
      timeout: patiently(120_000),
      env,
    });
    return { code: status, stdout, stderr };
  }

  /** Starts a program of this machine in the network of the services. */
  startInNetwork(words: readonly string[]): Running {
    return startProgram("nsenter", ["--target", String(this.#init), "--net", ...words], process.env);
  }

  stop(): void {
    this.#parent.kill("SIGKILL");
  }
}

/** Starts systemd. @returns the reason in words if this machine cannot */
export async function bootSystemd(folder: string): Promise<Systemd | string> {
  if (process.getuid?.() !== 0) return "needs root";
  if (!fs.existsSync(SYSTEMD)) return "install systemd";
  const root = path.join(folder, "systemd");
  fs.mkdirSync(root);
  const words = ["--pid", "--mount", "--uts", "--ipc", "--net", "--fork", "--kill-child", "sh", "-c", bootScript(root)];
  const systemd = await startedBy(spawn("unshare", words, { stdio: "ignore" }));
  return systemd ?? "systemd does not start in namespaces of this machine";
}

/** Waits for the systemd that is the child of a process. @returns null if it does not start; then the process ends */
export async function startedBy(parent: ChildProcess): Promise<Systemd | null> {
  for (const end = Date.now() + BOOT_MS; Date.now() < end && parent.exitCode === null; await sleep(200)) {
    const init = childOf(parent.pid ?? 0);
    if (init === null) continue;
    const systemd = new Systemd(parent, init);
    const { stdout } = systemd.run("test -d /run/systemd/system && systemctl is-system-running");
    if (/running|degraded/.test(stdout)) return systemd;
  }
  parent.kill("SIGKILL");
  return null;
}

function childOf(process: number): number | null {
  try {
    const child = Number(execFileSync("pgrep", ["--parent", String(process)], { encoding: "utf8" }));
    // Until it has become systemd, the child sees this machine's own files.
    return fs.readFileSync(`/proc/${child}/comm`, "utf8").trim() === "systemd" ? child : null;
  } catch {
    return null;
  }
}
