import fs from "node:fs";
import path from "node:path";
import { setInterval } from "node:timers/promises";
import { Command, Option } from "commander";
import { pino } from "pino";
import { createLog } from "../../shared/runtime/log.ts";
import type { Patient } from "../../shared/api/patient.ts";
import { printable, printableJson, printableLines } from "../../shared/runtime/printable.ts";
import { reasonOf } from "../../shared/runtime/error-message.ts";
import { VERSION } from "../../shared/runtime/version.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { readSpool, writeSpool } from "../spool/access.ts";
import { readStatus } from "../spool/queries/status.ts";
import { type Address, parseAddress } from "../transport/address.ts";
import { startAgent } from "../agent.ts";
import { analyzersOf } from "../analyzers.ts";
import { capture } from "../tools/fixture/capture.ts";
import { profileById, profiles } from "../devices/index.ts";
import { awaitDirective, placeDirective } from "../connection/device-commands.ts";
import { explain } from "../tools/offline/explain.ts";
import { exposures } from "../config/exposures.ts";
import { type Faults, FaultyLine, parseFaults } from "../tools/simulator/fault-injection.ts";
import { STUDY_KINDS } from "../tools/simulator/generated-study.ts";
import { imagingOf } from "../imaging-devices.ts";
import { countImages, drawableImages, exportImages, listImages, previewImage } from "../imaging/catalogue.ts";
import { listenTo } from "../tools/listen.ts";
import { listPorts } from "../transport/serial-ports.ts";
import { isWanted, MessageFeed, messageTable } from "./message-list.ts";
import { type OrderRequest, placeOrder } from "../tools/offline/place-order.ts";
import { recordAssociation } from "../tools/simulator/record-association.ts";
import { replay } from "../tools/offline/replay.ts";
import { reassess, store } from "../tools/offline/reprocess.ts";
import { type DicomTarget, parseDicomTarget, parseKinds, playModality } from "../tools/simulator/modality.ts";
import { parseHabits, playPoct1Device } from "../tools/simulator/poct1.ts";
import { openLine, playDevice, type Played, playHost, type Received } from "../tools/simulator/analyzer.ts";
import { playHl7Device, playLis } from "../tools/simulator/hl7.ts";
import { lineText, suggest } from "../detection/detect.ts";
import { MESSAGE_STATES, type MessageState } from "../spool/queries/message-outcome.ts";
import { statusLines } from "./status-text.ts";
import { parseTalk, playTalk } from "../protocols/transcript.ts";
import { writeTime } from "../report/device-time.ts";

// The command line of the agent. Results go to stdout, everything else to stderr.

/** sysexits.h EX_CONFIG: service managers do not restart on it. */
const EXIT_CONFIG = 78;
/** By then a connected device has taken it, or refused it three times. */
const DIRECTIVE_WAIT_MS = 20_000;
/** How often `messages --follow` looks at the spool. */
const FOLLOW_MS = 500;

/** The same for every command that reads the configuration. */
const configOption = () => new Option("--config <file>", "the configuration").default("./agent.yaml");

const program = new Command("agent")
  .description("Carries results from a clinic's devices to the Vetwire server")
  .version(VERSION);

program
  .command("run")
  .description("serve the devices of the configuration until SIGINT or SIGTERM")
  .addOption(configOption())
  .action(async (options: { config: string }) => {
    const config = configOrExit(options.config);
    const log = createLog({
      level: process.env["LOG_LEVEL"] ?? "info",
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
    });
    const agent = await startAgent(config, VERSION, log);
    let stopping = false;
    const stop = () => {
      if (stopping) return;
      stopping = true;
      agent.stop().then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      );
    };
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
  });

program
  .command("check")
  .description("find every problem of a configuration at once")
  .addOption(configOption())
  .action((options: { config: string }) => {
    const config = configOrExit(options.config);
    for (const warning of exposures(config)) tell(`warning: ${warning}`);
    print(`${options.config} is right: ${config.devices.length} device${config.devices.length === 1 ? "" : "s"}`);
  });

