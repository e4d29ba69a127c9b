import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { imageFolder } from "../../../agent/imaging/files/image-folder.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { type Dataset, encodeDataset } from "../../../agent/protocols/dicom/encode.ts";
import {
  encodeAbort,
  encodeAssociateRequest,
  encodeData,
  encodeReleaseRequest,
} from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { generateInstance } from "../../../agent/tools/simulator/generated-study.ts";
import { dcmtk, run } from "../../support/protocols/dcmtk.ts";
import {
  associateRequest,
  CR_STORAGE,
  dataset,
  encodeEchoRequest,
  encodeStoreRequest,
  EXPLICIT,
  Peer,
  storeRequest,
} from "../../support/protocols/dicom.ts";
import { generatedFile } from "../../support/runner/generated-file.ts";
import { freePort, temporaryFolder, until, World } from "../../support/machine/processes.ts";
import { canMount, mountDisk } from "../../support/machine/small-disk.ts";
import { soakCount } from "../../support/runner/soak.ts";

// Goal: no fault of a peer, the agent or the disk loses an acknowledged image or blocks another peer. Method: an agent process.
// After each fault the next client is served, and the files are compared byte by byte.

let world: World;
let port: number;

beforeAll(async () => {
  world = await World.create(1);
  port = await freePort();
  world.writeConfig([
    {
      id: "xray",
      profile: "dicom",
      connection: { listen: `127.0.0.1:${port}` },
      aeTitle: "VETWIRE",
      quietSeconds: 1,
    },
  ]);
  await world.startAgent();
});

afterAll(() => world.end());

const peer = () => ["-aec", "VETWIRE", "127.0.0.1", String(port)];
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const files = () => fs.readdirSync(imageFolder(world.agentData));

/** Returns the digests of the stored datasets, without the file heads of the agent. */
function keptDatasets(): string[] {
  return files().map((name) => {
    const bytes = fs.readFileSync(path.join(imageFolder(world.agentData), name));
    return sha256(bytes.subarray(132 + 12 + bytes.readUInt32LE(140)));
  });
}

/** Checks that the next client is served. */
async function serves(): Promise<void> {
  const next = await Peer.connect(port);
  next.send(encodeAssociateRequest(associateRequest([["1.2.840.10008.1.1", EXPLICIT]])));
  expect((await next.next())?.is).toBe("associate-accept");
  next.send(encodeData({ context: 1, part: "command", bytes: encodeEchoRequest(1), last: true }, 0));
  expect(await next.status()).toBe(STATUS.success);
  next.send(encodeReleaseRequest());
  expect((await next.next())?.is).toBe("release-response");
  next.end();
}

const pixels = (length: number): Dataset => [
  [0x7fe0_0010, "OW", Uint8Array.from({ length }, (_, at) => (at * 7) & 0xff)],
];

/** Encodes a dataset in values of `valueBytes` bytes, ten per PDU. */
function severalInOne(bytes: Uint8Array, valueBytes: number): Buffer {
  const values: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += valueBytes) {
    const value = bytes.subarray(at, at + valueBytes);
    const head = Buffer.alloc(6);
    head.writeUInt32BE(value.length + 2);
    head.set([1, at + valueBytes >= bytes.length ? 2 : 0], 4);
    values.push(Buffer.concat([head, value]));
  }
  const pdus: Buffer[] = [];
  for (let at = 0; at < values.length; at += 10) {
    const body = Buffer.concat(values.slice(at, at + 10));
    const head = Buffer.from([4, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(body.length, 2);
    pdus.push(head, body);
  }
  return Buffer.concat(pdus);
}

describe("invalid input", () => {
  afterEach(() => serves());

  const hex = (text: string) => Buffer.from(text.replace(/\s/g, ""), "hex");

  test("a UID that is a path creates no file", async () => {
    const escaped = () =>
      fs.readdirSync(world.folder, { recursive: true }).filter((name) => /pwned|\.\.$/.test(String(name)));
    const sender = await Peer.associate(port);
    sender.send(storeRequest(1, "../../pwned", dataset("../../pwned")));
    expect(await sender.status()).toBe(STATUS.invalidInstance);
    expect(escaped()).toEqual([]);
    // The same path as Study Instance UID.
    const study = encodeDataset([
      [0x0008_0016, "UI", CR_STORAGE],
      [0x0008_0018, "UI", "1.2.3.1"],
      [0x0020_000d, "UI", "../../pwned"],
    ]);
    sender.send(storeRequest(1, "1.2.3.1", study));
    expect(await sender.status()).toBe(STATUS.cannotUnderstand);
    expect(escaped()).toEqual([]);
    sender.end();
  });

  test.each<[string, Uint8Array]>([
    ["HTTP", Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n")],
    ["an association request of 4 GB", hex("0100 ffffffff")],
    ["a release before any request", Buffer.from(encodeReleaseRequest())],
  ])("%s gets an A-ABORT", async (_, sent) => {
    const sender = await Peer.connect(port);
    sender.send(sent);
    expect((await sender.next())?.is).toBe("abort");
    sender.end();
  });

  test("data of 1 GB, a second request and a dataset without command end an association", async () => {
    const request = encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]]));
    const alone = encodeData({ context: 1, part: "dataset", bytes: dataset(), last: true }, 0);
    for (const sent of [hex("0400 40000000"), request, alone]) {
      const sender = await Peer.associate(port);
      sender.send(sent);
      expect((await sender.next())?.is).toBe("abort");
      sender.end();
    }
  });

  test("an instance that an abort or a disconnect interrupts leaves no file", async () => {
    const before = files();
    const half = Buffer.concat([
      encodeData({ context: 1, part: "command", bytes: encodeStoreRequest(1, CR_STORAGE, "1.2.3.1"), last: true }, 0),
      encodeData({ context: 1, part: "dataset", bytes: dataset("1.2.3.1", pixels(2_000_000)), last: false }, 0),
    ]);
    for (const end of [(sender: Peer) => sender.send(encodeAbort(0, 0)), (sender: Peer) => sender.end()]) {
      const sender = await Peer.associate(port);
      sender.send(half);
      await until("the partial file exists", () => files().length > before.length);
      end(sender);
      await until("the partial file is removed", () => files().length === before.length);
      sender.end();
    }
    expect(files()).toEqual(before);
  });
});

