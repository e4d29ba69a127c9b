import fs from "node:fs";
import path from "node:path";
import { Command, InvalidArgumentError } from "commander";
import type { Patient } from "../../../shared/api/patient.ts";
import { isRealDate } from "../../../shared/schema/timestamp.ts";
import { printError, printJson } from "../../../shared/platform/cli/output.ts";
import { profileById, profiles } from "../../devices/index.ts";
import { isOwn } from "../../devices/own/reference.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";
import { qualityIn } from "../../tools/offline/quality-text.ts";
import { replay, type ReplayedMessage, wireOf } from "../../tools/offline/replay.ts";

const PROFILE_IDS = profiles.map(({ id }) => id).join(", ");

export const replayCommand = new Command("replay")
  .argument("<fixture>")
  .description("print the study or the control that a fixture becomes, with its times in UTC; nothing is sent")
  .requiredOption("--profile <id>", PROFILE_IDS)
  .addOption(configOption())
  .option("--species <species>", "species of the patient, for ranges and flags")
  .option("--date-of-birth <date>", "date of birth of the patient, YYYY-MM-DD", parseDate)
  .action(replayFixture);

interface ReplayOptions extends ConfigOption {
  readonly profile: string;
  readonly species?: string;
  readonly dateOfBirth?: string;
}

async function replayFixture(fixture: string, options: ReplayOptions): Promise<void> {
  // A clinic's own profile is in the data folder of its agent.
  if (isOwn(options.profile)) readConfig(options);
  const profile = profileById(options.profile);
  if (profile === undefined) throw new Error(`--profile is ${options.profile}, expected one of ${PROFILE_IDS}`);
  const context = { device: "replay", timeZone: "UTC", receivedAt: Date.now() };
  const patient = options.species === undefined ? null : examplePatient(options.species, options.dateOfBirth ?? null);
  const { warnings, messages } = replay(
    [await wireOf(path.basename(fixture), fs.readFileSync(fixture), profile)],
    profile,
    context,
    patient,
  );
  for (const warning of warnings) printError(`warning: ${warning}`);
  for (const message of messages) printMessage(message);
  if (messages.length === 0) printError("no message: the fixture has no H record");
}

function printMessage({ reading, studies, withoutFlag }: ReplayedMessage): void {
  if (reading.is === "reports") {
    const notes = reading.reports.flatMap((report) => [
      ...report.unmapped.map((code) => `unmapped: ${code}`),
      ...report.leftOut,
      ...report.notes,
    ]);
    for (const note of [...reading.notes, ...notes]) printError(`note: ${note}`);
  } else printError(`${reading.is}: ${reading.reason}`);
  for (const reason of withoutFlag) printError(`no flag: ${reason}`);
  for (const study of studies) printJson(study);
  // A device's check of itself comes with each study of a VetScan; `explain` shows it.
  if (studies.length === 0) for (const record of qualityIn(reading)) printJson(record);
}

/** Creates a patient with only a species and a date of birth. */
function examplePatient(species: string, date_of_birth: string | null): Patient {
  const now = new Date().toISOString();
  const ulid = "00000000000000000000000000";
  return {
    fp: `patient_${ulid}`,
    name: "",
    species,
    breed: null,
    sex: null,
    date_of_birth,
    weight_kg: null,
    owner_customer_fp: `customer_${ulid}`,
    created_at: now,
    updated_at: now,
  };
}

function parseDate(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && isRealDate(text)) return text;
  throw new InvalidArgumentError("expected a date, such as 2020-05-01");
}
