import fs from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { pino } from "pino";
import type { Patient } from "../shared/patient.ts";
import { startAgent } from "./agent.ts";
import { type Config, loadConfig, parseAddress } from "./config.ts";
import { profileById, profiles } from "./devices/index.ts";
import { type Faults, FaultyLine, parseFaults } from "./faults.ts";
import { listenTo } from "./listen.ts";
import { listPorts } from "./ports.ts";
import { type OrderRequest, placeOrder } from "./order.ts";
import { recordAssociation } from "./record-dicom.ts";
import { replay } from "./replay.ts";
import { parseDicomTarget, parseKinds, playModality } from "./simulate-dicom.ts";
import { parseHabits, playPoct1Device } from "./simulate-poct1.ts";
import { openLine, type Played, playDevice, playHost, type Received } from "./simulate.ts";
import { lineText, suggest } from "./sniff.ts";
import { listMessages, readSpool, readStatus } from "./spool.ts";
import type { Address } from "./transport.ts";
import { parseTalk, playTalk } from "./talk.ts";
import { writeTime } from "./time.ts";

// The command line of the agent. Results go to stdout, everything else to stderr.

/** sysexits.h EX_CONFIG: service managers do not restart on it. */
const EXIT_CONFIG = 78;
const VERSION = "0.1.0";

const program = new Command("agent")
  .description("Carries results from a clinic's devices to the Vetwire server")
  .version(VERSION);