test("50 silent sockets and 16 idle associations block new associations only until one ends", async () => {
  const silent = Array.from({ length: 50 }, () => net.connect(port, "127.0.0.1"));
  await serves();
  const title = (index: number) => ({ callingAe: `US${Math.floor(index / 4)}` });
  const idle = await Promise.all(
    Array.from({ length: 16 }, async (_, index) => {
      const one = await Peer.connect(port);
      one.send(encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]], title(index))));
      expect((await one.next())?.is).toBe("associate-accept");
      return one;
    }),
  );
  const late = await Peer.connect(port);
  late.send(encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]])));
  expect(await late.next()).toEqual({ is: "associate-reject", reject: { result: 2, source: 3, reason: 2 } });
  idle[0]!.end();
  await until("the agent accepts an association again", async () => {
    const next = await Peer.connect(port);
    next.send(encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]])));
    const response = await next.next();
    next.end();
    return response?.is === "associate-accept";
  });
  for (const one of [...idle, late]) one.end();
  for (const socket of silent) socket.destroy();
});

const KILLS = soakCount(30);

test.skipIf(!dcmtk)(
  "every acknowledged instance survives repeated kills of the agent, bit-exact",
  { timeout: 40_000 * KILLS },
  async () => {
    const folder = temporaryFolder();
    const patient = { id: "no such", name: "Rex", species: "dog" };
    const acknowledged = new Set<string>();
    for (let cycle = 1; cycle <= KILLS; cycle++) {
      const study = { patient, uid: `1.2.826.0.1.3680043.9.9998.${cycle}`, at: "20261121101500" };
      const sent = new Map<string, string>();
      for (let number = 1; number <= 150; number++) {
        const instance = generateInstance("cr", study, number);
        const file = path.join(folder, `${cycle}-${number}.dcm`);
        fs.writeFileSync(file, generatedFile(instance));
        sent.set(file, sha256(instance.dataset));
      }
      const stored = () => files().filter((name) => name.endsWith(".dcm")).length;
      const enough = stored() + 15 + 10 * (cycle % 6);
      const sending = run("storescu", "-v", ...peer(), ...sent.keys());
      await until("some instances are stored", () => stored() >= enough, 60_000);
      await world.agent.end("SIGKILL");
      const { output } = await sending;
      for (const [, file] of output.matchAll(
        /Sending file: (\S+)(?:(?!Sending file)[\s\S])*?Received Store Response \(Success\)/g,
      )) {
        acknowledged.add(sent.get(file!)!);
      }
      await world.startAgent();
      expect(files().filter((name) => !name.endsWith(".dcm"))).toEqual([]);
    }
    expect(acknowledged.size).toBeGreaterThan(20);
    const kept = new Set(keptDatasets());
    expect([...acknowledged].filter((digest) => !kept.has(digest))).toEqual([]);
    const messages = new Set(world.messages().map(({ id }) => `${id}.dcm`));
    expect(files().filter((name) => !messages.has(name))).toEqual([]);
    // The idle time of the last study started before the kill.
    await until("no message is pending", () => world.messages().every(({ state }) => state !== "pending"), 60_000);
    expect(new Set(world.messages().map(({ state }) => state))).toEqual(new Set(["unmatched"]));
    fs.rmSync(folder, { recursive: true });
  },
);

