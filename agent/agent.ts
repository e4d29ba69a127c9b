import fs from "node:fs";
import type { Logger } from "pino";
import type { Charset as AstmCharset } from "./astm/records.ts";
import type { Config, DeviceConfig } from "./config.ts";
import { DICOM, parseAddress, readTls } from "./config.ts";
import { Connection, type ConnectionEvents, Held, realTimer, recover } from "./connection.ts";
import { profileById } from "./devices/index.ts";
import type { Profile } from "./devices/profile.ts";
import { type DeviceEvents, type DicomDevice, DicomServer } from "./dicom-server.ts";
import { Directives } from "./directives.ts";
import { Directory, syncAppointments } from "./directory.ts";
import { type CommitmentDevice, Commitments } from "./commitment.ts";
import { DicomServices } from "./dicom-services.ts";
import { Filing, type FilingEvents } from "./filing.ts";
import { Forward } from "./forward.ts";
import { Headers } from "./headers.ts";
import { type ImageDevice, ImageFiling } from "./image-filing.ts";
import { ImageStore } from "./image-store.ts";
import type { Charset as Hl7Charset } from "./hl7/message.ts";
import { Operators } from "./operators.ts";
import type { Operator } from "./poct1/lists.ts";
import { Push } from "./push.ts";
import { httpServer } from "./server.ts";
import { isoOrNull, Spool } from "./spool.ts";
import { createMetrics, serveStatus } from "./status.ts";
import {
  dialTransport,
  listenTransport,
  repliesOn,
  type Security,
  serialTransport,
  type Transport,
} from "./transport.ts";
import { Worklist } from "./worklist.ts";

// Builds the running agent out of its parts, and takes it down again.

const DIRECTORY_EVERY_MS = 5 * 60_000;
const DIRECTORY_RETRY_MS = 15_000;
const HEARTBEAT_EVERY_MS = 60_000;
/** A person waits for it. */
const DIRECTIVES_EVERY_MS = 2_000;
const PRUNE_EVERY_MS = 6 * 60 * 60_000;
/** Settled messages and the bytes they came in are kept that long for support and replay; unsettled ones are kept. */
const KEEP_MS = 30 * 24 * 60 * 60_000;
const PRUNE_ROWS = 5_000;
/** Far below what a person notices between the analyzer and the API. */
const GATHER_MS = 200;

export interface RunningAgent {
  /** The status server's port; null when the configuration has none. */
  readonly statusPort: number | null;
  stop(): Promise<void>;
}

