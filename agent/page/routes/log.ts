import type { FastifyInstance } from "fastify";
import type { LocalLogLine } from "../types/queue.ts";
import type { Host } from "../../host.ts";

const LINES_MAX = 200;
/** Fields that have a place of their own, or no meaning for a user. */
const LEFT_OUT = new Set(["time", "level", "msg", "pid", "hostname"]);

/** Adds the last lines of the log. They hold no name, no result and no key. */
export function logRoutes(app: FastifyInstance, host: Host): void {
  app.get("/local/v1/log", (): readonly LocalLogLine[] => host.recentLog.lines.slice(-LINES_MAX).map(readLine));
}

/** Reads a line of pino. A cut line is not JSON, and is shown as it is. */
function readLine(line: string): LocalLogLine {
  try {
    const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
    const fields = Object.entries(rest).filter(([name]) => !LEFT_OUT.has(name));
    return {
      time: typeof time === "string" || typeof time === "number" ? new Date(time).toISOString() : "",
      level: levelOf(Number(level)),
      message: typeof msg === "string" ? msg : "",
      fields: fields.map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`),
    };
  } catch {
    return { time: "", level: "information", message: line, fields: [] };
  }
}

/** Returns the word for a level of pino. */
function levelOf(level: number): LocalLogLine["level"] {
  if (level >= 50) return "error";
  return level >= 40 ? "warning" : "information";
}
