import { spawnSync } from "node:child_process";
import { existsSync, symlinkSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

// Ends a program on a Node that is too old. A script of npm goes on under the Node that `npm ci` brought. It is JavaScript, because an older
// Node does not read TypeScript: the scripts of npm load it before the program, and each program imports it first. An older Node links
// all modules of a built program before it runs this one, so no module may import a name that older Node modules lack.

const NEEDED = { major: 22, minor: 18 };

/** The path of the `node_modules` that holds the package of this platform's Node, or undefined. */
function carriedBy(name) {
  try {
    return join(createRequire(import.meta.url).resolve(`${name}/package.json`), "../..");
  } catch {
    return undefined;
  }
}

const [major = 0, minor = 0] = process.version.slice(1).split(".").map(Number);
if (major < NEEDED.major || (major === NEEDED.major && minor < NEEDED.minor)) {
  const name = `node-${process.platform}-${process.arch}`;
  // A script of npm alone: who stops or kills a program that a service started must reach the program itself.
  const modules = process.env.npm_lifecycle_event && carriedBy(name);
  const carried = modules && join(modules, name, "bin/node");
  if (carried && existsSync(carried) && carried !== process.execPath) {
    // npm 10 removes the link to this Node again with the packages of the other platforms. Later commands of the script find the link.
    const link = join(modules, ".bin/node");
    if (!existsSync(link)) symlinkSync(`../${name}/bin/node`, link);
    const { status } = spawnSync(carried, [...process.execArgv, ...process.argv.slice(1)], { stdio: "inherit" });
    process.exit(status ?? 1);
  }
  // Writes to the descriptor, since a stream may lose its data at the exit.
  const remedy = "install it, or run npm ci, which brings Node 24 (Linux, Intel Macs; with npm 11 also Windows)";
  writeSync(2, `vetwire needs Node ${NEEDED.major}.${NEEDED.minor} or newer, this is ${process.version}: ${remedy}\n`);
  process.exit(1);
}
