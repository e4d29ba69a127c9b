import "../shared/runtime/node-version.ts";

const { runServerProgram } = await import("./cli/program.ts");
await runServerProgram();
