import type Database from "better-sqlite3";
import { newUlid } from "../../shared/api/fp.ts";
import type { Patient } from "../../shared/api/patient.ts";
import { shownReason } from "../page/types/message-codes.ts";
import type { FirstMessage, SetupStudy } from "../page/types/setup.ts";
import { analyzersOf } from "../analyzers.ts";
import type { Config, DeviceConfig } from "../config/values/schema.ts";
import { createLink, linkContext } from "../connection/create-link.ts";
import { searchSpool } from "../spool/access.ts";
import { type Operations, operationsOn } from "../spool/queries/operations.ts";
import type { Settlement } from "../spool/queries/studies/studies.ts";
import type { FilingDevice } from "../study/assess.ts";
import { localResults } from "../tools/offline/local-results.ts";
import { messageOf, preview } from "../tools/offline/reprocess.ts";
import { looksLike } from "./candidates.ts";

// The studies of a new device as they would be filed, with the patients and intervals that this PC knows. Nothing is written.

/** Reads the complete messages in heard bytes. A dialogue that waits for the agent's acknowledgement has none. */
export async function studiesIn(bytes: Uint8Array, device: DeviceConfig, config: Config): Promise<SetupStudy[]> {
  const filing = filingOf(device, config);
  if (filing === null) return [];
  const link = createLink(filing.profile, linkContext(filing.timeZone));
  const messages = link
    .receive(bytes)
    .flatMap((action) => (action.do === "deliver" && action.incomplete === null ? [action.message] : []));
  return searchSpool(config.data, async (db) => {
    const studies: SetupStudy[] = [];
    for (const message of messages.slice(0, MESSAGES_MAX)) {
      const stored = { id: newUlid(), device: device.id, profile: device.profile, receivedAt: Date.now() };
      const settlement = await preview(
        operationsOn(db),
        { ...stored, bytes: message, incomplete: null },
        filing,
        config.matchPatientsByName ?? false,
      );
      studies.push(...shownStudies(settlement, operationsOn(db)));
    }
    return studies;
  });
}

const MESSAGES_MAX = 10;

/** Max rows searched, newest first, which bounds the time for a large spool. */
const ROWS_MAX = 1000;

/** Returns the newest message of a device since a time; null for none. */
export async function firstMessage(device: DeviceConfig, since: number, config: Config): Promise<FirstMessage | null> {
  const filing = filingOf(device, config);
  return searchSpool(config.data, async (db) => {
    const id = newestMessage(db, device.id, since);
    if (id === null) return null;
    const message = messageOf(db, id);
    const { state, bytes } = message;
    const why = shownReason(message);
    if (filing === null) return { id, state, ...why, studies: [], looksLike: null };
    const settlement = await preview(operationsOn(db), message, filing, config.matchPatientsByName ?? false);
    const studies = shownStudies(settlement, operationsOn(db));
    return { id, state, ...why, studies, looksLike: looksLike(bytes, device.profile) };
  });
}

function newestMessage(db: Database.Database, device: string, since: number): string | null {
  const newest = db
    .prepare(
      `SELECT id FROM message WHERE rowid > (SELECT MAX(rowid) FROM message) - ${ROWS_MAX}
         AND device = ? AND received_at >= ? ORDER BY rowid DESC LIMIT 1`,
    )
    .pluck()
    .get(device, since);
  return typeof newest === "string" ? newest : null;
}

/** @returns null for an imaging device, which sends no messages */
function filingOf(device: DeviceConfig, config: Config): FilingDevice | null {
  return analyzersOf({ ...config, devices: [device] }).get(device.id) ?? null;
}

function shownStudies({ studies }: Settlement, operations: Operations): SetupStudy[] {
  return studies.map(({ body, snapshot }) => ({
    device_name: body.device_name,
    acquired_at: body.acquired_at,
    hint: body.patient_hint,
    patient: body.patient_fp === null ? null : patientName(body.patient_fp, operations),
    match: snapshot.notes[0] ?? "",
    results: localResults(body.results, snapshot),
  }));
}

function patientName(fp: string, operations: Operations): string {
  const [found] = operations.resolveReferences({ accessions: [], fps: [fp], identifiers: [] }).patients;
  return found === undefined ? fp : (JSON.parse(found) as Patient).name;
}
