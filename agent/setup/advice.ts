import type { SetupAdvice, SetupLine } from "../page/types/setup.ts";

/** Returns what to check after listening without a candidate, the likeliest first. */
export function adviceFor({ kind }: SetupLine, isSilent: boolean): readonly SetupAdvice[] {
  return isSilent ? SILENT[kind] : UNREAD[kind];
}

const SILENT: Readonly<Record<SetupLine["kind"], readonly SetupAdvice[]>> = {
  serial: ["cable", "nullModem", "sendingOff", "again"],
  listen: ["addressThere", "network", "firewall", "sendingOff", "again"],
  dial: ["deviceOff", "network", "sendingOff", "again"],
  imaging: ["addressThere", "aeTitle", "network", "firewall", "again"],
};

const UNREAD: Readonly<Record<SetupLine["kind"], readonly SetupAdvice[]>> = {
  serial: ["speed", "again", "unknown"],
  listen: ["unknown"],
  dial: ["unknown"],
  imaging: ["encryption", "unknown"],
};
