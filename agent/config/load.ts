import path from "node:path";
import { readTextFile } from "../../shared/files/text-file.ts";
import { useOwnProfiles } from "../devices/index.ts";
import { checkConfig, type ConfigResult } from "./check.ts";

/** Reads and checks a configuration file, whose own profiles the process then uses. @throws if the file cannot be read */
export function loadConfig(file: string): ConfigResult {
  const resolved = path.resolve(file);
  const result = checkConfig(readTextFile(resolved), path.dirname(resolved));
  if ("problems" in result) return result;
  useOwnProfiles(result.config.data);
  return { config: { ...result.config, file: resolved } };
}
