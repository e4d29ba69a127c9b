import type { ClinicFacts } from "../../domain/alerts.ts";
import { failedPcs } from "../../domain/rollout.ts";
import { CRITICAL_HOURS } from "../../../shared/dashboard/today.ts";
import type { Session } from "../database/query.ts";
import { readRollout } from "../agents/rollouts.ts";
import { readHeardAgents } from "./devices.ts";
import { critical, keysInUse, toPlace } from "./today.ts";

const HOUR_MS = 3_600_000;

/** Reads what the alerts of a clinic are computed from: the facts of the screen Today. */
export async function readAlertFacts(
  session: Session,
  { clinicId, timeZone, now }: { clinicId: number; timeZone: string | null; now: number },
): Promise<ClinicFacts> {
  const waiting = await session.first(toPlace, { clinicId });
  const heard = await readHeardAgents(session, { clinicId, timeZone, now });
  const stored = await readRollout(session, clinicId);
  const agents = heard.agents.map(({ shown }) => shown);
  return {
    ...heard,
    failedUpdates: stored === undefined ? [] : failedPcs(stored.rollout, agents),
    keys: await session.all(keysInUse, { clinicId }),
    toPlace: { count: waiting?.count ?? 0, oldest: waiting?.oldest ?? null },
    critical: await session.all(critical, { clinicId, since: now - CRITICAL_HOURS * HOUR_MS }),
  };
}