program
  .command("simulate [fixture]")
  .description(
    `play a fixture or a .talk as the device, be the host that a device sends to, or send images of a made-up study (some of ${STUDY_KINDS.join(",")})`,
  )
  .requiredOption(
    "--to <target>",
    "tcp://host:port (dialled), listen://host:port, serial:PATH or dicom://CALLING@host:port/CALLED",
  )
  .option(
    "--role <role>",
    "device, or host (ASTM) or lis (HL7): takes messages and answers a query with the fixture",
    "device",
  )
  .option("--repeat <n>", "how many times, as host how many messages", positiveInteger, 1)
  .option("--baud <rate>", "of the serial port", positiveInteger, 9600)
  .option("--faults <list>", "what goes wrong: drop-ack:P,flip:P,split:BYTES,delay:MS,contend,noise,dup", parseFaults)
  .option(
    "--habits <list>",
    "of a POCT1-A device: strict, ack-request, no-ack-request, ack-eot, no-ack-eot",
    parseHabits,
  )
  .option("--seed <n>", "of the faults; the same one does the same again", positiveInteger)
  .option("--patient <id>", "whose images these are", "4711")
  .option("--species <words>", "of that animal, in the device's words", "Canine")
  .action(simulate);

program
  .command("record")
  .description("stand between an imaging device and its receiver, and print one association as a fixture: a PDU a line")
  .requiredOption("--listen <address>", "host:port that the device is told to call", addressOrThrow)
  .requiredOption("--to <address>", "host:port of the receiver", addressOrThrow)
  .action(async ({ listen, to }: { listen: Address; to: Address }) => {
    const recording = await recordAssociation(listen, to);
    for (const line of await recording.lines) print(line);
  });

program
  .command("ports")
  .description("list the serial ports; the first path of a port stays the same when it is plugged in again")
  .option("--json", "as a JSON array")
  .action(async (options: { json?: boolean }) => {
    const ports = await listPorts();
    if (options.json) return printJson(ports);
    for (const { path: tty, by_id, vendor, vendor_id, product_id, serial_number } of ports) {
      const usb = vendor_id === null ? null : `${vendor_id}:${product_id ?? ""}`;
      const parts = [by_id ?? tty, by_id === null ? null : tty, vendor, usb, serial_number];
      print(parts.filter((part) => part !== null).join("  "));
    }
    tell(`${ports.length} serial port${ports.length === 1 ? "" : "s"}`);
  });

program
  .command("replay <fixture>")
  .description("print the study a fixture becomes; nothing is sent")
  .requiredOption("--profile <id>", profiles.map(({ id }) => id).join(", "))
  .option("--time-zone <zone>", "of the device's clock", "UTC")
  .option("--species <species>", "take the animal to be of that species, for ranges and flags")
  .option("--born <date>", "its date of birth, YYYY-MM-DD")
  .action((fixture: string, options: { profile: string; timeZone: string; species?: string; born?: string }) => {
    const profile = profileById(options.profile);
    if (profile === undefined)
      throw new Error(`--profile is ${options.profile}, expected one of ${profiles.map(({ id }) => id).join(", ")}`);
    const context = { device: "replay", timeZone: options.timeZone, receivedAt: Date.now() };
    const patient = options.species === undefined ? null : anAnimal(options.species, options.born ?? null);
    const { warnings, messages } = replay([fs.readFileSync(fixture)], profile, context, patient);
    for (const warning of warnings) tell(`warning: ${warning}`);
    for (const { reading, studies, withoutFlag } of messages) {
      if (reading.is !== "reports") tell(`${reading.is}: ${reading.reason}`);
      else
        for (const note of [
          ...reading.notes,
          ...reading.reports.flatMap((report) => [
            ...report.unmapped.map((code) => `unmapped: ${code}`),
            ...report.leftOut,
            ...report.notes,
          ]),
        ])
          tell(`note: ${note}`);
      for (const reason of withoutFlag) tell(`no flag: ${reason}`);
      for (const study of studies) printJson(study);
    }
    if (messages.length === 0) tell("no message: the bytes hold no complete or begun H record");
  });

