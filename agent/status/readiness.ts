import type { DeviceState } from "../states/device-state.ts";
import type { ServerState } from "../states/server-state.ts";

// Whether the agent does all that its configuration says. A person has to mend what makes it unready; what may mend by itself
// (a device or a server that is switched off) is a warning: the agent keeps what comes meanwhile.

export interface Readiness {
  readonly ready: boolean;
  readonly problems: readonly Finding[];
  readonly warnings: readonly Finding[];
}

interface Finding {
  /** `spool`, `server` or a device's id. */
  readonly what: string;
  /** A sentence that says what is wrong and what to do. */
  readonly reason: string;
  readonly since: string | null;
}

/** `spoolProblem`: why the disk refuses; null if it does not. */
export function readiness(
  spoolProblem: string | null,
  server: ServerState,
  devices: readonly Pick<DeviceState, "id" | "is" | "reason" | "mayBeOff" | "since">[],
): Readiness {
  const problems: Finding[] = [];
  const warnings: Finding[] = [];
  if (spoolProblem !== null) {
    problems.push({ what: "spool", reason: `cannot store, devices are refused: ${spoolProblem}`, since: null });
  }
  if (server.reason !== null) {
    const mayMend = ["cannot be reached", "does not work"].includes(server.is) || server.isMinor;
    (mayMend ? warnings : problems).push(findingOf("server", { ...server, reason: server.reason }));
  }
  for (const { id, reason, mayBeOff, ...state } of devices) {
    if (reason !== null) (mayBeOff ? warnings : problems).push(findingOf(id, { ...state, reason }));
  }
  return { ready: problems.length === 0, problems, warnings };
}

function findingOf(what: string, state: { is: string; reason: string; since: number }): Finding {
  return { what, reason: `${state.is}: ${state.reason}`, since: new Date(state.since).toISOString() };
}
