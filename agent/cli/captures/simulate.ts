import fs from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { parsePositiveInteger } from "../../../shared/platform/cli/options.ts";
import { printError, printLine } from "../../../shared/platform/cli/output.ts";
import { parseTranscript, playTranscript } from "../../protocols/transcript.ts";
import { writeTime } from "../../report/device-time.ts";
import { playDevice, type PlayOutcome } from "../../tools/simulator/analyzer.ts";
import { STUDY_KINDS } from "../../tools/simulator/generated-study.ts";
import { playHl7Device } from "../../tools/simulator/hl7.ts";
import { type SimulatorLine, openLine } from "../../tools/simulator/line.ts";
import { type DicomTarget, parseDicomTarget, parseKinds, playModality } from "../../tools/simulator/modality.ts";
import { playPoct1Device } from "../../tools/simulator/poct1.ts";
import type { ReceivedMessage } from "../../tools/simulator/station.ts";

export const simulateCommand = new Command("simulate")
  .argument("<fixture>")
  .description(
    `play a fixture or a .talk as the device, or send images of a generated study (some of ${STUDY_KINDS.join(",")})`,
  )
  .requiredOption(
    "--to <target>",
    "tcp://host:port (dialled), listen://host:port, serial:PATH or dicom://CALLING@host:port/CALLED",
  )
  .option("--repeat <n>", "number of sessions; of images for dicom://", parsePositiveInteger, 1)
  .option("--baud <rate>", "baud rate of the serial port", parsePositiveInteger, 9600)
  .option("--patient <id>", "patient of the images", "4711")
  .option("--species <words>", "species of that patient, in the device's words", "Canine")
  .action(simulate);

interface SimulateOptions {
  readonly to: string;
  readonly repeat: number;
  readonly baud: number;
  readonly patient: string;
  readonly species: string;
}

type Fixture =
  | { readonly format: "talk"; readonly talk: ReturnType<typeof parseTranscript> }
  | { readonly format: "astm" | "hl7" | "poct1"; readonly bytes: Uint8Array };

async function simulate(file: string, options: SimulateOptions): Promise<void> {
  const { to, repeat, baud } = options;
  const target = parseDicomTarget(to);
  if (target !== null) return simulateModality(target, file, options);
  const fixture = readFixture(file);
  const line = await openLine(to, baud);
  try {
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
  { to, baud }: SimulateOptions,
): Promise<string> {
  switch (fixture.format) {
    case "talk": {
      const difference = await playTranscript(fixture.talk, line);
      if (difference !== null) throw new Error(`session ${session}: ${difference}`);
      return `${fixture.talk.length} lines as expected`;
    }
    case "poct1": {
      // A POCT1-A session ends with its connection.
      const own = session === 1 ? line : await openLine(to, baud);
      const { accepted, frames, reason } = await playPoct1Device(fixture.bytes, own);
      if (own !== line) await own.close();
      if (!accepted) throw new Error(`session ${session}: ${reason} after ${frames} acknowledged documents`);
      return `${frames} documents acknowledged`;
    }
    case "hl7":
      return playedText(await playHl7Device(fixture.bytes, line, printReceived), fixture.bytes, session);
    case "astm":
      return playedText(await playDevice(fixture.bytes, line), fixture.bytes, session);
  }
}

/** @throws Error if the other side did not accept the messages */
function playedText({ accepted, frames, resent, reason }: PlayOutcome, fixture: Uint8Array, session: number): string {
  const again = resent === 0 ? "" : `, ${resent} sent again`;
  if (!accepted) throw new Error(`session ${session}: ${reason} after ${frames} acknowledged frames${again}`);
  return frames === 0 ? `${fixture.length} bytes sent unchanged` : `${frames} frames acknowledged${again}`;
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