program
  .command("sniff")
  .description("listen to a device, answer nothing, and say what it may be speaking")
  .requiredOption("--connection <target>", "tcp://host:port (dialled), listen://host:port or serial:PATH")
  .option("--seconds <n>", "how long, for each of a serial port's settings", positiveInteger, 20)
  .action(async (options: { connection: string; seconds: number }) => {
    const heard = await listenTo(options.connection, options.seconds, tell);
    const bytes = heard.reduce((sum, sample) => sum + sample.bytes.length, 0);
    const suggestions = suggest(heard);
    for (const { score, line, protocol, profiles: ids, reasons } of suggestions) {
      const setting = line === null ? [] : [lineText(line)];
      print(
        [String(score).padStart(3), ...setting, protocol, ids.join(" or ") || "no profile", reasons.join("; ")].join(
          "  ",
        ),
      );
    }
    if (suggestions.length === 0) tell(`nothing that is known came, in ${bytes} bytes`);
    else tell("suggestions only: nothing was answered and nothing was changed");
  });

program
  .command("order")
  .description(
    "order tests of a patient's sample; the device gets them when it asks, the result finds the patient by the accession",
  )
  .addOption(configOption())
  .requiredOption("--device <id>", "which analyzer of the configuration")
  .requiredOption("--patient <fp>", "whose sample it is")
  .requiredOption("--tests <names>", "analytes, comma-separated, as the device calls them: ALT,CREA")
  .option("--json", "as JSON; without it the accession alone")
  .action((options: OrderRequest & { config: string; json?: boolean }) => {
    const { accession, device, patientFp, tests } = placeOrder(configOrExit(options.config), options);
    if (options.json) return printJson({ accession, device, patient_fp: patientFp, tests });
    print(accession);
  });

for (const command of ["lock", "unlock"] as const) {
  program
    .command(command)
    .description(`${command} a point-of-care device (POCT1-A); the running agent tells it now, or when it connects`)
    .addOption(configOption())
    .requiredOption("--device <id>", "which device of the configuration")
    .action(async (options: { config: string; device: string }) => {
      const config = configOrExit(options.config);
      const word = command === "lock" ? "LOCK" : "UNLOCK";
      const directive = placeDirective(config, options.device, word);
      const { state, reason } = await awaitDirective(config.data, directive, DIRECTIVE_WAIT_MS);
      if (state === "refused") throw new Error(`${options.device} refused ${word}: ${reason}`);
      print(state === "taken" ? `${options.device} took ${word}` : `${word} waits until ${options.device} takes it`);
    });
}

program
  .command("messages")
  .description("list every message and where it ended")
  .addOption(configOption())
  .option("--state <state>", `one of ${MESSAGE_STATES.join(", ")}; repeatable`, messageState, [])
  .option("--device <id>", "of that device; repeatable", collected, [])
  .option("--since <time>", "received from then on: 24h, 7d or 2026-11-21T09:30:00Z", timeSince, 0)
  .option("--follow", "go on with new ones until Ctrl-C")
  .addOption(new Option("--json", "as a JSON array").conflicts("follow"))
  .action(async ({ config: file, json, follow, state, device, since }: MessagesOptions) => {
    const { data, devices } = configOrExit(file);
    const feed = new MessageFeed(data);
    const all = feed.next();
    const ids = [...new Set([...devices.map(({ id }) => id), ...all.map((message) => message.device)])];
    const unknown = device.find((id) => !ids.includes(id));
    if (unknown !== undefined) throw new Error(`--device is ${unknown}, expected one of ${ids.join(", ")}`);
    const filter = { states: state, devices: device, since };
    const messages = all.filter((message) => isWanted(message, filter));
    if (json) return printJson(messages);
    // `messages | head` has seen enough.
    process.stdout.on("error", () => process.exit(0));
    const { header, row } = messageTable(ids, Intl.DateTimeFormat().resolvedOptions().timeZone);
    for (const line of [header, ...messages.map(row)]) print(line);
    if (!follow) return tell(`${messages.length} message${messages.length === 1 ? "" : "s"}`);
    for await (const _ of setInterval(FOLLOW_MS))
      for (const message of feed.next()) if (isWanted(message, filter)) print(row(message));
  });

program
  .command("capture <message>")
  .description("write a message as a fixture to stdout: the bytes that its device sent, without names")
  .addOption(configOption())
  .option("--raw", "leave the names in it")
  .action((id: string, options: { config: string; raw?: boolean }) => {
    const config = configOrExit(options.config);
    const devices = analyzersOf(config);
    const { bytes, notes } = readSpool(config.data, (db) =>
      capture(db, config.data, id, (device) => devices.get(device), options.raw ?? false),
    );
    process.stdout.write(bytes);
    for (const note of notes) tell(`note: ${note}`);
  });

