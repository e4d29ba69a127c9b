import type { Logger } from "pino";
import { REGISTRY_FILE_BYTES_MAX } from "../shared/api/agent/registry.ts";
import { foldName } from "../shared/clinical/analytes/analytes.ts";
import { type Config, type DeviceConfig, DICOM } from "./config/values/schema.ts";
import { readTls } from "./config/values/tls-files.ts";
import { MemoryBudget } from "./connection/memory-budget.ts";
import { recover } from "./connection/recovery.ts";
import { fileHeader } from "./protocols/file/file-message.ts";
import type { Charset as Hl7Charset } from "./protocols/hl7/message/charset.ts";
import { foldNumber } from "./report/control.ts";
import { parseAddress } from "./transport/address.ts";
import type { Charset as AstmCharset } from "./protocols/astm/records.ts";
import { Connection } from "./connection/connection.ts";
import type {
  ConnectedDevice,
  DeviceSession,
  MessageHandler,
  SendMessage,
} from "./connection/device/device-session.ts";
import { ownProfile, profileById, takesOrders } from "./devices/index.ts";
import type { Profile } from "./devices/profile.ts";
import { Directives } from "./connection/device-commands.ts";
import { runPeriodically } from "./runtime/periodic.ts";
import type { FilingDevice } from "./study/assess.ts";
import { registryProfile } from "./study/assess-registry.ts";
import { Filing } from "./study/filing.ts";
import { Operators } from "./config/values/operator-list.ts";
import type { Operator } from "./protocols/poct1/topics.ts";
import { type AgentContext, type DeviceGroup, type RunningDevice, startDevice } from "./connection/device-service.ts";
import type { StoredMessage } from "./spool/queries/messages/message-row.ts";
import { withReplyConnection } from "./transport/reply-connection.ts";
import { folderTransport, type WatchedFolder } from "./transport/folder/folder-transport.ts";
import type { FileProfile } from "./protocols/file/profile.ts";
import { isWholeFile } from "./protocols/file/whole-file.ts";
import { serialTransport, USUAL_SETTINGS } from "./transport/serial.ts";
import { connectionsOfGroup } from "./runtime/connection-share.ts";
import { CONNECTIONS_MAX, dialTransport, listenTransport } from "./transport/tcp.ts";
import type { Transport } from "./transport/transport.ts";
import { profileFault } from "./states/line-state.ts";
import { HostQueries } from "./study/orders/host-query.ts";

// The devices that send messages: the transport of each, and the stages from its messages to studies and replies.

/** Interval between checks for directives. A user waits for the effect of the command. */
const DIRECTIVES_EVERY_MS = 2_000;

type Analyzers = ReadonlyMap<string, FilingDevice>;

/** Dependencies shared by all analyzers. */
interface AnalyzerContext extends AgentContext {
  readonly transportOf: typeof createTransport;
  /** See listenTransport(). */
  readonly connectionsMax: number;
  readonly analyzers: Analyzers;
  readonly filing: Filing;
  readonly hostQueries: HostQueries;
  readonly directives: Directives;
  readonly memory: MemoryBudget;
  readonly operatorLists: readonly StoredOperatorList[];
  readonly sessions: Map<string, DeviceSession>;
}

interface StoredOperatorList {
  readonly device: string;
  readonly name: string;
  /** JSON */
  readonly content: string;
}

/** `transportOf` returns the line to a device. */
export async function createAnalyzers(agent: AgentContext, transportOf = createTransport): Promise<DeviceGroup> {
  const { config, spool, directory } = agent;
  const analyzers = analyzersOf(config);
  const sessions = new Map<string, DeviceSession>();
  const context: AnalyzerContext = {
    ...agent,
    transportOf,
    connectionsMax: connectionsOfGroup(config.devices.length, CONNECTIONS_MAX),
    analyzers,
    filing: createFiling(agent, analyzers, sessions),
    hostQueries: new HostQueries(spool, directory),
    directives: new Directives(spool),
    memory: new MemoryBudget(),
    operatorLists: await spool.call("deviceReports", "operators"),
    sessions,
  };
  const configured = config.devices.filter(({ profile }) => profile !== DICOM);
  return analyzerGroup(
    context,
    configured.map((device) => {
      const analyzer = analyzers.get(device.id);
      return analyzer === undefined ? withoutProfile(device, context) : startAnalyzer(device, analyzer, context);
    }),
  );
}