/** Library for LD_PRELOAD that slows each write to an instance file by 50 ms. */
const SLOW_DISK = `
  #define _GNU_SOURCE
  #include <dlfcn.h>
  #include <stdio.h>
  #include <string.h>
  #include <sys/uio.h>
  #include <unistd.h>
  static void wait_for_disk(int fd) {
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name);
    if (length > 5 && memcmp(name + length - 5, ".part", 5) == 0) usleep(50000);
  }
  #define SLOW(name, parameters, arguments) \\
    ssize_t name parameters { \\
      ssize_t (*real) parameters = dlsym(RTLD_NEXT, #name); \\
      wait_for_disk(fd); \\
      return real arguments; \\
    }
  SLOW(write, (int fd, const void *bytes, size_t count), (fd, bytes, count))
  SLOW(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
  SLOW(pwrite64, (int fd, const void *bytes, size_t count, off64_t at), (fd, bytes, count, at))
  SLOW(pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
`;

const slowDisk = compileSlowDisk();
if (slowDisk === null) process.stdout.write("dicom: slow disk: skipped, no C compiler or no LD_PRELOAD\n");

function compileSlowDisk(): string | null {
  const folder = temporaryFolder();
  const library = path.join(folder, "slow-disk.so");
  try {
    fs.writeFileSync(path.join(folder, "slow-disk.c"), SLOW_DISK);
    execFileSync("cc", ["-shared", "-fPIC", "-o", library, path.join(folder, "slow-disk.c"), "-ldl"], {
      stdio: "ignore",
    });
    return process.platform === "linux" ? library : null;
  } catch {
    return null;
  }
}

afterAll(() => {
  if (slowDisk !== null) fs.rmSync(path.dirname(slowDisk), { recursive: true });
});

test.skipIf(slowDisk === null)(
  "a disk slower than the device pauses the device, and the instance is stored bit-exact",
  { timeout: 120_000 },
  async () => {
    await world.agent.end();
    process.env["LD_PRELOAD"] = slowDisk!;
    try {
      await world.startAgent();
    } finally {
      delete process.env["LD_PRELOAD"];
    }
    const bytes = dataset("1.2.3.11", pixels(16_000_000));
    const sender = await Peer.associate(port);
    const from = performance.now();
    sender.send(
      encodeData({ context: 1, part: "command", bytes: encodeStoreRequest(1, CR_STORAGE, "1.2.3.11"), last: true }, 0),
    );
    sender.send(severalInOne(bytes, 4_000));
    expect(await sender.status()).toBe(STATUS.success);
    // The agent buffers about 4 MB, so the writes of the other 12 MB precede the response: 48 of 256 kB.
    expect(performance.now() - from).toBeGreaterThan(1_500);
    expect(keptDatasets()).toContain(sha256(bytes));
    sender.end();
    await world.agent.end(); // each later test starts another agent
  },
);

const mounted = canMount();
if (!mounted) process.stdout.write("dicom: full disk: skipped, cannot mount a tmpfs\n");

test.skipIf(!mounted)(
  "an instance on a full disk gets A700, leaves no file and is stored once space is free",
  async () => {
    const folder = imageFolder(world.agentData);
    await world.agent.end();
    mountDisk(folder, 1);
    try {
      await world.startAgent();
      const sender = await Peer.associate(port);
      const store = async (number: number, length: number) => {
        sender.send(storeRequest(1, `1.2.4.${number}`, dataset(`1.2.4.${number}`, pixels(length))));
        return sender.status();
      };
      expect(await store(1, 500_000)).toBe(STATUS.success);
      expect(await store(2, 600_000)).toBe(STATUS.outOfResources);
      expect(await store(3, 5_000_000)).toBe(STATUS.outOfResources);
      expect(files()).toHaveLength(1);
      expect(await store(4, 100_000)).toBe(STATUS.success);
      fs.unlinkSync(path.join(folder, files()[0]!));
      expect(await store(2, 600_000)).toBe(STATUS.success);
      expect(files()).toHaveLength(2);
      sender.end();
    } finally {
      await world.agent.end();
      execFileSync("umount", [folder]);
    }
  },
);

test.skipIf(!mounted)(
  "an instance below the reserved space gets A700, leaves no file and is stored once space is free",
  async () => {
    const folder = imageFolder(world.agentData);
    const config = fs.readFileSync(world.config, "utf8");
    mountDisk(folder, 4);
    try {
      fs.writeFileSync(world.config, JSON.stringify({ ...JSON.parse(config), images: { minFreeGigabytes: 0.002 } }));
      await world.startAgent();
      const sender = await Peer.associate(port);
      const store = async (number: number) => {
        sender.send(storeRequest(1, `1.2.5.${number}`, dataset(`1.2.5.${number}`, pixels(900_000))));
        return sender.status();
      };
      const statuses: (number | string)[] = [];
      for (let number = 1; number <= 4; number++) statuses.push(await store(number));
      // The disk has 4.2 MB, of which 2 MB stay free. The third instance starts with 2.4 MB free.
      expect(statuses).toEqual([STATUS.success, STATUS.success, STATUS.success, STATUS.outOfResources]);
      expect(files()).toHaveLength(3);
      fs.unlinkSync(path.join(folder, files()[0]!));
      expect(await store(4)).toBe(STATUS.success);
      expect(files()).toHaveLength(3);
      sender.end();
    } finally {
      await world.agent.end();
      execFileSync("umount", [folder]);
      fs.writeFileSync(world.config, config);
    }
  },
);