program
  .command("explain <fp>")
  .description(
    "one time line of a study (its fp) or a message (its id) from the first byte to the server's answer; of a study also by which interval each result has its flag",
  )
  .addOption(configOption())
  .action((name: string, options: { config: string }) => {
    const config = configOrExit(options.config);
    const devices = analyzersOf(config);
    for (const line of readSpool(config.data, (db) => explain(db, name, (id) => devices.get(id)))) print(line);
  });

program
  .command("reprocess")
  .description(
    "run quarantined or unmatched messages through the stages again; shows old against new, then stores it for sending",
  )
  .addOption(configOption())
  .requiredOption("--state <state>", "quarantined or unmatched; repeatable", reprocessState, [])
  .option("--since <time>", "received from then on: 24h, 7d or 2026-11-21T09:30:00Z", timeSince, 0)
  .option("--dry-run", "show it and store nothing")
  .action(async (options: { config: string; state: MessageState[]; since: number; dryRun?: boolean }) => {
    const config = configOrExit(options.config);
    const devices = { analyzers: analyzersOf(config), imaging: imagingOf(config) };
    const wanted = { states: options.state, since: options.since };
    let told = 0;
    const done = await reassess(config.data, wanted, devices, config.matchByName ?? false, (count, of) => {
      const tenth = Math.floor((10 * count) / of);
      if (tenth > told) tell(`${10 * tenth} %`);
      told = tenth;
    });
    for (const [index, { message, diff }] of done.entries()) {
      if (diff.length === 0) continue;
      print(`${message.id}  ${new Date(message.receivedAt).toISOString()}  ${message.device}`);
      // The images of a study become the same: that is told once, below the last.
      if (diff.join("\n") !== done[index + 1]?.diff.join("\n")) for (const line of diff) print(`  ${line}`);
    }
    const changed = done.filter(({ diff }) => diff.length > 0).length;
    if (options.dryRun) return tell(`${done.length} messages, ${changed} would change, nothing was stored`);
    const stored = store(config.data, done);
    const next = stored === 0 ? "" : ": a running agent sends them within some minutes";
    tell(`${done.length} messages, ${stored} stored anew${next}`);
  });

const images = program.command("images").description("the images that came from imaging devices");

images
  .command("list", { isDefault: true })
  .description("list them, the removed ones too, or copy their files")
  .addOption(configOption())
  .option("--study <uid>", "of that study alone")
  .option("--export <folder>", "copy the files there")
  .option("--json", "as a JSON array")
  .action((options: { config: string; study?: string; export?: string; json?: boolean }) => {
    const { data } = configOrExit(options.config);
    const listed = readSpool(data, (db) => listImages(db, options.study ?? null));
    if (options.export !== undefined) tell(`${exportImages(data, listed, options.export)} copied`);
    if (options.json) return printJson(listed);
    for (const { id, received_at, device, state, bytes, study_uid, sop_class_uid, forwards, removed_at } of listed) {
      const sent = forwards.map(({ destination, state: became }) => `${destination} ${became}`);
      const removed = removed_at === null ? [] : [`removed ${removed_at}`];
      print([id, received_at, device, state, bytes, study_uid, sop_class_uid, ...sent, ...removed].join("  "));
    }
    tell(`${listed.length} image${listed.length === 1 ? "" : "s"}`);
  });

images
  .command("preview <id>")
  .description("draw a frame of an image, or of the first image of a study that can be drawn, as PNG")
  .addOption(configOption())
  .requiredOption("--out <file>", "the PNG")
  .option("--frame <n>", "of a clip", positiveInteger, 1)
  .action(async (name: string, options: { config: string; out: string; frame: number }) => {
    const { data } = configOrExit(options.config);
    const drawable = readSpool(data, (db) => drawableImages(db, name));
    const { id, png, width, height, frames } = await previewImage(data, drawable, options.frame);
    fs.writeFileSync(options.out, png);
    tell(`${options.out}: frame ${options.frame} of ${frames} of ${id}, ${width} x ${height}`);
  });