program
  .command("run")
  .description("serve the devices of the configuration until SIGINT or SIGTERM")
  .requiredOption("--config <file>", "agent.yaml")
  .action(async (options: { config: string }) => {
    const config = configOrExit(options.config);
    const log = pino({
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
  .requiredOption("--config <file>", "agent.yaml")
  .action((options: { config: string }) => {
    const config = configOrExit(options.config);
    print(`${options.config} is right: ${config.devices.length} device${config.devices.length === 1 ? "" : "s"}`);
  });

program
  .command("simulate [fixture]")
  .description(
    "play a fixture or a .talk as the device, or be the host that a device sends to; to an imaging receiver, send a study made of cr, us, es, sr",
  )
  .requiredOption("--to <target>", "tcp://host:port (dialled), listen://host:port, serial:PATH or dicom://AE@host:port")
  .option("--patient <id>", "whom a made-up study of images is of", "SIMULATED")
  .option("--role <role>", "device, or host: takes messages and answers a query with the fixture", "device")
  .option("--repeat <n>", "how many times, as host how many messages", positiveInteger, 1)
  .option("--baud <rate>", "of the serial port", positiveInteger, 9600)
  .option("--faults <list>", "what goes wrong: drop-ack:P,flip:P,split:BYTES,delay:MS,contend,noise,dup", parseFaults)
  .option(
    "--habits <list>",
    "of a POCT1-A device: strict, ack-request, no-ack-request, ack-eot, no-ack-eot",
    parseHabits,
  )
  .option("--seed <n>", "of the faults; the same one does the same again", positiveInteger)
  .action(simulate);

program
  .command("record")
  .description("stand between an imaging device and its receiver, and print one association as a fixture: a PDU a line")
  .requiredOption("--listen <address>", "host:port that the device is told to call", addressOrThrow)
  .requiredOption("--to <address>", "host:port of the receiver", addressOrThrow)
  .action(async ({ listen, to }: { listen: Address; to: Address }) => {
    for (const line of await recordAssociation(listen, to)) print(line);
  });

program
  .command("ports")
  .description("list the serial ports; the first path of a port stays the same when it is plugged in again")
  .option("--json", "as a JSON array")
  .action(async (options: { json?: boolean }) => {
    const ports = await listPorts();
    if (options.json) return print(JSON.stringify(ports, null, 2));
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
      for (const study of studies) print(JSON.stringify(study, null, 2));
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
  .requiredOption("--config <file>", "agent.yaml")
  .requiredOption("--device <id>", "which analyzer of the configuration")
  .requiredOption("--patient <fp>", "whose sample it is")
  .requiredOption("--tests <names>", "analytes, comma-separated, as the device calls them: ALT,CREA")
  .option("--json", "as JSON; without it the accession alone")
  .action((options: OrderRequest & { config: string; json?: boolean }) => {
    const { accession, device, patientFp, tests } = placeOrder(configOrExit(options.config), options);
    print(options.json ? JSON.stringify({ accession, device, patient_fp: patientFp, tests }, null, 2) : accession);
  });

program
  .command("messages")
  .description("list every message and where it ended")
  .requiredOption("--config <file>", "agent.yaml")
  .option("--json", "as a JSON array")
  .action((options: { config: string; json?: boolean }) => {
    const messages = readSpool(configOrExit(options.config).data, listMessages);
    if (options.json) return print(JSON.stringify(messages, null, 2));
    for (const { id, device, received_at, state, reason, study_fps } of messages) {
      print([id, received_at, device, state, study_fps.join(",") || "-", reason ?? ""].join("  ").trimEnd());
    }
    tell(`${messages.length} message${messages.length === 1 ? "" : "s"}`);
  });

program
  .command("status")
  .description("devices, counts and what waits for the server")
  .requiredOption("--config <file>", "agent.yaml")
  .option("--json", "as JSON")
  .action((options: { config: string; json?: boolean }) => {
    const { data } = configOrExit(options.config);
    const { running, devices, outbox } = readSpool(data, (db) => readStatus(db, data));
    if (options.json) return print(JSON.stringify({ devices, outbox }, null, 2));
    print(running ? "the agent is running" : "the agent is not running");
    for (const { id, connected, last_message_at, counts } of devices) {
      const numbers = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
      print(
        `${id}  ${connected ? "connected" : "not connected"}  last message ${last_message_at ?? "never"}  ${numbers.join(", ")}`,
      );
    }
    print(`${outbox.depth} to send${outbox.oldest_at === null ? "" : `, the oldest since ${outbox.oldest_at}`}`);
  });

program.parseAsync().catch(fail);

interface SimulateOptions {
  readonly to: string;
  readonly patient: string;
  readonly role: string;
  readonly repeat: number;
  readonly baud: number;
  readonly faults?: Faults;
  readonly habits?: ReturnType<typeof parseHabits>;
  readonly seed?: number;
}

async function simulate(file: string | undefined, options: SimulateOptions): Promise<void> {
  const receiver = parseDicomTarget(options.to);
  if (receiver !== null) {
    const kinds = parseKinds(file ?? "cr");
    for (let session = 1; session <= options.repeat; session++) {
      const patient = { id: options.patient, name: "Simulated^Rex", species: "dog" };
      const study = await playModality(receiver, kinds, patient, writeTime(Date.now(), "UTC"));
      print(`session ${session}: study ${study}, ${kinds.length} taken`);
    }
    return;
  }
  const { to, role, repeat, baud, faults, seed = 1 + Math.floor(Math.random() * 999_999_999) } = options;
  if (role !== "device" && role !== "host") throw new Error(`--role is ${role}, expected device or host`);
  if (role === "device" && file === undefined) throw new Error("a device needs a fixture to play");
  const fixture = file === undefined ? null : fs.readFileSync(file);
  const isTalk = file !== undefined && path.extname(file) === ".talk";
  const talk = isTalk && fixture !== null ? parseTalk(fixture.toString("latin1")) : null;
  if (faults !== undefined) tell(`--seed ${seed} plays the same faults again`);

  const opened = await openLine(to, baud);
  const line = faults === undefined ? opened : new FaultyLine(opened, faults, seed);
  try {
    if (role === "host" && talk === null) {
      const reason = await playHost(line, repeat, fixture, printReceived, faults?.contend);
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
        print(`session ${session}: ${taken(await playDevice(fixture, line, faults?.contend), fixture, session)}`);
      }
    }
  } finally {
    await line.close();
  }
}

/** @throws when it was not taken */
function taken({ accepted, frames, resent, reason }: Played, fixture: Uint8Array, session: number): string {
  const again = resent === 0 ? "" : `, ${resent} sent again`;
  if (!accepted) throw new Error(`session ${session}: ${reason} after ${frames} acknowledged frames${again}`);
  return frames === 0 ? `${fixture.length} bytes sent as they stand` : `${frames} frames acknowledged${again}`;
}

function printReceived({ message, incomplete }: Received): void {
  print(Buffer.from(message).toString("latin1").replaceAll("\r", "\n").trimEnd());
  if (incomplete !== null) tell(`incomplete: ${incomplete}`);
}

/** The configuration, or every problem on stderr and exit 78. */
function configOrExit(file: string): Config {
  if (!fs.existsSync(file)) {
    tell(`${path.resolve(file)}: there is no such file`);
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

function addressOrThrow(text: string): Address {
  const address = parseAddress(text);
  if (address === null) throw new Error(`${text} is no address, expected host:port`);
  return address;
}

function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${text} is no positive whole number`);
  return Number(text);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

function fail(error: unknown): never {
  tell(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
