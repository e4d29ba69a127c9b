import { writeSync } from "node:fs";

// Ends a program on a Node that is too old. It is JavaScript, because an older Node does not read TypeScript: the scripts of npm load
// it before the program, and each program imports it first. An older Node links all modules of a built program before it runs this
// one, so no module may import a name that older Node modules lack.

const NEEDED = { major: 22, minor: 18 };

const [major = 0, minor = 0] = process.version.slice(1).split(".").map(Number);
if (major < NEEDED.major || (major === NEEDED.major && minor < NEEDED.minor)) {
  // Writes to the descriptor, since a stream may lose its data at the exit.
  const remedy = "install it, or run npm ci with npm 11, which brings Node 24 (Linux, Windows, Intel Macs)";
  writeSync(2, `vetwire needs Node ${NEEDED.major}.${NEEDED.minor} or newer, this is ${process.version}: ${remedy}\n`);
  process.exit(1);
}
