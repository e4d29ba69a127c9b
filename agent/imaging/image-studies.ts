import type Database from "better-sqlite3";
import {
  isPictureFault,
  type LocalForwards,
  type LocalImage,
  type LocalImages,
  type LocalImageStudy,
} from "../page/types/images.ts";
import { type CodedReason, shownReason } from "../page/types/message-codes.ts";

// The newest studies of images, for the agent's page. Each query is bounded, because the main thread also serves devices.

const STUDIES_MAX = 50;
/** Newest images among which the studies are found. */
const SEARCHED_IMAGES = 5000;
/** Images of a study that are counted. */
const COUNTED_IMAGES = 1000;
/** Images of a study that are shown, as on the dashboard. */
const SHOWN_IMAGES = 12;

/** Returns the studies whose images arrived last. */
export function newestImageStudies(db: Database.Database): LocalImages {
  const newest = db.prepare(NEWEST).all() as { readonly study: string; readonly message: string }[];
  const describe = describerOn(db);
  return { studies: newest.slice(0, STUDIES_MAX).map(describe), has_older: newest.length > STUDIES_MAX };
}

/** The ids of messages rise with time. */
const NEWEST = `SELECT study_uid AS study, MAX(message) AS message
  FROM (SELECT study_uid, message FROM instance ORDER BY message DESC LIMIT ${SEARCHED_IMAGES})
  GROUP BY study_uid ORDER BY message DESC LIMIT ${STUDIES_MAX + 1}`;

const IMAGES = "SELECT message, removed_at FROM instance WHERE study_uid = ? ORDER BY message LIMIT";

const COUNTS = `SELECT COUNT(*) AS images, COUNT(i.removed_at) AS removed, json_group_array(DISTINCT m.state) AS states,
  MAX(m.reason) AS reason, MAX(m.code) AS code FROM (${IMAGES} ${COUNTED_IMAGES + 1}) i JOIN message m ON m.id = i.message`;

// An archive that left the configuration has no row in destination. CROSS JOIN keeps the order of the tables, so that each row of
// forward is found by its key.
const FORWARDS = `SELECT d.id AS destination, COUNT(*) FILTER (WHERE f.state = 'queued') AS queued,
  COUNT(*) FILTER (WHERE f.state = 'sent') AS sent, COUNT(*) FILTER (WHERE f.state = 'refused') AS refused,
  MAX(f.reason) FILTER (WHERE f.state <> 'sent') AS reason, MAX(f.code) FILTER (WHERE f.state <> 'sent') AS code
  FROM (${IMAGES} ${COUNTED_IMAGES}) i CROSS JOIN destination d
  CROSS JOIN forward f ON f.destination = d.id AND f.message = i.message GROUP BY d.id ORDER BY d.id`;

function describerOn(db: Database.Database) {
  const message = db.prepare("SELECT device, received_at AS receivedAt FROM message WHERE id = ?");
  const [counts, forwards] = [db.prepare(COUNTS), db.prepare(FORWARDS)];
  const shown = db.prepare(
    `SELECT i.message AS id, i.removed_at IS NOT NULL AS isRemoved, (SELECT MAX(p.reason) FROM message_study link
       JOIN preview p ON p.fp = link.fp AND p.message = link.message WHERE link.message = i.message AND p.state = 'undrawable') AS fault
     FROM (${IMAGES} ${SHOWN_IMAGES}) i`,
  );
  return ({ study, message: id }: { readonly study: string; readonly message: string }): LocalImageStudy => {
    const { device, receivedAt } = message.get(id) as { device: string; receivedAt: number };
    const { images, removed, states, reason, code } = counts.get(study) as Counts;
    const first = shown.all(study) as ShownImage[];
    return {
      study_uid: study,
      device,
      received_at: new Date(receivedAt).toISOString(),
      states: JSON.parse(states) as string[],
      ...shownReason({ reason, code }),
      images: Math.min(images, COUNTED_IMAGES),
      has_more: images > COUNTED_IMAGES,
      removed: Math.min(removed, COUNTED_IMAGES),
      forwards: (forwards.all(study) as Forwards[]).map(forwardsOf),
      shown: first.map(
        ({ id: image, isRemoved, fault }): LocalImage => ({
          id: image,
          is_removed: isRemoved === 1,
          fault: isPictureFault(fault) ? fault : null,
        }),
      ),
    };
  };
}

type Forwards = LocalForwards & Required<CodedReason>;

function forwardsOf({ reason, code, ...counts }: Forwards): LocalForwards {
  return { ...counts, ...shownReason({ reason, code }) };
}

interface ShownImage {
  readonly id: string;
  readonly isRemoved: 0 | 1;
  readonly fault: string | null;
}

interface Counts {
  readonly images: number;
  readonly removed: number;
  /** JSON */
  readonly states: string;
  readonly reason: string | null;
  readonly code: string | null;
}
