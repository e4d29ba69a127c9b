import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

// Installs dicom-dimse-native beside this file unless it is installed. The installation compiles DCMTK for a few minutes.

const FOLDER = import.meta.dirname;
const ADDON = path.join(FOLDER, "node_modules/dicom-dimse-native/build/Release/dcmtk.node");

/** @returns the reason of a failure; null if the package is installed */
export function install(): string | null {
  if (fs.existsSync(ADDON)) return null;
  process.stdout.write("installing dicom-dimse-native 2.4.6 (compiles for a few minutes)\n");
  const { status, error } = spawnSync("npm", ["ci", "--foreground-scripts"], { cwd: FOLDER, stdio: "inherit" });
  if (error !== undefined) return `npm ci: cannot start: ${error.message}`;
  if (status !== 0) return `npm ci: exit code ${status}; it needs CMake, a C++ compiler and Node's header files`;
  return fs.existsSync(ADDON) ? null : `npm ci: expected the file ${path.relative(FOLDER, ADDON)}`;
}