/** A device whose own profile cannot be used: it says so and stays closed, since no other profile may read its bytes. */
function withoutProfile({ id, profile }: DeviceConfig, context: AnalyzerContext): RunningDevice {
  const read = ownProfile(profile);
  const fault = profileFault(profile, "problems" in read ? read : { code: "PROFILE.MISSING", problems: [] });
  return startDevice(context, id, profile, (session) => ({
    connected: false,
    isWithinMessage: false,
    open() {
      session.lineChanged(fault);
      session.log.error({ stage: "read", code: fault.code, reason: fault.reason }, "the device does not start");
    },
    close: async () => undefined,
  }));
}

function createFiling(
  { config, spool, directory, log, queued, changesQueued }: AgentContext,
  analyzers: Analyzers,
  sessions: ReadonlyMap<string, DeviceSession>,
): Filing {
  const isPractice = (id: string) => {
    const profile = analyzers.get(id)?.profile;
    return profile !== undefined && registryProfile(profile) !== null;
  };
  return new Filing(
    spool,
    directory,
    (id) => analyzers.get(id),
    {
      outcomeStored({ device, id: message }, state, studies) {
        log.info({ stage: "study", device, message, state, studies }, "the outcome of a message was stored");
        if (isPractice(device)) changesQueued();
        else queued();
      },
      fault: ({ device, id: message }, err) =>
        log.error({ stage: "read", device, message, err }, "internal error: message quarantined"),
      suspectTime: (device, time) =>
        sessions.get(device)?.warning(`the device dates a result ${time}: set its date and time`),
    },
    config.matchPatientsByName,
  );
}

function startAnalyzer(
  device: DeviceConfig,
  { profile, timeZone }: FilingDevice,
  context: AnalyzerContext,
): RunningDevice {
  const { spool, now, directives, memory, operatorLists, sessions } = context;
  return startDevice(context, device.id, profile.id, (session) => {
    sessions.set(device.id, session);
    const operators = operatorsOf(device, operatorLists, (reason) =>
      session.log.error({ stage: "message", reason }, "operator list not readable: the last one stays in use"),
    );
    const connected = { id: device.id, profile, timeZone, ...(operators === null ? {} : { operators }) };
    const messages = messageHandler(connected, session, context);
    const transport = context.transportOf(device, profile, context.connectionsMax);
    const connection = new Connection(connected, transport, { spool, events: session, messages, now, memory });
    if (profile.protocol === "poct1a") directives.add(device.id, connection);
    return connection;
  });
}

/** Replies to queries without waiting for the filing, which may wait for the server. The analyzer waits for the reply. */
function messageHandler(device: ConnectedDevice, session: DeviceSession, context: AnalyzerContext): MessageHandler {
  return {
    message(stored, send) {
      session.received(stored.receivedAt);
      return replyToQuery(stored, send, device, session.log, context);
    },
    file: (stored) => context.filing.accept(stored),
  };
}

function analyzerGroup(context: AnalyzerContext, devices: readonly RunningDevice[]): DeviceGroup {
  const { analyzers, spool, filing, directives, log } = context;
  const waiting = new Set(devices.map((device) => device.state().id).filter((id) => !analyzers.has(id)));
  let stopDirectives: (() => void) | undefined;
  return {
    devices,
    async resume() {
      const recovered = await recover(spool, profileById);
      if (recovered > 0) log.info({ stage: "message", sessions: recovered }, "unfinished sessions were replayed");
      // Stored messages precede the messages of open devices, so that each device's order stays.
      await filing.acceptStored(waiting);
      stopDirectives = runPeriodically(
        DIRECTIVES_EVERY_MS,
        DIRECTIVES_EVERY_MS,
        () => directives.check(),
        (reason) => log.warn({ stage: "spool", reason }, "directives for devices cannot be read"),
      );
    },
    rematch: () => filing.rematch([...analyzers.keys()]),
    async stop() {
      stopDirectives?.();
      await filing.stop();
    },
  };
}

/** Sends the replies to a message that is a query. */
async function replyToQuery(
  message: StoredMessage,
  send: SendMessage,
  { profile, timeZone }: ConnectedDevice,
  log: Logger,
  { hostQueries, spool }: AnalyzerContext,
): Promise<void> {
  try {
    for (const { message: bytes, accessions } of await hostQueries.reply(message, profile, timeZone)) {
      send(bytes, () => {
        if (accessions.length > 0) spool.callLater("noteSentOrders", accessions, message.device, Date.now());
        log.info(
          { stage: "message", message: message.id, orders: accessions.length },
          "the device took the reply to its query",
        );
      });
    }
  } catch (error) {
    log.error({ stage: "message", message: message.id, err: error }, "a query gets no reply");
  }
}

