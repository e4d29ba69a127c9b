import type { ClinicFacts, UnseenCritical } from "./alert-conditions.ts";
import { failedPcs } from "../agents/rollout.ts";
import { CRITICAL_HOURS } from "../../dashboard/types/results/today.ts";
import type { Moment } from "../../operations/alerts/moment.ts";
import { DamagedRecord } from "../../database/damaged-records.ts";
import type { Session } from "../../database/query.ts";
import { readRollout } from "../agents/rollouts.ts";
import { readCareFacts } from "../agents/device-log.ts";
import { readHeardAgents } from "../agents/devices.ts";
import { critical, criticalByFp, keysInUse } from "./today.ts";
import type { ListedFacts } from "./watched-clinics.ts";

const HOUR_MS = 3_600_000;

interface Asked {
  readonly clinicId: number;
  readonly timeZone: string | null;
  /** Facts that are read for all clinics in one query. */
  readonly listed: ListedFacts;
  readonly moment: Moment;
  /** Critical studies with an open alert. They count until a user sees them, however old they are. */
  readonly openCritical: readonly string[];
}

/**
 * Reads what the alerts of a clinic are computed from: the facts of the screen Today. A fact that changes by time alone needs a comparison
 * by `moment`, and any other one a part in the mark of watched-clinics.ts: without them its alerts come late.
 */
export async function readAlertFacts(
  session: Session,
  { clinicId, timeZone, listed, moment, openCritical }: Asked,
): Promise<ClinicFacts> {
  const heard = await readHeardAgents(session, { clinicId, timeZone, moment });
  const stored = await readRollout(session, clinicId);
  const agents = heard.agents.map(({ shown }) => shown);
  return {
    ...heard,
    ...listed,
    failedUpdates: stored === undefined ? [] : failedPcs(stored.rollout, agents),
    keys: await session.all(keysInUse, { clinicId }),
    care: await readCareFacts(
      session,
      { clinicId, timeZone, moment },
      agents.flatMap(({ devices }) => devices),
    ),
    critical: await unseenCritical(session, { clinicId, now: moment.now, openCritical }),
  };
}

async function unseenCritical(
  session: Session,
  { clinicId, now, openCritical }: Pick<Asked, "clinicId" | "openCritical"> & { readonly now: number },
): Promise<UnseenCritical[]> {
  const lastsMs = CRITICAL_HOURS * HOUR_MS;
  const recent = await session.all(critical, { clinicId, since: now - lastsMs });
  const listed = new Set(recent.map(({ fp }) => fp));
  const older: UnseenCritical[] = [];
  for (const fp of openCritical.filter((each) => !listed.has(each))) {
    const study = await session.first(criticalByFp, { clinicId, fp }).catch((error: unknown) => {
      if (!(error instanceof DamagedRecord)) throw error;
      return { fp, device_name: "", received_at: now, isDamaged: true };
    });
    if (study !== undefined) older.push(study);
  }
  return [
    ...recent.map(({ fp, device_name, received_at, acquired_at, cause }) => {
      const from = cause === "imported" ? Math.min(received_at, acquired_at) : received_at;
      return { fp, device_name, received_at, until: from + lastsMs + 1 };
    }),
    ...older,
  ];
}
