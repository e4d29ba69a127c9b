import path from "node:path";
import { readTextFile } from "../../shared/files/text-file.ts";
import { checkConfig, type ConfigResult } from "./check.ts";

/** Reads and checks a configuration file. @throws if the file cannot be read */
export function loadConfig(file: string): ConfigResult {
  const resolved = path.resolve(file);
  const result = checkConfig(readTextFile(resolved), path.dirname(resolved));
  return "config" in result ? { config: { ...result.config, file: resolved } } : result;
}
