import { Command } from "commander";
import { VERSION } from "../../shared/files/program-files.ts";
import { printJson } from "../../shared/platform/cli/output.ts";
import { livdBundle } from "../tools/livd/bundle.ts";
import { devices, testCodes } from "../tools/livd/sources.ts";

export const livdCommand = new Command("livd")
  .description("print the tests of all known devices with their LOINC codes, as a bundle of HL7 LIVD 1.0.0 (FHIR R4)")
  .action(() => {
    const date = new Date().toISOString().slice(0, 10);
    printJson(livdBundle({ devices: devices(), tests: testCodes(), version: VERSION, date }));
  });