images
  .command("forward")
  .description("offer a destination again what it refused for good")
  .addOption(configOption())
  .requiredOption("--again <destination>", "which one of the configuration")
  .option("--study <uid>", "of that study alone")
  .action((options: { config: string; again: string; study?: string }) => {
    const { data, destinations } = configOrExit(options.config);
    const ids = destinations.map(({ id }) => id);
    if (!ids.includes(options.again)) {
      throw new Error(
        `--again is ${options.again}, expected one of ${ids.join(", ") || "none: there are no destinations"}`,
      );
    }
    const queued = writeSpool(data, (spool) => spool.forwardAgain(options.again, options.study ?? null));
    tell(`${queued} image${queued === 1 ? "" : "s"} queued: a running agent offers them within some minutes`);
  });

program
  .command("status")
  .description("devices, counts and what waits for the server")
  .addOption(configOption())
  .option("--json", "as JSON")
  .action((options: { config: string; json?: boolean }) => {
    const { data } = configOrExit(options.config);
    const { totals, ...status } = readSpool(data, (db) => ({ ...readStatus(db, data), totals: countImages(db) }));
    if (options.json) {
      return printJson({ ...status, ...(totals === null ? {} : { images: totals }) });
    }
    for (const line of statusLines(status)) print(line);
    for (const { id, instruments = [] } of status.devices) {
      for (const { name, said_at, status: words, events } of instruments) {
        print(`${id}: ${name || "an instrument without a name"}  ${said_at}  ${said(words)}`);
        for (const event of events) print(`  ${said(event)}`);
      }
    }
    if (totals === null) return;
    print(`images: ${totals.kept} kept (${(totals.bytes / 1e9).toFixed(1)} GB), ${totals.removed} removed`);
    for (const { destination, state, count } of totals.forwards) print(`  ${destination}  ${count} ${state}`);
  });

program.parseAsync().catch(fail);

/** `condition R, new_observations 0` */
function said(words: object): string {
  return Object.entries(words)
    .map(([name, word]) => `${name} ${String(word)}`)
    .join(", ");
}

interface MessagesOptions {
  readonly config: string;
  readonly state: readonly MessageState[];
  readonly device: readonly string[];
  readonly since: number;
  readonly follow?: boolean;
  readonly json?: boolean;
}

interface SimulateOptions {
  readonly to: string;
  readonly role: string;
  readonly repeat: number;
  readonly baud: number;
  readonly faults?: Faults;
  readonly habits?: ReturnType<typeof parseHabits>;
  readonly seed?: number;
  readonly patient: string;
  readonly species: string;
}

async function simulate(file: string | undefined, options: SimulateOptions): Promise<void> {
  const { to, role, repeat, baud, faults, seed = 1 + Math.floor(Math.random() * 999_999_999) } = options;
  if (!["device", "host", "lis"].includes(role)) throw new Error(`--role is ${role}, expected device, host or lis`);
  if (role === "device" && file === undefined) throw new Error("a device needs a fixture to play");
  const target = parseDicomTarget(to);
  if (target !== null) return simulateImages(target, file ?? "", options);
  const fixture = file === undefined ? null : fs.readFileSync(file);
  const isTalk = file !== undefined && path.extname(file) === ".talk";
  const isHl7 = role === "lis" || (file !== undefined && path.extname(file) === ".hl7");
  if (isHl7 && faults?.contend === true) throw new Error("--faults has contend, but nobody contends for an HL7 line");
  const talk = isTalk && fixture !== null ? parseTalk(fixture.toString("latin1")) : null;
  if (faults !== undefined) tell(`--seed ${seed} plays the same faults again`);

  const opened = await openLine(to, baud);
  const line = faults === undefined ? opened : new FaultyLine(opened, faults, seed);
  try {
    if (role === "lis" || (role === "host" && talk === null)) {
      const reason =
        role === "lis"
          ? await playLis(line, repeat, fixture, printReceived)
          : await playHost(line, repeat, fixture, printReceived, faults?.contend);
      if (reason !== null) throw new Error(reason);
      return;
    }
    for (let session = 1; session <= repeat; session++) {
      if (talk !== null) {
        const difference = await playTalk(talk, role === "host" ? "us" : "device", line);
        if (difference !== null) throw new Error(`session ${session}: ${difference}`);
        print(`session ${session}: ${talk.length} lines as written`);
      } else if (fixture !== null && path.extname(file ?? "") === ".poct1") {
        // Each conversation has a connection of its own, and ends it.
        const own = session === 1 ? line : await openLine(to, baud);
        const { accepted, frames, reason } = await playPoct1Device(fixture, own, options.habits);
        if (own !== line) await own.close();
        if (!accepted) throw new Error(`session ${session}: ${reason} after ${frames} acknowledged documents`);
        print(`session ${session}: ${frames} documents acknowledged`);
      } else if (fixture !== null) {
        const played = isHl7
          ? await playHl7Device(fixture, line, printReceived)
          : await playDevice(fixture, line, faults?.contend);
        print(`session ${session}: ${taken(played, fixture, session)}`);
      }
    }
  } finally {
    await line.close();
  }
}

