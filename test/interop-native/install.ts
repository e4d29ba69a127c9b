import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

// Installs dicom-dimse-native beside this file unless it is there. Its install compiles DCMTK for some minutes.

const FOLDER = import.meta.dirname;
const ADDON = path.join(FOLDER, "node_modules/dicom-dimse-native/build/Release/dcmtk.node");

/** @returns why it cannot be used; null if it is installed */
export function install(): string | null {
  if (fs.existsSync(ADDON)) return null;
  process.stdout.write("installs dicom-dimse-native 2.4.6: this compiles for some minutes\n");
  const { status, error } = spawnSync("npm", ["ci", "--foreground-scripts"], { cwd: FOLDER, stdio: "inherit" });
  if (error !== undefined) return `npm ci did not start: ${error.message}`;
  if (status !== 0) return `npm ci ended with ${status}; it needs CMake, a C++ compiler and Node's header files`;
  return fs.existsSync(ADDON) ? null : `npm ci made no ${path.relative(FOLDER, ADDON)}`;
}
