import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { errorMessage } from "../../runtime/error-message.ts";
import { PROGRAM_FOLDER, VERSION } from "../../files/program-files.ts";
import { type ServiceProgram, versionsFolder } from "../service/description.ts";
import { EXIT_FAILURE } from "./exit-codes.ts";
import { printError } from "./output.ts";
import { statePlace } from "./places.ts";

// After an upgrade the service runs a later version than the package, and the package's commands would refuse its database. So a
// command line is handed over to the version that the launcher runs.

/** Runs the words with the version in force, and ends with its code. Returns if this version has to run them itself. */
export async function handOver(program: ServiceProgram, words: readonly string[]): Promise<void> {
  const started = await programInForce(program, words).catch((error: unknown) => {
    printError(`note: the upgraded version of the service does not run this command: ${errorMessage(error)}`);
    return null;
  });
  if (started === null) return;
  const [node, ...args] = started;
  const child = spawn(node, [...args, program, ...words], { stdio: "inherit", windowsHide: true });
  // A terminal sends its signal to both processes.
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const code = await new Promise<number>((resolve) => {
    child.once("error", (error) => {
      printError(errorMessage(error));
      resolve(EXIT_FAILURE);
    });
    child.once("close", (ended) => resolve(ended ?? EXIT_FAILURE));
  });
  process.exit(code);
}

/** @returns Node and the file of the command of a later version; null if there is none */
async function programInForce(program: ServiceProgram, words: readonly string[]): Promise<[string, string] | null> {
  // The launcher has chosen the version of a program that runs. A checkout trusts no release.
  const isCommand = words[0] !== "run" && fs.existsSync(path.join(PROGRAM_FOLDER, "release.pub"));
  const state = isCommand ? statePlace(program, words) : null;
  if (state === null) return null;
  const folder = versionsFolder(state);
  // Most machines have no upgrade, and a help page must appear immediately.
  if (!fs.existsSync(path.join(folder, "current.json"))) return null;
  const { programOf, readVersions, unpackedVersions } = await import("../upgrade/version-store.ts");
  const { choose } = await import("../upgrade/versions.ts");
  const { version } = choose(VERSION, readVersions(folder), unpackedVersions(folder));
  if (version === VERSION) return null;
  const { releaseKey } = await import("../upgrade/prepare.ts");
  const { verifiedCopy } = await import("../upgrade/verified-copy.ts");
  const copies = path.join(PROGRAM_FOLDER, "later");
  return programOf(await verifiedCopy({ program, version, folder, copies, publicKey: releaseKey() }));
}
