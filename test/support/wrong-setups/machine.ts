import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import Database from "better-sqlite3";
import { Spool } from "../../../agent/spool/spool.ts";
import { freePort, until } from "../machine/processes.ts";
import { newCable, socat } from "../machine/pty.ts";
import { canMount, mountDisk } from "../machine/small-disk.ts";
import type { Bench, WrongSetup } from "./bench.ts";

// Wrong set-ups of this machine: configuration, folder, database, ports, adapters, service.

const needsMount = () => (canMount() ? null : "no disk can be mounted here");
const needsRoot = () => (process.getuid?.() === 0 ? null : "only root can run a command as another user");
const needsSocat = () => (socat ? null : "socat is not installed");

/** Makes an empty spool in the data folder, and changes its database. */
async function changeSpool(bench: Bench, change: (db: Database.Database) => void): Promise<void> {
  await (await Spool.open(bench.data)).close();
  const db = new Database(path.join(bench.data, "spool.db"));
  change(db);
  db.close();
}

/** Runs a program in the background, and waits for its first output. */
async function runBeside(bench: Bench, program: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  bench.closers.push(() => child.kill("SIGKILL"));
  await new Promise((resolve) => child.stdout.once("data", resolve));
}

/** Puts a program of this name first in the PATH of the command. */
function fakeProgram(bench: Bench, name: string, script: string): void {
  bench.write(name, `#!/bin/sh\n${script}\n`, 0o755);
  bench.env["PATH"] = `${bench.folder}:${process.env["PATH"] ?? ""}`;
}

/** An installed service in a state of systemd. */
function fakeService(bench: Bench, active: string, file: string): void {
  const words =
    "/node /main.js service run agent --name vetwire-agent --versions /state/versions -- --set-up --config /a.yaml";
  const lines = ["LoadState=loaded", `ActiveState=${active}`, `UnitFileState=${file}`, `ExecStart=${words}`];
  fakeProgram(bench, "systemctl", `cat <<'END'\n${lines.join("\n")}\nEND`);
}

const CONFIGURATION: readonly WrongSetup[] = [
  {
    title: "there is no agent.yaml",
    finding: "configuration.missing",
    remedy:
      /open http:\/\/127\.0\.0\.1:8081, the page of the service or of vetwire agent run --set-up, or name the file/,
    make: (bench) => void (bench.hasConfig = false),
  },
  {
    title: "a key is misspelt",
    finding: "configuration.wrong",
    remedy: /did you mean baudRate\?.*correct line \d+/s,
    make: (bench) => {
      bench.devices = [bench.device({ connection: { serial: { path: "/dev/ttyS0", baud_rate: 9600 } } })];
    },
  },
  {
    title: "the key file is missing",
    finding: "configuration.wrong",
    remedy: /pair the agent with the server, or write the key/,
    make: ({ folder }) => fs.rmSync(path.join(folder, "agent.key")),
  },
  {
    title: "two devices have one serial port",
    finding: "configuration.shared-port",
    remedy: /give chem-2 the port of its own adapter: agent ports lists them/,
    make: (bench) => {
      const connection = { serial: { path: "/dev/ttyS0" } };
      bench.devices = [bench.device({ connection }), bench.device({ id: "chem-2", connection })];
    },
  },
  {
    title: "other users can read the key",
    finding: "configuration.exposed",
    remedy: /chmod 600 .*agent\.key/,
    make: ({ folder }) => fs.chmodSync(path.join(folder, "agent.key"), 0o644),
  },
  {
    title: "agent.yaml has the alerts of an earlier version",
    finding: "configuration.ignored",
    remedy: /remove this section from .*agent\.yaml/,
    make: (bench) => void (bench.config["alerts"] = {}),
  },
  {
    title: "any host of the network can send results",
    finding: "configuration.exposed",
    remedy: /list the device's address in allow/,
    make: async (bench) => {
      bench.devices = [bench.device({ connection: { listen: `0.0.0.0:${await freePort()}` } })];
    },
  },
  {
    title: "the key travels without encryption",
    finding: "configuration.exposed",
    remedy: /use https/,
    make: (bench) => {
      bench.setServer("http://192.0.2.1:8080");
      bench.isOffline = true;
    },
  },
  {
    title: "another user may not read agent.yaml",
    finding: "configuration.no-permission",
    remedy: /run this as root or as the user of the service/,
    runAs: "nobody",
    cannot: needsRoot,
    make: () => undefined,
  },
  {
    title: "no agent runs",
    finding: "configuration.agent",
    remedy: /start it: agent run, or its service/,
    make: () => undefined,
  },
];

