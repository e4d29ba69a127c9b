import "../shared/runtime/node-version.mjs";
import "../shared/files/enough-descriptors.ts";
import { runProgram } from "../shared/platform/cli/program.ts";
import { serverProgram } from "./cli/program.ts";

await runProgram(serverProgram);
