import "../shared/runtime/node-version.mjs";
import "../shared/runtime/enough-descriptors.ts";
import { runProgram } from "../shared/cli/program.ts";
import { serverProgram } from "./cli/program.ts";

await runProgram(serverProgram);
