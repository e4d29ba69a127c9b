import type { Logger } from "pino";
import { type Config, type DeviceConfig, DICOM } from "./config/schema.ts";
import { readTls } from "./config/tls-files.ts";
import { Held } from "./connection/memory-budget.ts";
import { recover } from "./connection/recovery.ts";
import { parseAddress } from "./transport/address.ts";
import type { Charset as AstmCharset } from "./protocols/astm/records.ts";
import { Connection, type Send } from "./connection/connection.ts";
import { profileById } from "./devices/index.ts";
import type { Profile } from "./devices/profile.ts";
import { Directives } from "./connection/device-commands.ts";
import { every } from "./runtime/periodic.ts";
import { Filing, type FilingDevice } from "./study/filing.ts";
import type { Charset as Hl7Charset } from "./protocols/hl7/message.ts";
import { Operators } from "./config/operator-list.ts";
import type { Operator } from "./protocols/poct1/topics.ts";
import { type Devices, serve, type Surroundings } from "./connection/device-service.ts";
import type { Spool } from "./spool/spool.ts";
import type { StoredMessage } from "./spool/queries/message-row.ts";
import { realTimer } from "./runtime/timer.ts";
import { repliesOn } from "./transport/reply-connection.ts";
import { serialTransport } from "./transport/serial.ts";
import { dialTransport, listenTransport } from "./transport/tcp.ts";
import type { Transport } from "./transport/transport.ts";
import { Worklist } from "./orders/host-query.ts";

// The devices that send messages: each one's line, and the way of what it sends to a study or to an answer.

/** How often it is asked what was typed for devices: a person waits for it. */
const DIRECTIVES_EVERY_MS = 2_000;

export async function createAnalyzers(around: Surroundings): Promise<Devices> {
  const { config, spool, directory, log, queued } = around;
  const analyzers = analyzersOf(config);
  const filing = new Filing(
    spool,
    directory,
    (id) => analyzers.get(id),
    {
      settled({ device, id: message }, state, studies) {
        log.info({ stage: "study", device, message, state, studies }, "a message was settled");
        queued();
      },
      fault: ({ device, id: message }, err) =>
        log.error({ stage: "read", device, message, err }, "our own fault: message quarantined"),
    },
    config.matchByName,
  );
  const worklist = new Worklist(spool, directory);
  const taken = await spool.call("newsOf", "operators");
  const held = new Held();
  const directives = new Directives(spool);
  let stopDirectives: (() => void) | undefined;

  const serveAnalyzer = (device: DeviceConfig) => {
    const { id } = device;
    const { profile, timeZone } = analyzers.get(id)!;
    return serve(around, id, profile.id, (events, received, child) => {
      const operators = operatorsOf(device, taken, (reason) =>
        child.error({ stage: "message", reason }, "the operators cannot be read: those of before stay"),
      );
      const connected = { id, profile, timeZone, ...(operators === null ? {} : { operators }) };
      const message = (stored: StoredMessage, send: Send) => {
        received(stored.receivedAt);
        // Beside the filing, which may wait for a server: the analyzer waits for its answer.
        return answer(stored, send, connected, worklist, spool, child);
      };
      const own = { ...events, message, file: (stored: StoredMessage) => filing.accept(stored) };
      const connection = new Connection(connected, transportOf(device, profile), spool, own, realTimer, held);
      if (profile.protocol === "poct1a") directives.serve(id, connection);
      return connection;
    });
  };

  return {
    served: config.devices.filter(({ id }) => analyzers.has(id)).map(serveAnalyzer),
    async resume() {
      const recovered = await recover(spool, profileById);
      if (recovered > 0) log.info({ stage: "message", sessions: recovered }, "unfinished sessions were replayed");
      // Before the devices are served, so that each one's order is kept.
      await filing.acceptStored();
      stopDirectives = every(
        DIRECTIVES_EVERY_MS,
        DIRECTIVES_EVERY_MS,
        () => directives.check(),
        (reason) => log.warn({ stage: "spool", reason }, "what was typed for devices cannot be read"),
      );
    },
    rematch: () => filing.rematch([...analyzers.keys()]),
    async stop() {
      stopDirectives?.();
      await filing.stop();
    },
  };
}

/** Gives a device what it asked for, if it asked. */
async function answer(
  message: StoredMessage,
  send: Send,
  { profile, timeZone }: { profile: Profile; timeZone: string },
  worklist: Worklist,
  spool: Spool,
  log: Logger,
): Promise<void> {
  try {
    for (const { message: bytes, accessions } of await worklist.answer(message, profile, timeZone)) {
      send(bytes, () => {
        if (accessions.length > 0) spool.callLater("noteOrders", accessions, "sent");
        log.info({ stage: "message", message: message.id, orders: accessions.length }, "a query was answered");
      });
    }
  } catch (error) {
    log.error({ stage: "message", message: message.id, err: error }, "a query could not be answered");
  }
}

/** The configured analyzers by their ids, each with its profile. */
export function analyzersOf({ devices, timeZone }: Config): ReadonlyMap<string, FilingDevice> {
  const analyzers = devices.filter(({ profile }) => profile !== DICOM);
  return new Map(analyzers.map((device) => [device.id, readAnalyzer(device, timeZone)]));
}

function readAnalyzer(device: DeviceConfig, timeZone: string): FilingDevice {
  const profile = profileById(device.profile);
  if (profile === undefined) throw new Error(`no profile ${device.profile}: the configuration was not checked`);
  return {
    profile: adapted(profile, device),
    timeZone: device.timeZone ?? timeZone,
    model: device.model ?? null,
  };
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

/** Exactly one way, as the configuration's check has made sure. */
function transportOf(device: DeviceConfig, profile: Profile): Transport {
  const { connection, allow } = device;
  const { serial, replies } = connection;
  if (serial !== undefined) {
    // 9600 8N1 is what LIS01-A2 §5.2 asks of every device.
    const usual = { baudRate: 9600, dataBits: 8, parity: "none", stopBits: 1, rtscts: false } as const;
    return serialTransport({ ...usual, ...profile.serial, ...serial });
  }
  const security = device.tls === undefined ? null : readTls(device.tls);
  const tcp = ({ listen, dial }: { listen?: string; dial?: string }) => {
    const address = parseAddress(listen ?? dial ?? "");
    if (address === null) throw new Error("a device without an address: the configuration was not checked");
    return listen !== undefined ? listenTransport(address, allow ?? [], security) : dialTransport(address, security);
  };
  return replies === undefined ? tcp(connection) : repliesOn(tcp(replies), tcp(connection));
}
