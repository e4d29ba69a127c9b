import type { Migration } from "../../shared/care/schema-steps.ts";

// The spool's tables. Migrations are append-only: the statements of a released one never change.

/** The migrations of 0.1.0, which have no undo. */
const FIRST: readonly string[] = [
  `
  -- A session lasts from one idle state of a link to the next; a long connection has many. first_event bounds the scan of a replay.
  CREATE TABLE session (
    id INTEGER PRIMARY KEY, device TEXT NOT NULL, profile TEXT NOT NULL,
    first_event INTEGER NOT NULL, opened_at INTEGER NOT NULL, finished_at INTEGER
  ) STRICT;
  CREATE INDEX session_unfinished ON session (id) WHERE finished_at IS NULL;

  -- The inputs of the links, in order. There is no index, because a commit is cheap if each row is one append.
  CREATE TABLE event (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, bytes BLOB
  ) STRICT;

  -- (session, ordinal) identifies a message, so a replay cannot store it twice.
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
  -- The number of sends of a study to the server, and the time of the last one.
  ALTER TABLE study ADD COLUMN sends INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE study ADD COLUMN sent_at INTEGER;
  `,
  `
  -- Rows are never removed, because an accession must never name the sample of another patient.
  CREATE TABLE test_order (
    accession TEXT PRIMARY KEY, device TEXT NOT NULL, patient_fp TEXT NOT NULL, tests TEXT NOT NULL,
    created_at INTEGER NOT NULL, state TEXT NOT NULL
  ) STRICT;
  CREATE INDEX test_order_open ON test_order (device, created_at) WHERE state <> 'resulted';

  -- Today's appointments, as they were last fetched from the server.
  CREATE TABLE appointment (fp TEXT PRIMARY KEY, patient_fp TEXT NOT NULL, start_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- Equal for a message and its resend, if the protocol can identify one. A resend is not stored again.
  ALTER TABLE message ADD COLUMN fingerprint TEXT;
  CREATE UNIQUE INDEX message_fingerprint ON message (device, fingerprint) WHERE fingerprint IS NOT NULL;
  `,
  `
  -- Further columns of a message that is a DICOM instance. Its dataset is a file named by the message's id.
  CREATE TABLE instance (
    message TEXT PRIMARY KEY, study TEXT NOT NULL, sop_class TEXT NOT NULL, sop_instance TEXT NOT NULL,
    transfer_syntax TEXT NOT NULL, calling_ae TEXT NOT NULL,
    sha256 TEXT NOT NULL, file_bytes INTEGER NOT NULL, header_bytes INTEGER NOT NULL, header TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX instance_study ON instance (study);
  CREATE INDEX instance_sop ON instance (sop_instance);

  -- Image studies that wait to be assessed, and the time at which they count as complete.
  CREATE TABLE image_study (study TEXT PRIMARY KEY, due_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX image_study_due ON image_study (due_at);
  `,
  `
  -- The appointment that the accession was made for, in the worklist of a modality.
  ALTER TABLE test_order ADD COLUMN appointment TEXT;
  CREATE UNIQUE INDEX test_order_appointment ON test_order (device, appointment) WHERE appointment IS NOT NULL;

  -- Modality performed procedure steps (MPPS).
  CREATE TABLE procedure_step (
    sop_instance TEXT PRIMARY KEY, device TEXT NOT NULL, state TEXT NOT NULL, attributes TEXT NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Storage commitment requests, and whether the device got its report.
  CREATE TABLE commitment (
    id INTEGER PRIMARY KEY, transaction_uid TEXT NOT NULL, device TEXT NOT NULL, calling_ae TEXT NOT NULL, instance_list TEXT NOT NULL,
    requested_at INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, next_at INTEGER NOT NULL, reported_at INTEGER, outcome TEXT
  ) STRICT;
  CREATE INDEX commitment_open ON commitment (device, next_at) WHERE reported_at IS NULL;

  -- The archives for each instance. The rows are inserted with the instance.
  CREATE TABLE destination (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE forward (
    destination TEXT NOT NULL, message TEXT NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, reason TEXT,
    settled_at INTEGER, PRIMARY KEY (destination, message)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX forward_queued ON forward (destination, tries, message) WHERE state = 'queued';
  `,
  `
  -- Status and operator reports sent by devices. name is the device's own name; several devices may share a connection.
  CREATE TABLE news (
    device TEXT NOT NULL, name TEXT NOT NULL, topic TEXT NOT NULL, content TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (device, name, topic, content)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The time of the last storage of an instance, the time of the removal of its file, and whether it was committed to a device.
  ALTER TABLE instance ADD COLUMN stored_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE instance ADD COLUMN removed_at INTEGER;
  ALTER TABLE instance ADD COLUMN promised INTEGER NOT NULL DEFAULT 0;
  UPDATE instance SET stored_at = (SELECT received_at FROM message WHERE id = instance.message);
  CREATE INDEX instance_kept ON instance (stored_at, message, file_bytes) WHERE removed_at IS NULL;
  CREATE INDEX instance_removed ON instance (removed_at) WHERE removed_at IS NOT NULL;
  `,
  `
  -- The byte range of a message in the event log. Such a message has no bytes of its own.
  ALTER TABLE message ADD COLUMN first_event INTEGER;
  ALTER TABLE message ADD COLUMN last_event INTEGER;
  ALTER TABLE message ADD COLUMN start INTEGER;
  ALTER TABLE message ADD COLUMN length INTEGER;
  -- Pruning finds old messages by their session.
  DROP INDEX message_received;
  -- Fingerprints with a counter or a time are adjacent across devices, so a commit writes fewer pages.
  DROP INDEX message_fingerprint;
  CREATE UNIQUE INDEX message_fingerprint ON message (fingerprint, device) WHERE fingerprint IS NOT NULL;
  `,
  `
  CREATE INDEX message_completed ON message (completed_by) WHERE completed_by IS NOT NULL;
  `,
  `
  -- Measurements in headers get a concept instead of a name. A header whose image file is present is read again.
  UPDATE instance SET header = NULL WHERE removed_at IS NULL AND json_array_length(header, '$.measurements') > 0;
  UPDATE instance SET header = json_set(header, '$.measurements', json((
    SELECT json_group_array(json_object(
      'concept', json_object('value', '', 'scheme', '', 'meaning', json_extract(m.value, '$.name')), 'modifiers', json('[]'),
      'value', json_extract(m.value, '$.value'), 'unit', json_extract(m.value, '$.unit')))
    FROM json_each(header, '$.measurements') m)))
  WHERE removed_at IS NOT NULL AND json_array_length(header, '$.measurements') > 0;
  `,
  `
  -- The rest of a device's state as JSON: its connection, last warning and counters. NULL if the device is not served.
  ALTER TABLE device ADD COLUMN standing TEXT;
  ALTER TABLE device ADD COLUMN last_bytes_at INTEGER;
  `,
  `
  -- Rowids give the order of storage. Times do not, because the clock may be set back.
  DROP INDEX message_unprocessed;
  CREATE INDEX message_unprocessed ON message (processed_at) WHERE processed_at IS NULL;
  DROP INDEX message_incomplete;
  CREATE INDEX message_incomplete ON message (device) WHERE incomplete IS NOT NULL AND completed_by IS NULL;
  DROP INDEX study_queued;
  CREATE INDEX study_queued ON study (state) WHERE state = 'queued';
  -- The quiet time of the device bounds due_at after a change of the clock.
  ALTER TABLE image_study ADD COLUMN quiet_ms INTEGER NOT NULL DEFAULT 60000;
  `,
  `
  -- The keys that would match an unmatched message: identifiers as sent, and patient fps. due is 1 if such a patient was added
  -- or changed after the message was assessed.
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
  -- The backlog is read per device, in the order of the rowids.
  DROP INDEX message_unprocessed;
  CREATE INDEX message_unprocessed ON message (device, processed_at) WHERE processed_at IS NULL;
  `,
  `
  -- The bytes of the events of a finished session, and of all rows of a device. For older rows only messages are counted.
  ALTER TABLE session ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE device ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE device SET stored_bytes = known.bytes FROM
    (SELECT device, SUM(length(bytes) + 400) AS bytes FROM message GROUP BY device) AS known WHERE known.device = device.id;

  -- Runs of events of one session that belong to no message. Beyond a bound the oldest are removed.
  CREATE TABLE noise (
    device TEXT NOT NULL, first_event INTEGER NOT NULL, last_event INTEGER NOT NULL, session INTEGER NOT NULL,
    bytes INTEGER NOT NULL, PRIMARY KEY (device, first_event)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Columns by the names of the standards, and nouns for tables. SQLite renames without reading the rows.
  ALTER TABLE patient RENAME COLUMN walk TO sync_generation;
  ALTER TABLE identifier RENAME COLUMN walk TO sync_generation;
  ALTER TABLE news RENAME TO device_report;
  ALTER TABLE device RENAME COLUMN standing TO state;
  ALTER TABLE message RENAME COLUMN incomplete TO truncation_reason;
  ALTER TABLE message RENAME COLUMN fingerprint TO duplicate_key;
  ALTER TABLE study RENAME COLUMN sends TO send_attempts;
  ALTER TABLE study RENAME COLUMN sent_at TO last_sent_at;
  ALTER TABLE test_order RENAME COLUMN appointment TO appointment_fp;
  ALTER TABLE instance RENAME COLUMN study TO study_uid;
  ALTER TABLE instance RENAME COLUMN sop_class TO sop_class_uid;
  ALTER TABLE instance RENAME COLUMN sop_instance TO sop_instance_uid;
  ALTER TABLE instance RENAME COLUMN transfer_syntax TO transfer_syntax_uid;
  ALTER TABLE instance RENAME COLUMN calling_ae TO calling_ae_title;
  ALTER TABLE instance RENAME COLUMN promised TO committed;
  ALTER TABLE procedure_step RENAME COLUMN sop_instance TO sop_instance_uid;
  ALTER TABLE commitment RENAME COLUMN calling_ae TO calling_ae_title;
  ALTER TABLE commitment RENAME COLUMN instance_list TO instances;
  ALTER TABLE commitment RENAME COLUMN tries TO attempts;
  ALTER TABLE commitment RENAME COLUMN next_at TO next_attempt_at;
  ALTER TABLE forward RENAME COLUMN tries TO attempts;
  ALTER TABLE image_study RENAME COLUMN study TO study_uid;
  ALTER TABLE image_study RENAME TO pending_image_study;
  ALTER TABLE waiting RENAME COLUMN key TO match_key;
  ALTER TABLE waiting RENAME TO pending_match;
  -- An index cannot be renamed. Those of large tables keep their names, because a new one would be built from every row.
  DROP INDEX image_study_due;
  CREATE INDEX pending_image_study_due ON pending_image_study (due_at);
  DROP INDEX waiting_message;
  CREATE INDEX pending_match_message ON pending_match (message);
  DROP INDEX waiting_due;
  CREATE INDEX pending_match_due ON pending_match (message) WHERE due = 1;
  UPDATE meta SET key = 'device-command:' || substr(key, length('directive:') + 1) WHERE key LIKE 'directive:%';
  UPDATE meta SET value = json_remove(json_set(value, '$.fullSyncAt', json_extract(value, '$.walkedAt')), '$.walkedAt')
    WHERE key = 'directory' AND json_extract(value, '$.walkedAt') IS NOT NULL;
  `,
  `
  -- New rows of all devices go to one page. In an index by device, each device of a commit would write a page of its own.
  DROP INDEX message_unprocessed;
  CREATE INDEX message_unprocessed ON message (processed_at) WHERE processed_at IS NULL;
  `,
  `
  -- Small pictures for the server, of the images of studies that it has. The position counts the images of a study from 1.
  CREATE TABLE preview (
    message TEXT NOT NULL, fp TEXT NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, reason TEXT, PRIMARY KEY (fp, message)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX preview_queued ON preview (attempts, message) WHERE state = 'queued';
  `,
];