/** One study of that many images. */
async function simulateImages(target: DicomTarget, list: string, options: SimulateOptions): Promise<void> {
  const kinds = Array.from({ length: options.repeat }, () => parseKinds(list)).flat();
  const patient = { id: options.patient, name: "Simulated", species: options.species };
  const at = writeTime(Date.now(), Intl.DateTimeFormat().resolvedOptions().timeZone);
  const study = await playModality(target, kinds, patient, at);
  print(`study ${study}: ${kinds.length} stored`);
}

/** @throws when it was not taken */
function taken({ accepted, frames, resent, reason }: Played, fixture: Uint8Array, session: number): string {
  const again = resent === 0 ? "" : `, ${resent} sent again`;
  if (!accepted) throw new Error(`session ${session}: ${reason} after ${frames} acknowledged frames${again}`);
  return frames === 0 ? `${fixture.length} bytes sent as they stand` : `${frames} frames acknowledged${again}`;
}

function printReceived({ message, incomplete }: Received): void {
  for (const record of Buffer.from(message).toString("latin1").trimEnd().split("\r")) print(record);
  if (incomplete !== null) tell(`incomplete: ${incomplete}`);
}

/** The configuration, or every problem on stderr and exit 78. */
function configOrExit(file: string): Config {
  if (!fs.existsSync(file)) {
    tell(`${path.resolve(file)}: there is no such file, expected the agent's configuration here or by --config`);
    process.exit(EXIT_CONFIG);
  }
  const result = loadConfig(file);
  if ("config" in result) return result.config;
  for (const { line, message } of result.problems) tell(`${file}:${line}: ${message}`);
  tell(`${result.problems.length} problem${result.problems.length === 1 ? "" : "s"} in ${file}`);
  process.exit(EXIT_CONFIG);
}

function anAnimal(species: string, date_of_birth: string | null): Patient {
  const now = new Date().toISOString();
  const nobody = "00000000000000000000000000";
  return {
    fp: `patient_${nobody}`,
    name: "",
    species,
    breed: null,
    sex: null,
    date_of_birth,
    weight_kg: null,
    owner_customer_fp: `customer_${nobody}`,
    created_at: now,
    updated_at: now,
  };
}

function reprocessState(text: string, states: readonly MessageState[]): MessageState[] {
  if (text !== "quarantined" && text !== "unmatched")
    throw new Error(`--state is ${text}, expected quarantined or unmatched`);
  return [...states, text];
}

function messageState(text: string, states: readonly MessageState[]): MessageState[] {
  const state = MESSAGE_STATES.find((each) => each === text);
  if (state === undefined) throw new Error(`--state is ${text}, expected one of ${MESSAGE_STATES.join(", ")}`);
  return [...states, state];
}

function collected(text: string, texts: readonly string[]): string[] {
  return [...texts, text];
}

/** A period up to now, or an instant; milliseconds since 1970. */
function timeSince(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})(h|d)$/.exec(text) ?? [];
  if (count !== undefined) return Date.now() - Number(count) * (unit === "d" ? 24 : 1) * 3_600_000;
  const instant = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(instant)) throw new Error(`--since is ${text}, expected such as 24h, 7d or 2026-11-21T09:30:00Z`);
  return instant;
}

function addressOrThrow(text: string): Address {
  const address = parseAddress(text);
  if (address === null) throw new Error(`${text} is no address, expected host:port`);
  return address;
}

function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${text} is no positive whole number`);
  return Number(text);
}

/** Prints one line. */
function print(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

function printJson(value: unknown): void {
  process.stdout.write(`${printableJson(value)}\n`);
}

function tell(text: string): void {
  process.stderr.write(`${printableLines(text)}\n`);
}

function fail(error: unknown): never {
  tell(reasonOf(error));
  process.exit(1);
}
