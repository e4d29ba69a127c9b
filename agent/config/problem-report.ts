/** Reports a problem at a path of the configuration. */
export type ReportProblem = (steps: readonly string[], message: string) => void;

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
