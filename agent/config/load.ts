import path from "node:path";
import fs from "node:fs";
import { checkConfig, type ConfigResult } from "./check.ts";

/** Reads and checks a configuration file. @throws if the file cannot be read */
export function loadConfig(file: string): ConfigResult {
  const resolved = path.resolve(file);
  const result = checkConfig(fs.readFileSync(resolved, "utf8"), path.dirname(resolved));
  return "config" in result ? { config: { ...result.config, file: resolved } } : result;
}