/** Starts everything the configuration names. @throws when the data folder is in use or the status port is taken */
export async function startAgent(config: Config, version: string, log: Logger): Promise<RunningAgent> {
  const metrics = createMetrics();
  const spool = await Spool.open(config.data, { onCommit: (ms) => metrics.commits.observe(ms / 1000) });
  const startedAt = Date.now();
  const server = httpServer(config.server.url, () => fs.readFileSync(config.server.keyFile, "utf8").trim());
  const directory = new Directory(spool, server);
  const push = new Push(
    spool,
    server,
    {
      outcome: (outcome) => metrics.pushed.inc({ outcome }),
      failed(kind, reason) {
        metrics.pushFailures.inc({ kind });
        log.error({ stage: "push", kind, reason }, "studies cannot be sent: kept, and tried again");
      },
      recovered: () => log.info({ stage: "push" }, "studies are sent again"),
    },
    { setTimer: realTimer, random: Math.random },
  );
  // The first goes at once; what comes within a moment of it is sent together, for a request costs both programs more than
  // the studies in it, and keeps acknowledgements waiting.
  let gathering: NodeJS.Timeout | null = null;
  let sentAt = Number.NEGATIVE_INFINITY;
  const wakeSoon = () => {
    const wait = Math.max(0, sentAt + GATHER_MS - performance.now());
    gathering ??= setTimeout(() => {
      gathering = null;
      sentAt = performance.now();
      push.wake();
    }, wait);
  };
  const analyzerConfigs = config.devices.filter(({ profile }) => profile !== DICOM);
  const devices = new Map(analyzerConfigs.map((device) => [device.id, readDevice(device, config.timeZone)]));
  const filingEvents: FilingEvents = {
    settled(message, state, studies) {
      log.info(
        { stage: "study", device: message.device, message: message.id, state, studies },
        "a message was settled",
      );
      wakeSoon();
    },
    fault(message, error) {
      log.error(
        { stage: "read", device: message.device, message: message.id, err: error },
        "our own fault: message quarantined",
      );
    },
  };
  const filing = new Filing(spool, directory, (id) => devices.get(id), filingEvents, config.matchByName);

  const worklist = new Worklist(spool, directory);
  const taken = await spool.call("newsOf", "operators");
  const held = new Held();
  const directives = new Directives(spool);
  const analyzers = analyzerConfigs.map((device) => {
    const { id } = device;
    const { profile, timeZone } = readDevice(device, config.timeZone);
    return serve(id, profile.id, (events, received, child) => {
      const transport = transportOf(device, profile);
      const own: ConnectionEvents = {
        ...events,
        message(message, send) {
          received(message.receivedAt);
          void filing.accept(message);
          // Beside the filing, which may wait for a server: the analyzer waits for its answer.
          return worklist.answer(message, profile, timeZone).then(
            (answers) => {
              for (const { message: bytes, accessions } of answers) {
                send(bytes, () => {
                  if (accessions.length > 0) spool.callLater("noteOrders", accessions, "sent");
                  child.info(
                    { stage: "message", message: message.id, orders: accessions.length },
                    "a query was answered",
                  );
                });
              }
            },
            (error: unknown) =>
              child.error({ stage: "message", message: message.id, err: error }, "a query could not be answered"),
          );
        },
      };
      const operators = operatorsOf(device, taken, (reason) =>
        child.error({ stage: "message", reason }, "the operators cannot be read: those of before stay"),
      );
      const connected = { id, profile, timeZone, ...(operators === null ? {} : { operators }) };
      const connection = new Connection(connected, transport, spool, own, realTimer, held);
      if (profile.protocol === "poct1a") directives.serve(id, connection);
      return connection;
    });
  });
  const headers = new Headers();
  const imageDevices = new Map(
    config.devices
      .filter(({ profile }) => profile === DICOM)
      .map((device) => [device.id, readImageDevice(device, config.timeZone)]),
  );
  const imageFiling = new ImageFiling(config.data, spool, headers, directory, (id) => imageDevices.get(id), {
    settled(device, studies, instances) {
      log.info({ stage: "study", device, studies, instances }, "a study of images was settled");
      wakeSoon();
    },
    fault: (error) => log.error({ stage: "read", err: error }, "our own fault: images quarantined"),
  });
  await spool.call(
    "setDestinations",
    config.destinations.map(({ id }) => id),
  );
  const forwards = config.destinations.map((destination) => {
    const child = log.child({ destination: destination.id });
    return new Forward(
      config.data,
      spool,
      destination,
      {
        sent: () => metrics.forwarded.inc({ destination: destination.id, outcome: "sent" }),
        refused(message, reason) {
          metrics.forwarded.inc({ destination: destination.id, outcome: "refused" });
          child.error({ stage: "push", message, reason }, "an image was refused: kept, and not offered again");
        },
        failed: (kind, reason) =>
          child.error({ stage: "push", kind, reason }, "images cannot be forwarded: kept, and tried again"),
        recovered: () => child.info({ stage: "push" }, "images are forwarded again"),
      },
      { setTimer: realTimer, random: Math.random },
    );
  });
  const services = new DicomServices(spool, directory, {
    examined: () => imageFiling.wake(),
  });
  const images = await ImageStore.open(config.data, spool, headers);
  const commitments = new Map(
    [...imageDevices.values()].map((device) => {
      const child = log.child({ device: device.id });
      const events = {
        reported: (transaction: string, failures: number) =>
          child.info({ stage: "message", transaction, failures }, "the device was told which of its images we have"),
        givenUp: (transaction: string) =>
          child.warn({ stage: "message", transaction }, "the device never took the answer to its storage commitment"),
        fault: (error: unknown) => child.error({ stage: "message", err: error }, "our own fault"),
      };
      return [device.id, new Commitments(config.data, spool, device, events)];
    }),
  );
  const imaging = [...imageDevices.values()].map((device) =>
    serve(device.id, DICOM, (events, received, child) => {
      const parts = { store: images, services, commitments: commitments.get(device.id)! };
      return new DicomServer(device, device.transport, parts, {
        ...events,
        kept(at) {
          received(at);
          imageFiling.wake(at + device.quietMs);
          for (const forward of forwards) forward.wake();
        },
        fault: (error) => child.error({ stage: "message", err: error }, "our own fault"),
      });
    }),
  );
  const connections = [...analyzers, ...imaging];

  /** What devices of every kind have: their light in `status`, their counters and their log. */
  function serve(
    id: string,
    profile: string,
    connect: (events: DeviceEvents, received: (at: number) => void, child: Logger) => Connection | DicomServer,
  ) {
    const child = log.child({ device: id });
    let lastMessageAt: number | null = null;
    const state = () => ({ id, profile, connected: connection.connected, lastMessageAt });
    const tell = () => {
      metrics.connected.set({ device: id }, connection.connected ? 1 : 0);
      // The device's light in `status`: not worth stopping for when the disk is full.
      spool.call("setDevice", state()).catch(() => undefined);
    };
    const events: DeviceEvents = {
      connected(peer) {
        child.info({ stage: "chunk", peer }, "the device connected");
        tell();
      },
      disconnected() {
        child.info({ stage: "chunk" }, "the device disconnected");
        tell();
      },
      warning(reason) {
        metrics.warnings.inc({ device: id });
        child.warn({ stage: "message", reason }, "a fault of the device or its line");
      },
    };
    const received = (at: number) => {
      metrics.received.inc({ device: id });
      lastMessageAt = at; // the spool notes it with the message
    };
    const connection: Connection | DicomServer = connect(events, received, child);
    return { connection, tell, state };
  }

  await spool.call("disconnectAll");
  const recovered = await recover(spool, profileById);
  if (recovered > 0) log.info({ stage: "message", sessions: recovered }, "unfinished sessions were replayed");
  // Before the devices are served, so that each one's order is kept: what a crash leaves unsettled is a handful.
  await filing.acceptStored();
  imageFiling.wake();
  for (const waiting of [...forwards, ...commitments.values()]) waiting.wake();
  const status =
    config.status === null
      ? null
      : await serveStatus(config.status, spool, metrics).catch(async (error: unknown) => {
          await spool.close();
          throw error;
        });
  for (const { connection, tell } of connections) {
    tell();
    connection.open();
  }
  const stopLoops = [
    every(
      DIRECTORY_EVERY_MS,
      DIRECTORY_RETRY_MS,
      async () => {
        await directory.sync();
        push.wake();
      },
      (reason) => log.warn({ stage: "directory", reason }, "patients cannot be fetched: the ones on disk are used"),
    ),
    every(
      DIRECTORY_EVERY_MS,
      DIRECTORY_EVERY_MS,
      () => syncAppointments(spool, server, config.timeZone),
      (reason) =>
        log.warn({ stage: "directory", reason }, "today's appointments cannot be fetched: worklists lack them"),
    ),
    every(
      HEARTBEAT_EVERY_MS,
      HEARTBEAT_EVERY_MS,
      () => heartbeat(),
      (reason) => log.debug({ stage: "push", reason }, "no heartbeat"),
    ),
    every(
      DIRECTIVES_EVERY_MS,
      DIRECTIVES_EVERY_MS,
      () => directives.check(),
      (reason) => log.warn({ stage: "spool", reason }, "what was typed for devices cannot be read"),
    ),
    every(
      PRUNE_EVERY_MS,
      PRUNE_EVERY_MS,
      () => prune(spool),
      (reason) => log.warn({ stage: "spool", reason }, "old rows stay"),
    ),
  ];
  log.info({ devices: config.devices.length, version }, "the agent is running");

  async function heartbeat(): Promise<void> {
    const { depth, oldestAt } = await spool.call("outbox");
    await server.post("/agent/v1/heartbeat", {
      version,
      uptime_s: Math.round((Date.now() - startedAt) / 1000),
      outbox: { depth, oldest_at: isoOrNull(oldestAt) },
      devices: connections.map(({ state }) => {
        const { lastMessageAt, ...device } = state();
        return { ...device, last_message_at: isoOrNull(lastMessageAt) };
      }),
    });
  }

  return {
    statusPort: status?.port ?? null,
    async stop() {
      for (const stopLoop of stopLoops) stopLoop();
      await Promise.all(connections.map(({ connection }) => connection.close()));
      await status?.close();
      await filing.idle();
      await imageFiling.stop();
      await Promise.all([...forwards, ...commitments.values()].map((sender) => sender.stop()));
      await headers.close();
      await push.stop();
      await spool.close();
      log.info("the agent has stopped");
    },
  };
}

