import { writeSync } from "node:fs";

// The first import of each program: it ends the program on a Node that is too old. An older Node parses and links all
// modules before it runs this one, so this one has no newer syntax, and no module imports a name that old modules of Node lack.

const NEEDED = { major: 20, minor: 19 };

const [major = 0, minor = 0] = process.version.slice(1).split(".").map(Number);
if (major < NEEDED.major || (major === NEEDED.major && minor < NEEDED.minor)) {
  // Written to the descriptor: what goes through a stream may be lost at the exit.
  writeSync(2, `vetwire needs Node ${NEEDED.major}.${NEEDED.minor} or newer, this is ${process.version}\n`);
  process.exit(1);
}