/** @returns the configured analyzers by id, each with its profile, without those whose own profile cannot be used */
export function analyzersOf({ devices, timeZone }: Config): ReadonlyMap<string, FilingDevice> {
  const analyzers = devices.filter(({ profile }) => profile !== DICOM);
  return new Map(
    analyzers.flatMap((device) => {
      const profile = profileById(device.profile);
      return profile === undefined ? [] : [[device.id, readAnalyzer(device, profile, timeZone)] as const];
    }),
  );
}

function readAnalyzer(device: DeviceConfig, profile: Profile, timeZone: string): FilingDevice {
  return {
    profile: adapted(takesOrders(device) ? profile : withoutOrders(profile), device),
    timeZone: device.timeZone ?? timeZone,
    model: device.model ?? null,
    ...(device.codes === undefined ? {} : { codes: taughtCodes(device.codes) }),
    matchBySampleId: device.matchBySampleId ?? false,
    ...(device.controls === undefined ? {} : { controls: new Set(device.controls.map(foldNumber)) }),
  };
}

/** @returns the profile as one of a device that takes no orders */
function withoutOrders(profile: Profile): Profile {
  if (!("orders" in profile)) return profile;
  const { orders: _, ...others } = profile;
  return others;
}

/** @returns the clinic's codes as reading looks them up */
function taughtCodes(codes: NonNullable<DeviceConfig["codes"]>): ReadonlyMap<string, string> {
  return new Map(Object.entries(codes).map(([code, analyte]) => [foldName(code.trim()), analyte]));
}

/** @returns the profile with the settings of agent.yaml. The configuration check holds their values to the protocol. */
function adapted(profile: Profile, { charset, ackMode, practice }: DeviceConfig): Profile {
  switch (profile.protocol) {
    case "astm":
      return charset === undefined ? profile : { ...profile, charset: charset as AstmCharset };
    case "hl7": {
      const own = charset === undefined ? {} : { charset: charset as Hl7Charset };
      const link = { ...profile.link, ...own, ...(ackMode === undefined ? {} : { ackMode }) };
      return profile.registry === undefined
        ? { ...profile, link }
        : { ...profile, link, registry: { ...profile.registry, ...practice } };
    }
    case "poct1a":
    case "text":
    case "file":
      return profile;
  }
}

function operatorsOf(
  { id, operatorListFile }: DeviceConfig,
  stored: readonly StoredOperatorList[],
  problem: (reason: string) => void,
): Operators | null {
  if (operatorListFile === undefined) return null;
  const own = stored.filter(({ device }) => device === id);
  const lists = new Map(own.map(({ name, content }) => [name, JSON.parse(content) as Operator[]]));
  return new Operators(operatorListFile, lists, problem);
}

/** Creates the transport of a device. The configuration check holds a connection to exactly one kind. */
function createTransport(device: DeviceConfig, profile: Profile, connectionsMax: number): Transport {
  const { connection, allow } = device;
  const { serial, replyConnection: replies, folder, leave = false } = connection;
  if (folder !== undefined && profile.protocol === "file") {
    return folderTransport({ path: folder, ...profile.link, leave, header: fileHeader, ...filesOf(profile) });
  }
  if (serial !== undefined) {
    // LIS01-A2 §5.2 requires 9600 8N1 of every device.
    return serialTransport({ ...USUAL_SETTINGS, ...profile.serial, ...serial });
  }
  const security = device.tls === undefined ? null : readTls(device.tls);
  const tcp = ({ listen, dial }: { listen?: string; dial?: string }) => {
    const address = parseAddress(listen ?? dial ?? "");
    if (address === null) throw new Error("device without an address: expected a checked configuration");
    if (listen === undefined) return dialTransport(address, security);
    return listenTransport(address, allow ?? [], security, connectionsMax);
  };
  return replies === undefined ? tcp(connection) : withReplyConnection(tcp(connection), tcp(replies));
}

/** Max bytes of a file of results: each change of a file that grows is stored as a whole. */
const RESULT_FILE_BYTES_MAX = 4 * 1024 * 1024;

/** Returns which files of a folder are taken, and when they are complete. */
function filesOf(profile: FileProfile): Pick<WatchedFolder, "bytesMax" | "whenTooLarge" | "isWhole"> {
  if (profile.content === "registry") {
    const whenTooLarge = "export fewer lines, or import the file at the dashboard";
    return { bytesMax: REGISTRY_FILE_BYTES_MAX, whenTooLarge };
  }
  return {
    bytesMax: RESULT_FILE_BYTES_MAX,
    whenTooLarge: "let its program begin a new file",
    isWhole: (name, bytes) => isWholeFile(name, bytes, profile),
  };
}
