import type { ClinicFacts } from "./alert-conditions.ts";
import { failedPcs } from "../agents/rollout.ts";
import { CRITICAL_HOURS } from "../../dashboard/types/results/today.ts";
import type { Session } from "../../database/query.ts";
import { knownPasswords } from "../users/members.ts";
import { readRollout } from "../agents/rollouts.ts";
import { readCareFacts } from "../agents/device-log.ts";
import { readHeardAgents } from "../agents/devices.ts";
import { webhooksPausedByThemselves } from "../webhooks/webhooks.ts";
import { readQueueFacts } from "../destinations/overview.ts";
import { critical, criticalByFp, keysInUse, unmatched } from "./today.ts";

const HOUR_MS = 3_600_000;

interface Asked {
  readonly clinicId: number;
  readonly timeZone: string | null;
  readonly now: number;
  /** Critical studies with an open alert. They count until a user sees them, however old they are. */
  readonly openCritical: readonly string[];
}

/** Reads what the alerts of a clinic are computed from: the facts of the screen Today. */
export async function readAlertFacts(
  session: Session,
  { clinicId, timeZone, now, openCritical }: Asked,
): Promise<ClinicFacts> {
  const waiting = await session.first(unmatched, { clinicId });
  const heard = await readHeardAgents(session, { clinicId, timeZone, now });
  const stored = await readRollout(session, clinicId);
  const agents = heard.agents.map(({ shown }) => shown);
  return {
    ...heard,
    failedUpdates: stored === undefined ? [] : failedPcs(stored.rollout, agents),
    destinations: await readQueueFacts(session, clinicId),
    keys: await session.all(keysInUse, { clinicId }),
    knownPasswords: await session.all(knownPasswords, { clinicId }),
    pausedWebhooks: await webhooksPausedByThemselves(session, clinicId),
    care: await readCareFacts(
      session,
      { clinicId, timeZone, now },
      agents.flatMap(({ devices }) => devices),
    ),
    unmatched: { count: waiting?.count ?? 0, oldest: waiting?.oldest ?? null },
    critical: await unseenCritical(session, { clinicId, now, openCritical }),
  };
}

async function unseenCritical(
  session: Session,
  { clinicId, now, openCritical }: Omit<Asked, "timeZone">,
): Promise<ClinicFacts["critical"]> {
  const recent = await session.all(critical, { clinicId, since: now - CRITICAL_HOURS * HOUR_MS });
  const listed = new Set(recent.map(({ fp }) => fp));
  const older: ClinicFacts["critical"][number][] = [];
  for (const fp of openCritical.filter((each) => !listed.has(each))) {
    const study = await session.first(criticalByFp, { clinicId, fp });
    if (study !== undefined) older.push(study);
  }
  return [...recent, ...older];
}
