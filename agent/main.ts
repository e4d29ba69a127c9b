import "../shared/runtime/node-version.ts";
import v8 from "node:v8";

// What loading the modules leaves behind would keep the young generation 30 MB large for good, and the agent idles most of
// its life on a small PC. It has to be set before anything else is loaded, so the command line is a module of its own.
v8.setFlagsFromString("--semi-space-growth-factor=1");
await import("./cli/program.ts");