export const MIGRATIONS: readonly Migration[] = [
  ...FIRST.map((sql) => ({ sql, undo: null })),
  {
    // The migrations from this one on, with the version of the program that applied them and the statements that undo them.
    sql: `
      CREATE TABLE migration (
        version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL, program TEXT NOT NULL, undo TEXT NOT NULL
      ) STRICT;
    `,
    undo: "DROP TABLE migration;",
  },
  {
    // The alerts count these messages each 15 s, however old they are.
    sql: "CREATE INDEX message_quarantined ON message (device, id) WHERE state = 'quarantined' AND completed_by IS NULL;",
    undo: "DROP INDEX message_quarantined;",
  },
  {
    // An event of a finished session has an id from first_event to last_event. Null in sessions that ended before.
    sql: "ALTER TABLE session ADD COLUMN last_event INTEGER;",
    undo: "ALTER TABLE session DROP COLUMN last_event;",
  },
  {
    // The checksum of a message and its bytes, wherever they are stored. NULL for messages of older versions.
    sql: "ALTER TABLE message ADD COLUMN checksum INTEGER;",
    undo: "ALTER TABLE message DROP COLUMN checksum;",
  },
  {
    // Checksums of the other rows that decide what is filed, and for whom; see queries/checks/row-checks.ts. NULL for rows of older versions.
    sql: `
      ALTER TABLE event ADD COLUMN checksum INTEGER;
      ALTER TABLE study ADD COLUMN checksum INTEGER;
      ALTER TABLE patient ADD COLUMN checksum INTEGER;
      ALTER TABLE identifier ADD COLUMN checksum INTEGER;
      ALTER TABLE test_order ADD COLUMN checksum INTEGER;
    `,
    undo: `
      ALTER TABLE test_order DROP COLUMN checksum;
      ALTER TABLE identifier DROP COLUMN checksum;
      ALTER TABLE patient DROP COLUMN checksum;
      ALTER TABLE study DROP COLUMN checksum;
      ALTER TABLE event DROP COLUMN checksum;
      DELETE FROM meta WHERE key LIKE 'checksum:%';
    `,
  },
];
