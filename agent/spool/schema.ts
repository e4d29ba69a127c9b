import type Database from "better-sqlite3";

/** Gives measurements in headers a concept instead of a name. Headers are read again where the file of the image is here. */
export const measurementsByConcept = `
  UPDATE instance SET header = NULL WHERE removed_at IS NULL AND json_array_length(header, '$.measurements') > 0;
  UPDATE instance SET header = json_set(header, '$.measurements', (
    SELECT json_group_array(json_object(
      'concept', json_object('value', '', 'scheme', '', 'meaning', json_extract(m.value, '$.name')), 'modifiers', json('[]'),
      'value', json_extract(m.value, '$.value'), 'unit', json_extract(m.value, '$.unit')))
    FROM json_each(header, '$.measurements') m))
  WHERE removed_at IS NOT NULL AND json_array_length(header, '$.measurements') > 0;
`;

// The spool's tables. Append-only: a released migration is never edited.
const migrations: readonly string[] = [
  `
  -- From one rest of a link to the next; a long connection is many sessions. first_event bounds the scan of a replay.
  CREATE TABLE session (
    id INTEGER PRIMARY KEY, device TEXT NOT NULL, profile TEXT NOT NULL,
    first_event INTEGER NOT NULL, opened_at INTEGER NOT NULL, finished_at INTEGER
  ) STRICT;
  CREATE INDEX session_unfinished ON session (id) WHERE finished_at IS NULL;

  -- All that moved a link, in the order it happened. No index: one append per row is what makes a commit cheap.
  CREATE TABLE event (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, bytes BLOB
  ) STRICT;

  -- (session, ordinal) names a message whoever computes it, so a replay cannot store it twice.
  CREATE TABLE message (
    id TEXT PRIMARY KEY, session INTEGER NOT NULL, ordinal INTEGER NOT NULL, device TEXT NOT NULL, profile TEXT NOT NULL,
    received_at INTEGER NOT NULL, bytes BLOB NOT NULL, incomplete TEXT,
    state TEXT NOT NULL, reason TEXT, processed_at INTEGER, completed_by TEXT,
    UNIQUE (session, ordinal)
  ) STRICT;
  CREATE INDEX message_unprocessed ON message (received_at) WHERE processed_at IS NULL;
  CREATE INDEX message_incomplete ON message (device, received_at) WHERE incomplete IS NOT NULL AND completed_by IS NULL;
  CREATE INDEX message_received ON message (received_at);

  CREATE TABLE study (
    fp TEXT NOT NULL, revision INTEGER NOT NULL, dedupe_key TEXT NOT NULL, patient_fp TEXT,
    body TEXT NOT NULL, snapshot TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT, existing_fp TEXT, created_at INTEGER NOT NULL, settled_at INTEGER,
    UNIQUE (fp, revision), UNIQUE (dedupe_key, revision)
  ) STRICT;
  CREATE INDEX study_queued ON study (created_at) WHERE state = 'queued';
  CREATE TABLE message_study (
    message TEXT NOT NULL, fp TEXT NOT NULL, revision INTEGER NOT NULL, PRIMARY KEY (message, fp, revision)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX message_study_fp ON message_study (fp, revision);

  CREATE TABLE patient (fp TEXT PRIMARY KEY, body TEXT NOT NULL, walk INTEGER NOT NULL) STRICT;
  CREATE TABLE identifier (
    identifier TEXT NOT NULL, patient_fp TEXT NOT NULL, walk INTEGER NOT NULL, PRIMARY KEY (identifier, patient_fp)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX identifier_patient ON identifier (patient_fp);

  CREATE TABLE device (id TEXT PRIMARY KEY, profile TEXT NOT NULL, connected INTEGER NOT NULL, last_message_at INTEGER) STRICT;
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- How often a study left for the server, and when last.
  ALTER TABLE study ADD COLUMN sends INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE study ADD COLUMN sent_at INTEGER;
  `,
  `
  -- Kept for ever: an accession names one animal's sample, and must never come to name another's.
  CREATE TABLE test_order (
    accession TEXT PRIMARY KEY, device TEXT NOT NULL, patient_fp TEXT NOT NULL, tests TEXT NOT NULL,
    created_at INTEGER NOT NULL, state TEXT NOT NULL
  ) STRICT;
  CREATE INDEX test_order_open ON test_order (device, created_at) WHERE state <> 'resulted';

  -- The animals who come today, as the server's calendar said last.
  CREATE TABLE appointment (fp TEXT PRIMARY KEY, patient_fp TEXT NOT NULL, start_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- What a message has in common with itself sent again, where its protocol tells: it is stored once.
  ALTER TABLE message ADD COLUMN fingerprint TEXT;
  CREATE UNIQUE INDEX message_fingerprint ON message (device, fingerprint) WHERE fingerprint IS NOT NULL;
  `,
  `
  -- What a message that is a DICOM instance has besides. Its bytes are a file named by the message's id.
  CREATE TABLE instance (
    message TEXT PRIMARY KEY, study TEXT NOT NULL, sop_class TEXT NOT NULL, sop_instance TEXT NOT NULL,
    transfer_syntax TEXT NOT NULL, calling_ae TEXT NOT NULL,
    sha256 TEXT NOT NULL, file_bytes INTEGER NOT NULL, header_bytes INTEGER NOT NULL, header TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX instance_study ON instance (study);
  CREATE INDEX instance_sop ON instance (sop_instance);

  -- Studies of which something came that was not assessed yet, and when they are held to be whole.
  CREATE TABLE image_study (study TEXT PRIMARY KEY, due_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX image_study_due ON image_study (due_at);
  `,
  `
  -- Of an imaging device's worklist: which appointment the accession was made for.
  ALTER TABLE test_order ADD COLUMN appointment TEXT;
  CREATE UNIQUE INDEX test_order_appointment ON test_order (device, appointment) WHERE appointment IS NOT NULL;

  -- What a device said of an examination while it went on (MPPS).
  CREATE TABLE procedure_step (
    sop_instance TEXT PRIMARY KEY, device TEXT NOT NULL, state TEXT NOT NULL, attributes TEXT NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Devices that asked whether we have their images for good, and are to be told.
  CREATE TABLE commitment (
    id INTEGER PRIMARY KEY, transaction_uid TEXT NOT NULL, device TEXT NOT NULL, calling_ae TEXT NOT NULL, instance_list TEXT NOT NULL,
    requested_at INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, next_at INTEGER NOT NULL, reported_at INTEGER, outcome TEXT
  ) STRICT;
  CREATE INDEX commitment_open ON commitment (device, next_at) WHERE reported_at IS NULL;

  -- Where each instance goes besides the server; the rows are made with the instance.
  CREATE TABLE destination (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE forward (
    destination TEXT NOT NULL, message TEXT NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, reason TEXT,
    settled_at INTEGER, PRIMARY KEY (destination, message)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX forward_queued ON forward (destination, tries, message) WHERE state = 'queued';
  `,
  `
  -- What devices say of themselves; name is the one that a device gives itself, for several may speak on one connection.
  CREATE TABLE news (
    device TEXT NOT NULL, name TEXT NOT NULL, topic TEXT NOT NULL, content TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (device, name, topic, content)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- When an instance's bytes came last, when its file was removed, and whether a device was told that we have it for good.
  ALTER TABLE instance ADD COLUMN stored_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE instance ADD COLUMN removed_at INTEGER;
  ALTER TABLE instance ADD COLUMN promised INTEGER NOT NULL DEFAULT 0;
  UPDATE instance SET stored_at = (SELECT received_at FROM message WHERE id = instance.message);
  CREATE INDEX instance_kept ON instance (stored_at, message, file_bytes) WHERE removed_at IS NULL;
  CREATE INDEX instance_removed ON instance (removed_at) WHERE removed_at IS NOT NULL;
  `,
  `
  -- Where the bytes of a message stand in the record (record.ts); then it has none of its own.
  ALTER TABLE message ADD COLUMN first_event INTEGER;
  ALTER TABLE message ADD COLUMN last_event INTEGER;
  ALTER TABLE message ADD COLUMN start INTEGER;
  ALTER TABLE message ADD COLUMN length INTEGER;
  -- Old ones are found by their session.
  DROP INDEX message_received;
  -- Ids that count up, or are times, stand together whoever sent them: a commit writes fewer pages.
  DROP INDEX message_fingerprint;
  CREATE UNIQUE INDEX message_fingerprint ON message (fingerprint, device) WHERE fingerprint IS NOT NULL;
  `,
  `
  CREATE INDEX message_completed ON message (completed_by) WHERE completed_by IS NOT NULL;
  `,
  measurementsByConcept,
  `
  -- The rest of what a running agent knows of a device, as JSON: its line in words, and counters. NULL: it is not served.
  ALTER TABLE device ADD COLUMN standing TEXT;
  ALTER TABLE device ADD COLUMN last_bytes_at INTEGER;
  `,
  `
  -- The order in which rows were stored is that of their rowids. The clock may be set back, so times give no order.
  DROP INDEX message_unprocessed;
  CREATE INDEX message_unprocessed ON message (processed_at) WHERE processed_at IS NULL;
  DROP INDEX message_incomplete;
  CREATE INDEX message_incomplete ON message (device) WHERE incomplete IS NOT NULL AND completed_by IS NULL;
  DROP INDEX study_queued;
  CREATE INDEX study_queued ON study (state) WHERE state = 'queued';
  -- The quiet time of the device bounds how far ahead due_at may lie, whatever becomes of the clock.
  ALTER TABLE image_study ADD COLUMN quiet_ms INTEGER NOT NULL DEFAULT 60000;
  `,
  `
  -- The keys that would match an unmatched message: identifiers as sent, and patient fps. due: such a patient came or changed
  -- after the message was assessed.
  CREATE TABLE waiting (
    key TEXT NOT NULL, message TEXT NOT NULL, due INTEGER NOT NULL, PRIMARY KEY (key, message)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX waiting_message ON waiting (message);
  CREATE INDEX waiting_due ON waiting (message) WHERE due = 1;
  INSERT OR IGNORE INTO waiting (key, message, due)
    SELECT json_extract(s.body, '$.patient_hint.identifier'), l.message, 0
    FROM study s JOIN message_study l ON l.fp = s.fp AND l.revision = s.revision
    WHERE s.state = 'unmatched' AND json_extract(s.body, '$.patient_hint.identifier') IS NOT NULL;
  `,
  `
  -- The backlog is read per device, each in the order of the rowids.
  DROP INDEX message_unprocessed;
  CREATE INDEX message_unprocessed ON message (device, processed_at) WHERE processed_at IS NULL;
  `,
  `
  -- What the events of a finished session take, and what a device takes in all, in bytes. Of an earlier program's rows the
  -- messages are counted.
  ALTER TABLE session ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE device ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE device SET stored_bytes = known.bytes FROM
    (SELECT device, SUM(length(bytes) + 400) AS bytes FROM message GROUP BY device) AS known WHERE known.device = device.id;

  -- Events that belong to no message, in runs of one session. The oldest beyond a bound are removed.
  CREATE TABLE noise (
    device TEXT NOT NULL, first_event INTEGER NOT NULL, last_event INTEGER NOT NULL, session INTEGER NOT NULL,
    bytes INTEGER NOT NULL, PRIMARY KEY (device, first_event)
  ) STRICT, WITHOUT ROWID;
  `,
];

/** Whether the database has this program's schema. */
export function isCurrent(db: Database.Database): boolean {
  return Number(db.pragma("user_version", { simple: true })) === migrations.length;
}

/** Brings the database up to this program's schema; one newer than the program is refused. */
export function migrate(db: Database.Database): void {
  const version = Number(db.pragma("user_version", { simple: true }));
  if (version > migrations.length) {
    throw new Error(`the spool has schema ${version}, this agent knows up to ${migrations.length}: use a newer agent`);
  }
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue;
    db.transaction(() => {
      db.exec(sql);
      db.pragma(`user_version = ${index + 1}`);
    })();
  }
}