const FOLDER: readonly WrongSetup[] = [
  {
    title: "the data folder is a file",
    finding: "folder.not-a-folder",
    remedy: /name a folder as data in agent\.yaml/,
    make: (bench) => void bench.write("data", "text"),
  },
  {
    title: "the data folder is of another user",
    finding: "folder.no-permission",
    remedy: /run this as root or as the user of the service/,
    runAs: "nobody",
    cannot: needsRoot,
    make: (bench) => {
      fs.mkdirSync(bench.data, { mode: 0o700 });
      bench.owner = "nobody";
    },
  },
  {
    title: "the disk is read-only",
    finding: "folder.read-only",
    remedy: /use another disk/,
    cannot: needsMount,
    make: async (bench) => {
      fs.mkdirSync(bench.data);
      mountDisk(bench.data, 300);
      await runToEnd("mount", "-o", "remount,ro", bench.data);
      bench.closers.push(() => runToEnd("umount", bench.data));
    },
  },
  {
    title: "the disk is full",
    finding: "space.full",
    remedy: /delete or move files of other programs/,
    cannot: needsMount,
    make: (bench) => {
      fs.mkdirSync(bench.data);
      mountDisk(bench.data, 20);
      bench.closers.push(() => runToEnd("umount", bench.data));
    },
  },
  {
    title: "other users can read the data folder",
    finding: "folder.open",
    remedy: /chmod 700/,
    make: ({ data }) => {
      fs.mkdirSync(data);
      fs.chmodSync(data, 0o755);
    },
  },
  {
    title: "the disk has no room for images",
    finding: "space.images",
    remedy: /set retainDays or maxGigabytes under images/,
    make: async (bench) => {
      const connection = { listen: `127.0.0.1:${await freePort()}` };
      bench.devices = [bench.device({ id: "xray", profile: "dicom", connection })];
      bench.config["images"] = { minFreeGigabytes: 999_999 };
    },
  },
  {
    title: "the database is damaged",
    finding: "database.damaged",
    remedy: /stop the agent, copy the data folder, then restore the last backup/,
    make: async (bench) => {
      await changeSpool(bench, () => undefined);
      const file = path.join(bench.data, "spool.db");
      const bytes = fs.readFileSync(file);
      for (let page = 2; page < bytes.length / 4096; page += 1) bytes.fill(0xa5, page * 4096, page * 4096 + 200);
      fs.writeFileSync(file, bytes);
    },
  },
  {
    title: "another file has the place of the database",
    finding: "database.damaged",
    remedy: /restore the last backup/,
    make: (bench) => {
      fs.mkdirSync(bench.data, { mode: 0o700 });
      bench.write("data/spool.db", "a file of another program, which is longer than a header of SQLite".repeat(9));
    },
  },
  {
    title: "a newer version has written the database",
    finding: "database.newer",
    remedy: /install version \S+ or newer, or restore a backup/,
    make: (bench) =>
      changeSpool(
        bench,
        (db) =>
          void db.exec("UPDATE migration SET version = 9999 WHERE version = (SELECT MAX(version) FROM migration)"),
      ),
  },
];

function runToEnd(program: string, ...args: readonly string[]): Promise<void> {
  return new Promise((resolve) => spawn(program, args, { stdio: "inherit" }).once("exit", () => resolve()));
}

