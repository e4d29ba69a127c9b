import type { ServiceProgram } from "./description.ts";

import type { Found, ServiceState } from "./platform.ts";

// The state of a service in words.

export interface ServiceStatus {
  readonly name: string;
  readonly program: ServiceProgram;
  readonly state: ServiceState["is"];
  readonly sentence: string;
  readonly startsWithMachine: boolean;
  /** The version that runs; null if none runs, or if this user may not read it. */
  readonly version: string | null;
  readonly config: string | null;
  /** The folder of the service's data. */
  readonly data: string;
  /** The last starts that ended with an error, the newest first; null if this user may not read them. */
  readonly failures: readonly StartFailure[] | null;
  readonly upgrade: LastUpgrade | null;
}

export interface StartFailure {
  readonly at: string;
  readonly version: string;
  readonly code: number | null;
  readonly sentence: string;
  /** Starts in a row that failed in the same way. */
  readonly times: number;
}

export interface LastUpgrade {
  readonly at: string;
  readonly to: string;
  readonly outcome: string;
  readonly reason: string | null;
}

/** The notes of the launcher. Its module is `shared/platform/upgrade`. */
export interface LauncherNotes {
  readonly running: { readonly version: string; readonly started_at: string; readonly process: number } | null;
  readonly starts: readonly {
    readonly ended_at: string;
    readonly version: string;
    readonly code: number | null;
    readonly sentence: string | null;
  }[];
  readonly upgrades: readonly LastUpgrade[];
}

/** @param notes null if this user may not read them */
export function serviceStatus(
  { service, state, startsWithMachine }: Extract<Found, { is: "installed" }>,
  notes: LauncherNotes | null,
): ServiceStatus {
  const { name, program, config } = service;
  const running = state.is === "running" ? (notes?.running ?? null) : null;
  return {
    ...{ name, program, state: state.is, startsWithMachine, config },
    sentence: sentenceOf(name, program, state, running?.started_at ?? null),
    version: running?.version ?? null,
    data: service.state,
    failures: notes && failuresOf(notes.starts),
    upgrade: notes?.upgrades.at(-1) ?? null,
  };
}

/** Lines for a reader, with times as the API writes them. `now` is in ms. */
export function statusLines(status: ServiceStatus, now: number): string[] {
  const { name, program, sentence, startsWithMachine, version, config, data, failures, upgrade } = status;
  return [
    `${name}: ${sentence}`,
    ...(startsWithMachine ? [] : ["  it does not start with the machine"]),
    `  program        ${program}${version === null ? "" : ` ${version}`}`,
    ...(config === null ? [] : [`  configuration  ${config}`]),
    `  data           ${data}`,
    ...(upgrade === null ? [] : [`  last upgrade   ${upgradeText(upgrade)}`]),
    ...failureLines(failures, now),
  ];
}

function upgradeText({ at, to, outcome, reason }: LastUpgrade): string {
  return `${at} to ${to}: ${outcome}${reason === null ? "" : ` because ${reason}`}`;
}

function failureLines(failures: readonly StartFailure[] | null, now: number): string[] {
  if (failures === null) return ["  run this as an administrator to see the version and the last failures"];
  if (failures.length === 0) return [];
  return [
    "  last failures",
    ...failures.map(({ at, sentence, times }) => {
      const often = times === 1 ? "" : `, ${times} times in a row`;
      return `    ${at}, ${ago(now - Date.parse(at))}${often}: ${sentence.replaceAll("\n", "\n      ")}`;
    }),
  ];
}

function sentenceOf(name: string, program: ServiceProgram, state: ServiceState, startedAt: string | null): string {
  switch (state.is) {
    case "running": {
      const since = startedAt ?? state.since;
      return `running${since === null ? "" : ` since ${since}`}`;
    }
    case "changing":
      return "starting or stopping: try again in a few seconds";
    case "waiting":
      return `failed${codeText(state.code)}, starts again ${state.at === null ? "in a few seconds" : `at ${state.at}`}`;
    case "stopped":
      return `stopped: start it with "vetwire service start ${program}${nameOption(name, program)}"`;
    case "failed":
      return `failed${codeText(state.code)}: correct the cause, then "vetwire service start ${program}${nameOption(name, program)}"`;
  }
}

function nameOption(name: string, program: ServiceProgram): string {
  return name === `vetwire-${program}` ? "" : ` --name ${name}`;
}

/** Codes that have a meaning of their own: of sysexits.h, and of systemd before the program starts (systemd.exec). */
const CODES: ReadonlyMap<number, string> = new Map([
  [78, "the configuration is refused"],
  [203, "Node or the program is missing"],
  [217, "the user of the service is missing"],
  [226, "a folder of the service is missing"],
]);

function codeText(code: number | null): string {
  if (code === null) return "";
  const meaning = CODES.get(code);
  return ` with code ${code}${meaning === undefined ? "" : ` (${meaning})`}`;
}

/** Joins starts in a row that failed in the same way, since a service manager tries for ever. */
function failuresOf(starts: LauncherNotes["starts"]): StartFailure[] {
  const failures: StartFailure[] = [];
  for (const { ended_at: at, version, code, sentence } of starts) {
    const failure = { at, version, code, sentence: sentence ?? `it ended with code ${code ?? "unknown"}`, times: 1 };
    const last = failures.at(-1);
    const isSame = last?.sentence === failure.sentence && last.version === version;
    if (isSame) failures[failures.length - 1] = { ...failure, times: last.times + 1 };
    else failures.push(failure);
  }
  return failures.toReversed();
}

function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "less than a minute ago";
  if (minutes < 60) return `${minutes} minute${minutes === 1 ? "" : "s"} ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} hour${hours === 1 ? "" : "s"} ago`;
  return `${Math.floor(hours / 24)} days ago`;
}