/** A configured device with its profile. */
export function readDevice(
  device: DeviceConfig,
  timeZone: string,
): { profile: Profile; timeZone: string; model: string | null } {
  const profile = profileById(device.profile);
  if (profile === undefined) throw new Error(`no profile ${device.profile}: the configuration was not checked`);
  return {
    profile: adapted(profile, device),
    timeZone: device.timeZone ?? timeZone,
    model: device.model ?? null,
  };
}

function operatorsOf(
  { id, operators }: DeviceConfig,
  taken: readonly { device: string; name: string; content: string }[],
  problem: (reason: string) => void,
): Operators | null {
  if (operators === undefined) return null;
  const own = taken.filter(({ device }) => device === id);
  const lists = new Map(own.map(({ name, content }) => [name, JSON.parse(content) as Operator[]]));
  return new Operators(operators, lists, problem);
}

/** Devices that call open more than one line each, and lines that say nothing are closed only after a while. */
const IMAGING_LINES_MAX = 128;
const QUIET_SECONDS = 60;

function readImageDevice(
  device: DeviceConfig,
  timeZone: string,
): DicomDevice & ImageDevice & CommitmentDevice & { transport: Transport } {
  const address = parseAddress(device.connection.listen ?? "");
  if (address === null) throw new Error("a DICOM device without an address: the configuration was not checked");
  return {
    id: device.id,
    aeTitle: device.aeTitle ?? "VETWIRE",
    callingAeTitles: device.callingAeTitles ?? [],
    quietMs: (device.quietSeconds ?? QUIET_SECONDS) * 1000,
    timeZone: device.timeZone ?? timeZone,
    modality: device.modality ?? null,
    reportTo: device.reportTo === undefined ? null : parseAddress(device.reportTo),
    transport: listenTransport(address, device.allow ?? [], securityOf(device), IMAGING_LINES_MAX),
  };
}

