import { errorCode, errorMessage } from "../../../shared/runtime/error-message.ts";
import { rightsAdvice } from "../../../shared/files/rights-advice.ts";

/** Kinds of problems that need a remedy of their own: YAML that cannot be read, and a key that is not there yet. */
export type ProblemCode = "SYNTAX" | "KEY.MISSING";

/** Reports a problem at a path of the configuration. */
export type ReportProblem = (steps: readonly string[], message: string, code?: ProblemCode) => void;

/** Reads a file that the configuration names. @returns why it cannot be used, or null */
export function contentProblem(file: string, read: (file: string) => unknown): string | null {
  try {
    read(file);
    return null;
  } catch (error) {
    const isMissing = errorCode(error) === "ENOENT";
    const why = isMissing ? "does not exist" : `cannot be used: ${rightsAdvice(error, file) ?? errorMessage(error)}`;
    return `names ${file}, which ${why}`;
  }
}

/** Returns an empty object for any other value, because the schema reports a wrong type. */
export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** Returns an empty array for any other value, because the schema reports a wrong type. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function reportZone(value: unknown, steps: readonly string[], report: ReportProblem): void {
  if (typeof value === "string" && !isTimeZone(value)) {
    report(steps, `is "${value}", expected an IANA time zone such as Europe/Istanbul`);
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
