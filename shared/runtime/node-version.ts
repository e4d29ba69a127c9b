import { writeSync } from "node:fs";

// Ends the program on a Node that is too old. It is the first import of each program. An older Node links all modules before it
// runs this one, so no module may import a name that older Node modules lack.

const NEEDED = { major: 20, minor: 19 };

const [major = 0, minor = 0] = process.version.slice(1).split(".").map(Number);
if (major < NEEDED.major || (major === NEEDED.major && minor < NEEDED.minor)) {
  // Writes to the descriptor, since a stream may lose its data at the exit.
  writeSync(2, `vetwire needs Node ${NEEDED.major}.${NEEDED.minor} or newer, this is ${process.version}\n`);
  process.exit(1);
}
