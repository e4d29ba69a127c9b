import type { SetupAdvice, SetupLine } from "../page/types/setup.ts";

/** Returns what to check after listening without a candidate, the likeliest first. */
export function adviceFor({ kind }: SetupLine, isSilent: boolean): readonly SetupAdvice[] {
  // A folder is not listened to.
  if (kind === "folder") return [];
  return isSilent ? SILENT[kind] : UNREAD[kind];
}

type Line = Exclude<SetupLine["kind"], "folder">;

const SILENT: Readonly<Record<Line, readonly SetupAdvice[]>> = {
  serial: ["cable", "nullModem", "sendingOff", "again"],
  listen: ["addressThere", "network", "firewall", "sendingOff", "again"],
  dial: ["deviceOff", "network", "sendingOff", "again"],
  imaging: ["addressThere", "aeTitle", "network", "firewall", "again"],
};

const UNREAD: Readonly<Record<Line, readonly SetupAdvice[]>> = {
  serial: ["speed", "again", "unknown"],
  listen: ["unknown"],
  dial: ["unknown"],
  imaging: ["encryption", "unknown"],
};
