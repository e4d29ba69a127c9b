import fs from "node:fs";
import { errorCode } from "../../../shared/runtime/error-message.ts";

// The variables of a service as systemd reads them (systemd.exec, EnvironmentFile). No shell reads the file.

/** @returns the last value of a variable; undefined without one, without the file, or if this user may not read it */
export function readVariable(file: string, name: string): string | undefined {
  try {
    return variableOf(fs.readFileSync(file, "utf8"), name);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "EACCES") return undefined;
    throw error;
  }
}

/** Backslashes escape outside of single quotes. */
function variableOf(text: string, name: string): string | undefined {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  const line = lines.findLast((each) => each.startsWith(name) && /^\s*=/.test(each.slice(name.length)));
  const value = line?.slice(line.indexOf("=") + 1).trim();
  const [, single] = /^'([^']*)'$/.exec(value ?? "") ?? [];
  const [, double] = /^"(.*)"$/.exec(value ?? "") ?? [];
  return single ?? (double ?? value)?.replaceAll(/\\(.)/g, "$1");
}
