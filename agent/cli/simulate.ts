import fs from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { parsePositiveInteger } from "../../shared/cli/options.ts";
import { printError, printLine } from "../../shared/cli/output.ts";
import { parseTranscript, playTranscript } from "../protocols/transcript.ts";
import { writeTime } from "../report/device-time.ts";
import { playDevice, type PlayOutcome } from "../tools/simulator/analyzer.ts";
import { type Faults, FaultyLine, parseFaults } from "../tools/simulator/fault-injection.ts";
import { STUDY_KINDS } from "../tools/simulator/generated-study.ts";
import { playHl7Device } from "../tools/simulator/hl7.ts";
import { playHost } from "../tools/simulator/host.ts";
import { type SimulatorLine, openLine } from "../tools/simulator/line.ts";
import { type DicomTarget, parseDicomTarget, parseKinds, playModality } from "../tools/simulator/modality.ts";
import { parseDialect, playPoct1Device } from "../tools/simulator/poct1.ts";
import type { ReceivedMessage } from "../tools/simulator/station.ts";

const SEED_MAX = 999_999_999;

export const simulateCommand = new Command("simulate")
  .argument("[fixture]")
  .description(
    `play a fixture or a .talk as the device, be the host that a device sends to, or send images of a generated study (some of ${STUDY_KINDS.join(",")})`,
  )
  .requiredOption(
    "--to <target>",
    "tcp://host:port (dialled), listen://host:port, serial:PATH or dicom://CALLING@host:port/CALLED",
  )
  .option(
    "--role <role>",
    "device, or host (ASTM, HL7): receives messages and replies to a query with the fixture",
    parseRole,
    "device",
  )
  .option("--repeat <n>", "number of sessions; of messages as a host, of images for dicom://", parsePositiveInteger, 1)
  .option("--baud <rate>", "baud rate of the serial port", parsePositiveInteger, 9600)
  .option("--faults <list>", "faults to inject: drop-ack:P,flip:P,split:BYTES,delay:MS,contend,noise,dup", parseFaults)
  .option(
    "--dialect <list>",
    "dialect of a POCT1-A device: strict, ack-request, no-ack-request, ack-eot, no-ack-eot",
    parseDialect,
  )
  .option("--seed <n>", "seed of the faults; the same seed injects the same faults", parsePositiveInteger)
  .option("--patient <id>", "patient of the images", "4711")
  .option("--species <words>", "species of that patient, in the device's words", "Canine")
  .action(simulate);

interface SimulateOptions {
  readonly to: string;
  readonly role: "device" | "host";
  readonly repeat: number;
  readonly baud: number;
  readonly faults?: Faults;
  readonly dialect?: ReturnType<typeof parseDialect>;
  readonly seed?: number;
  readonly patient: string;
  readonly species: string;
}

type Fixture =
  | { readonly format: "talk"; readonly talk: ReturnType<typeof parseTranscript> }
  | { readonly format: "astm" | "hl7" | "poct1"; readonly bytes: Uint8Array };

async function simulate(file: string | undefined, options: SimulateOptions): Promise<void> {
  const { to, role, repeat, baud, faults, seed = 1 + Math.floor(Math.random() * SEED_MAX) } = options;
  if (role === "device" && file === undefined) throw new Error("a device needs a fixture to play");
  const target = parseDicomTarget(to);
  if (target !== null) return simulateModality(target, file ?? "", options);
  const fixture = file === undefined ? null : readFixture(file);
  if (fixture?.format === "hl7" && faults?.contend === true)
    throw new Error("--faults has contend, but HL7 has no line contention");
  if (faults !== undefined) printError(`--seed ${seed} plays the same faults again`);

  const opened = await openLine(to, baud);
  const line = faults === undefined ? opened : new FaultyLine(opened, faults, seed);
  try {
    if (fixture === null || (role === "host" && fixture.format !== "talk"))
      return await simulateHost(fixture, line, options);
    for (let session = 1; session <= repeat; session++) {
      printLine(`session ${session}: ${await playSession(fixture, line, session, options)}`);
    }
  } finally {
    await line.close();
  }
}

function readFixture(file: string): Fixture {
  const bytes = fs.readFileSync(file);
  switch (path.extname(file)) {
    case ".talk":
      return { format: "talk", talk: parseTranscript(bytes.toString("latin1")) };
    case ".hl7":
      return { format: "hl7", bytes };
    case ".poct1":
      return { format: "poct1", bytes };
    default:
      return { format: "astm", bytes };
  }
}

/** Plays one session. @returns its outcome in a few words. @throws Error if the other side did not accept it */
async function playSession(
  fixture: Fixture,
  line: SimulatorLine,
  session: number,
  { to, role, baud, faults, dialect }: SimulateOptions,
): Promise<string> {
  switch (fixture.format) {
    case "talk": {
      const difference = await playTranscript(fixture.talk, role === "host" ? "agent" : "device", line);
      if (difference !== null) throw new Error(`session ${session}: ${difference}`);
      return `${fixture.talk.length} lines as expected`;
    }
    case "poct1": {
      // A POCT1-A session ends with its connection.
      const own = session === 1 ? line : await openLine(to, baud);
      const { accepted, frames, reason } = await playPoct1Device(fixture.bytes, own, dialect);
      if (own !== line) await own.close();
      if (!accepted) throw new Error(`session ${session}: ${reason} after ${frames} acknowledged documents`);
      return `${frames} documents acknowledged`;
    }
    case "hl7":
      return playedText(await playHl7Device(fixture.bytes, line, printReceived), fixture.bytes, session);
    case "astm":
      return playedText(await playDevice(fixture.bytes, line, faults?.contend), fixture.bytes, session);
  }
}

/** @throws Error if the other side did not accept the messages */
function playedText({ accepted, frames, resent, reason }: PlayOutcome, fixture: Uint8Array, session: number): string {
  const again = resent === 0 ? "" : `, ${resent} sent again`;
  if (!accepted) throw new Error(`session ${session}: ${reason} after ${frames} acknowledged frames${again}`);
  return frames === 0 ? `${fixture.length} bytes sent unchanged` : `${frames} frames acknowledged${again}`;
}

async function simulateHost(
  fixture: Exclude<Fixture, { format: "talk" }> | null,
  line: SimulatorLine,
  { repeat, faults }: SimulateOptions,
): Promise<void> {
  const protocol = fixture === null ? null : fixture.format === "hl7" ? "hl7" : "astm";
  const session = {
    protocol,
    count: repeat,
    reply: fixture?.bytes ?? null,
    contend: faults?.contend ?? false,
  } as const;
  const reason = await playHost(line, session, printReceived);
  if (reason !== null) throw new Error(reason);
}

/** Sends one study; `--repeat` multiplies the images of the list. */
async function simulateModality(target: DicomTarget, list: string, options: SimulateOptions): Promise<void> {
  const kinds = Array.from({ length: options.repeat }, () => parseKinds(list)).flat();
  const patient = { id: options.patient, name: "Simulated", species: options.species };
  const at = writeTime(Date.now(), Intl.DateTimeFormat().resolvedOptions().timeZone);
  const study = await playModality(target, kinds, patient, at);
  printLine(`study ${study}: ${kinds.length} stored`);
}

function printReceived({ message, incomplete }: ReceivedMessage): void {
  for (const record of Buffer.from(message).toString("latin1").trimEnd().split("\r")) printLine(record);
  if (incomplete !== null) printError(`incomplete: ${incomplete}`);
}

function parseRole(text: string): SimulateOptions["role"] {
  if (text === "device" || text === "host") return text;
  throw new Error(`--role is ${text}, expected device or host`);
}