function securityOf({ tls }: DeviceConfig): Security | null {
  return tls === undefined ? null : readTls(tls);
}

/** The profile with what the configuration knows better; that its names are of the protocol has been checked. */
function adapted(profile: Profile, { charset, ackMode }: DeviceConfig): Profile {
  switch (profile.protocol) {
    case "astm":
      return charset === undefined ? profile : { ...profile, charset: charset as AstmCharset };
    case "hl7": {
      const own = charset === undefined ? {} : { charset: charset as Hl7Charset };
      return { ...profile, link: { ...profile.link, ...own, ...(ackMode === undefined ? {} : { ackMode }) } };
    }
    case "poct1a":
    case "text":
      return profile;
  }
}

/** Exactly one way, as the configuration's check has made sure. */
export function transportOf(device: DeviceConfig, profile: Profile): Transport {
  const { connection, allow } = device;
  const { serial, replies } = connection;
  if (serial !== undefined) {
    // 9600 8N1 is what LIS01-A2 §5.2 asks of every device.
    const usual = { baudRate: 9600, dataBits: 8, parity: "none", stopBits: 1, rtscts: false } as const;
    return serialTransport({ ...usual, ...profile.serial, ...serial });
  }
  const security = securityOf(device);
  const tcp = ({ listen, dial }: { listen?: string; dial?: string }) => {
    const address = parseAddress(listen ?? dial ?? "");
    if (address === null) throw new Error("a device without an address: the configuration was not checked");
    return listen !== undefined ? listenTransport(address, allow ?? [], security) : dialTransport(address, security);
  };
  return replies === undefined ? tcp(connection) : repliesOn(tcp(replies), tcp(connection));
}

/** Runs `task` now and again after each end, sooner after a failure; the answer stops it. A failure is told once a change. */
function every(ms: number, retryMs: number, task: () => Promise<void>, failed: (reason: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let told = "";
  const run = () => {
    task().then(
      () => {
        told = "";
        again(ms);
      },
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== told && !stopped) failed(reason);
        told = reason;
        again(retryMs);
      },
    );
  };
  const again = (after: number) => {
    if (!stopped) timer = setTimeout(run, after);
  };
  run();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** In steps, so that no device waits long for its commit. */
async function prune(spool: Spool): Promise<void> {
  while (await spool.call("prune", Date.now() - KEEP_MS, PRUNE_ROWS)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
