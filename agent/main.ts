import "../shared/runtime/node-version.mjs";
import "../shared/files/enough-descriptors.ts";
import v8 from "node:v8";

// Limit heap growth during module loading; V8 would otherwise keep a 30 MB young generation. The flag takes effect only
// before any other module is loaded.
v8.setFlagsFromString("--semi-space-growth-factor=1");
const { runProgram } = await import("../shared/platform/cli/program.ts");
const { agentProgram } = await import("./cli/program.ts");
await runProgram(agentProgram);