const PORTS: readonly WrongSetup[] = [
  {
    title: "another program holds the port",
    finding: "ports.taken",
    remedy: /in use by (node|MainThread) \(process \d+\).*end that program, or choose another port/s,
    make: async (bench) => {
      const port = await freePort();
      const listen = `require("node:net").createServer().listen(${port}, "127.0.0.1", () => console.log("up"))`;
      await runBeside(bench, process.execPath, "-e", listen);
      bench.devices = [bench.device({ connection: { listen: `127.0.0.1:${port}` } })];
    },
  },
  {
    title: "the port of the status page is taken",
    finding: "ports.taken",
    remedy: /status cannot listen.*end that program, or choose another port/s,
    make: async (bench) => {
      const blocker = net.createServer().listen(0, "127.0.0.1");
      await until("the blocker listens", () => blocker.listening);
      bench.closers.push(() => blocker.close());
      bench.config["status"] = { listen: `127.0.0.1:${(blocker.address() as net.AddressInfo).port}` };
    },
  },
  {
    title: "the address is not of this machine",
    finding: "ports.taken",
    remedy: /take one of them, or 0\.0\.0\.0 for all/,
    make: (bench) => {
      bench.devices = [bench.device({ allow: ["192.0.2.0/24"], connection: { listen: "192.0.2.9:4001" } })];
    },
  },
  {
    title: "the user may not listen on a low port",
    finding: "ports.taken",
    remedy: /choose a port from 1024 up/,
    runAs: "nobody",
    cannot: () => {
      const first = Number(fs.readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8"));
      return needsRoot() ?? (first > 104 ? null : "every user may listen on low ports here");
    },
    make: (bench) => {
      bench.devices = [bench.device({ id: "xray", profile: "dicom", connection: { listen: "127.0.0.1:104" } })];
      bench.owner = "nobody";
    },
  },
  {
    title: "the serial adapter is not plugged in",
    finding: "serial.fault",
    remedy: /plug its adapter in, or take a path that "agent ports" lists/,
    make: (bench) => void (bench.devices = [bench.device({ connection: { serial: { path: "/dev/ttyUSB97" } } })]),
  },
  {
    title: "the serial port is another kind of file",
    finding: "serial.fault",
    remedy: /take a path that "agent ports" lists/,
    make: (bench) => void (bench.devices = [bench.device({ connection: { serial: { path: "/dev/null" } } })]),
  },
  {
    title: "another program holds the serial port",
    finding: "serial.fault",
    remedy: /in use by .*sleep \(process \d+\).*close that program/s,
    cannot: needsSocat,
    make: async (bench) => {
      const cable = await newCable(bench.folder);
      bench.closers.push(() => cable.pull());
      await runBeside(bench, "flock", "--no-fork", "-x", cable.ends[0], "sh", "-c", "echo locked; exec sleep 60");
      bench.devices = [bench.device({ connection: { serial: { path: cable.ends[0] } } })];
    },
  },
  {
    title: "the user may not open the serial port",
    finding: "serial.fault",
    remedy: /add the user to the group dialout \(sudo usermod -a -G dialout nobody\)/,
    runAs: "nobody",
    cannot: () => needsSocat() ?? needsRoot(),
    make: async (bench) => {
      const cable = await newCable(bench.folder);
      bench.closers.push(() => cable.pull());
      fs.chmodSync(fs.realpathSync(cable.ends[0]), 0o600);
      bench.devices = [bench.device({ connection: { serial: { path: cable.ends[0] } } })];
      bench.owner = "nobody";
    },
  },
  {
    title: "the system does not know the line settings",
    finding: "serial.fault",
    remedy: /compare baudRate, dataBits, parity and stopBits of chem-1 with the manual/,
    cannot: needsSocat,
    make: async (bench) => {
      const cable = await newCable(bench.folder);
      bench.closers.push(() => cable.pull());
      const serial = { path: cable.ends[0], parity: "mark" };
      bench.devices = [bench.device({ connection: { serial } })];
    },
  },
  {
    title: "the name of the adapter may change",
    finding: "serial.unstable",
    remedy: /write path: \/dev\/serial\/by-id\/usb-vetwire-test/,
    cannot: () => needsSocat() ?? needsRoot(),
    make: async (bench) => {
      const cable = await newCable(bench.folder);
      const [tty, byId] = ["/dev/ttyUSB98", "/dev/serial/by-id/usb-vetwire-test"];
      fs.symlinkSync(fs.realpathSync(cable.ends[0]), tty);
      fs.mkdirSync(path.dirname(byId), { recursive: true });
      fs.symlinkSync(tty, byId);
      bench.closers.push(async () => {
        for (const file of [byId, tty]) fs.rmSync(file, { force: true });
        await cable.pull();
      });
      bench.devices = [bench.device({ connection: { serial: { path: tty } } })];
    },
  },
  {
    title: "the dialled device is off",
    finding: "dial.fault",
    remedy: /switch the device on, and compare its port with/,
    make: async (bench) => {
      bench.devices = [bench.device({ connection: { dial: `127.0.0.1:${await freePort()}` } })];
    },
  },
];

const SERVICE: readonly WrongSetup[] = [
  {
    title: "no service starts the agent",
    finding: "service.missing",
    remedy: /sudo vetwire service install agent/,
    make: (bench) => fakeProgram(bench, "systemctl", "printf 'LoadState=not-found\\nActiveState=inactive\\n'"),
  },
  {
    title: "the service has failed",
    finding: "service.failed",
    remedy: /sudo vetwire service status agent/,
    make: (bench) => fakeService(bench, "failed", "enabled"),
  },
  {
    title: "the service does not start with the machine",
    finding: "service.disabled",
    remedy: /sudo vetwire service start agent/,
    make: (bench) => fakeService(bench, "active", "disabled"),
  },
];

const CARE: readonly WrongSetup[] = [
  {
    title: "no device was added after pairing",
    finding: "configuration.no-devices",
    remedy: /connect the first one on the agent's page: Add a device/,
    make: (bench) => void (bench.devices = []),
  },
  {
    title: "the last backup failed",
    finding: "backup.failed",
    remedy: /the last backup failed: the disk of \/backup is full: delete older backups\n +-> once that is mended/,
    make: (bench) => {
      const last = { at: new Date().toISOString(), file: "b", seconds: 1, bytes: null };
      const error = "the disk of /backup is full: delete older backups";
      backUp(bench, { last: { ...last, error }, succeeded: null });
    },
  },
  {
    title: "no backup was made for days",
    finding: "backup.old",
    remedy: /let the agent run through the day, or run agent backup FILE now/,
    make: (bench) => {
      const last = { at: "2026-01-02T03:00:00.000Z", file: "b", seconds: 1, bytes: 9, error: null };
      backUp(bench, { last, succeeded: last });
    },
  },
];

/** Schedules backups, and writes the outcome of the last one. */
function backUp(bench: Bench, state: object): void {
  bench.config["backup"] = { folder: "./backups" };
  fs.mkdirSync(bench.data, { mode: 0o700 });
  bench.write("data/backup.json", JSON.stringify(state));
}

export const MACHINE = [...CARE, ...CONFIGURATION, ...FOLDER, ...PORTS, ...SERVICE];
