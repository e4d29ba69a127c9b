import type { DeviceState } from "../states/device-state.ts";
import { isForeign, noiseText } from "../states/noise-state.ts";
import type { ServerState } from "../states/server-state.ts";

// Decides whether the agent does all that its configuration requires. A problem needs a user. A warning may end by itself, such as
// a device or a server that is switched off.

export interface Readiness {
  readonly ready: boolean;
  readonly problems: readonly ReadinessFinding[];
  readonly warnings: readonly ReadinessFinding[];
}

interface ReadinessFinding {
  /** `spool`, `server` or the id of a device. */
  readonly what: string;
  /** A sentence with the problem and what to do about it. */
  readonly reason: string;
  readonly since: string | null;
}

/** `spoolProblem` is the reason why the spool refuses messages; null if it accepts them. */
export function readiness(
  spoolProblem: string | null,
  server: ServerState,
  devices: readonly Pick<DeviceState, "id" | "is" | "reason" | "mayBeOff" | "since" | "lastMessageAt" | "noise">[],
): Readiness {
  const problems: ReadinessFinding[] = [];
  const warnings: ReadinessFinding[] = [];
  if (spoolProblem !== null) {
    problems.push({ what: "spool", reason: `cannot store, devices are refused: ${spoolProblem}`, since: null });
  }
  if (server.reason !== null) {
    const mayEnd = ["cannot be reached", "does not work"].includes(server.is) || server.isMinor;
    (mayEnd ? warnings : problems).push(findingOf("server", { ...server, reason: server.reason }));
  }
  for (const { id, reason, mayBeOff, noise, lastMessageAt, ...state } of devices) {
    if (reason !== null) (mayBeOff ? warnings : problems).push(findingOf(id, { ...state, reason }));
    if (noise !== undefined && isForeign(noise, lastMessageAt)) {
      warnings.push({ what: id, reason: noiseText(noise), since: new Date(noise.since).toISOString() });
    }
  }
  return { ready: problems.length === 0, problems, warnings };
}

function findingOf(what: string, state: { is: string; reason: string; since: number }): ReadinessFinding {
  return { what, reason: `${state.is}: ${state.reason}`, since: new Date(state.since).toISOString() };
}
