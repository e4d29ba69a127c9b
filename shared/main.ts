#!/usr/bin/env node
import "./runtime/node-version.mjs";
import "./files/enough-descriptors.ts";
import { agentProgram } from "../agent/cli/program.ts";
import { handOver } from "./platform/cli/version-in-force.ts";
import { dispatch, vetwireProgram } from "./platform/cli/vetwire.ts";

// The command `vetwire`. Each program runs by its own entry, so that `vetwire agent ...` is `agent/main.js ...` in every way.

const { program, words } = dispatch(process.argv.slice(2), agentProgram);
process.argv.splice(2, process.argv.length, ...words);
if (program !== "vetwire") await handOver(program, words);
switch (program) {
  case "agent":
    await import("../agent/main.ts");
    break;
  case "server":
    await import("../server/main.ts");
    break;
  case "vetwire": {
    const { runProgram } = await import("./platform/cli/program.ts");
    await runProgram(vetwireProgram(agentProgram));
  }
}
