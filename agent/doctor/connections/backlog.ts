import type Database from "better-sqlite3";
import { plural } from "../../../shared/platform/cli/output.ts";
import { outcomeAdvice } from "../../../shared/network/hl7-sender/outcome-words.ts";
import { countImages } from "../../imaging/catalogue.ts";
import { waitingQuality } from "../../spool/queries/devices/quality-records.ts";
import { readDestinations } from "../../spool/queries/result-destinations.ts";
import { spoolCheck } from "../check/check.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { ok, problem, warning } from "../check/finding.ts";

// Lists the work that waits: studies and changes for the server, messages for a person, images for an archive.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const backlog = spoolCheck("backlog", "Waiting results", (db) => {
  const found = [...outbox(db), ...changes(db), ...quality(db), ...messages(db), ...images(db), ...destinations(db)];
  return found.length > 0 ? found : [ok("backlog.none", "nothing waits")];
});

function outbox(db: Database.Database): Finding[] {
  const { depth, oldest } = db
    .prepare("SELECT COUNT(*) AS depth, MIN(created_at) AS oldest FROM study WHERE state = 'queued'")
    .get() as { readonly depth: number; readonly oldest: number | null };
  return waiting("backlog.outbox", depth === 1 ? "1 study waits" : `${depth} studies wait`, oldest);
}

/** The animals and orders that practice software sent. */
function changes(db: Database.Database): Finding[] {
  const { depth, oldest } = db
    .prepare(
      `SELECT COUNT(*) AS depth, MIN(m.received_at) AS oldest FROM registry_change c JOIN message m ON m.id = c.message
       WHERE c.state = 'queued'`,
    )
    .get() as { readonly depth: number; readonly oldest: number | null };
  return waiting("backlog.changes", depth === 1 ? "1 change waits" : `${depth} changes wait`, oldest);
}

/** A server of an older version takes no control runs and events, which is not a fault. */
function quality(db: Database.Database): Finding[] {
  const { depth, oldestAt } = waitingQuality(db);
  if (oldestAt === null || Date.now() - oldestAt < DAY_MS) return [];
  const records = plural(depth, "record");
  return [
    ok("backlog.quality", `${records} of controls and devices not sent yet: the server may be of an older version`),
  ];
}

/** Reports what waits for the server for an hour. */
function waiting(code: string, what: string, oldest: number | null): Finding[] {
  const age = oldest === null ? 0 : Date.now() - oldest;
  if (age < HOUR_MS) return [];
  const hours = Math.floor(age / HOUR_MS);
  const since = hours < 48 ? plural(hours, "hour") : `${Math.floor(hours / 24)} days`;
  const remedy = "solve the problems of server and key above, and let the agent run: it sends them by itself";
  return [(hours < 24 ? warning : problem)(code, `${what} for the server, the oldest for ${since}`, remedy)];
}

function messages(db: Database.Database): Finding[] {
  const count = db.prepare("SELECT COUNT(*) FROM message WHERE state = ? AND completed_by IS NULL").pluck();
  const quarantined = count.get("quarantined") as number;
  const unmatched = count.get("unmatched") as number;
  const found: Finding[] = [];
  if (quarantined > 0) {
    const remedy =
      "read why with agent messages --state quarantined, correct it, then agent reprocess --state quarantined";
    found.push(warning("backlog.quarantined", `${plural(quarantined, "message")} cannot be read`, remedy));
  }
  if (unmatched > 0) {
    const remedy = "place them in the dashboard under To place";
    const sentence = `${plural(unmatched, "message")} without a certain patient`;
    found.push(warning("backlog.unmatched", sentence, remedy));
  }
  return found;
}

function images(db: Database.Database): Finding[] {
  const refused = (countImages(db)?.forwards ?? []).filter(({ state }) => state === "refused");
  return refused.map(({ destination, count }) => {
    const sentence = `${destination} refused ${plural(count, "image")}`;
    const remedy = `read why with agent images, correct it, then agent images retry ${destination}`;
    return warning("backlog.images", sentence, remedy);
  });
}

/** The last responses of the destinations of results, and the results that they refused. */
function destinations(db: Database.Database): Finding[] {
  return readDestinations(db, true).flatMap(({ id, last, parked }) => {
    const found: Finding[] = [];
    const advice = last === null ? null : outcomeAdvice(last.code, last.text);
    if (last?.outcome === "failed" && advice !== null) {
      const remedy = advice.remedy ?? `look at ${id} on the agent's page under To send`;
      found.push({
        ...warning("backlog.destination", `${id} did not take the last result: ${advice.fault}`, remedy),
        // The words of a receiver may name an animal, and the id a person.
        forSupport: `"${id}" did not take the last result: ${outcomeAdvice(last.code, null)?.fault}`,
      });
    }
    if (parked !== null && parked > 0) {
      const remedy =
        "read why on the agent's page under To send, correct it at the receiver, then send them again there";
      const refused = `refused ${plural(parked, "result")}`;
      found.push({ ...warning("backlog.refused", `${id} ${refused}`, remedy), forSupport: `"${id}" ${refused}` });
    }
    return found;
  });
}
