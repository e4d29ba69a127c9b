// The spool's tables. A released entry of the list never changes: a later version appends its own.

const BASELINE = `
  -- A session lasts from one idle state of a link to the next; a long connection has many. Its events have ids from first_event to
  -- last_event, which bounds the scan of a replay. bytes counts the events of a finished session.
  CREATE TABLE session (
    id INTEGER PRIMARY KEY, device TEXT NOT NULL, profile TEXT NOT NULL, first_event INTEGER NOT NULL, last_event INTEGER,
    opened_at INTEGER NOT NULL, finished_at INTEGER, bytes INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX session_unfinished ON session (id) WHERE finished_at IS NULL;

  -- The inputs of the links, in order. There is no index, because a commit is cheap if each row is one append.
  CREATE TABLE event (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, bytes BLOB
  ) STRICT;

  -- Runs of events of one session that belong to no message. Beyond a bound the oldest are removed.
  CREATE TABLE noise (
    device TEXT NOT NULL, first_event INTEGER NOT NULL, last_event INTEGER NOT NULL, session INTEGER NOT NULL,
    bytes INTEGER NOT NULL, PRIMARY KEY (device, first_event)
  ) STRICT, WITHOUT ROWID;

  -- (session, ordinal) identifies a message, so a replay cannot store it twice. A message has its bytes here, or the range of them in
  -- the event log: from byte start of first_event on, over length bytes. checksum covers them either way. duplicate_key is equal for a message and its resend, if the
  -- protocol can identify one.
  CREATE TABLE message (
    id TEXT PRIMARY KEY, session INTEGER NOT NULL, ordinal INTEGER NOT NULL, device TEXT NOT NULL, profile TEXT NOT NULL,
    received_at INTEGER NOT NULL, bytes BLOB NOT NULL, truncation_reason TEXT,
    state TEXT NOT NULL, reason TEXT, processed_at INTEGER, completed_by TEXT, duplicate_key TEXT,
    first_event INTEGER, last_event INTEGER, start INTEGER, length INTEGER, checksum INTEGER,
    UNIQUE (session, ordinal)
  ) STRICT;
  -- Rowids give the order of storage. Times do not, because the clock may be set back. New rows of all devices go to one page: in an
  -- index by device, each device of a commit would write a page of its own.
  CREATE INDEX message_unprocessed ON message (processed_at) WHERE processed_at IS NULL;
  CREATE INDEX message_incomplete ON message (device) WHERE truncation_reason IS NOT NULL AND completed_by IS NULL;
  CREATE INDEX message_completed ON message (completed_by) WHERE completed_by IS NOT NULL;
  -- The number of these messages is read each 15 s, however old they are.
  CREATE INDEX message_quarantined ON message (device, id) WHERE state = 'quarantined' AND completed_by IS NULL;
  -- Keys with a counter or a time are adjacent across devices, so a commit writes fewer pages than with the device first.
  CREATE UNIQUE INDEX message_duplicate ON message (duplicate_key, device) WHERE duplicate_key IS NOT NULL;

  -- Revisions of studies. send_attempts counts the sends to the server, unanswered the last ones in a row without any answer.
  CREATE TABLE study (
    fp TEXT NOT NULL, revision INTEGER NOT NULL, dedupe_key TEXT NOT NULL, patient_fp TEXT,
    body TEXT NOT NULL, snapshot TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, code TEXT, existing_fp TEXT,
    created_at INTEGER NOT NULL, settled_at INTEGER, send_attempts INTEGER NOT NULL DEFAULT 0, last_sent_at INTEGER,
    unanswered INTEGER NOT NULL DEFAULT 0,
    UNIQUE (fp, revision), UNIQUE (dedupe_key, revision)
  ) STRICT;
  CREATE INDEX study_existing ON study (existing_fp) WHERE existing_fp IS NOT NULL;
  CREATE INDEX study_queued ON study (state) WHERE state = 'queued';
  CREATE TABLE message_study (
    message TEXT NOT NULL, fp TEXT NOT NULL, revision INTEGER NOT NULL, PRIMARY KEY (message, fp, revision)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX message_study_fp ON message_study (fp, revision);

  -- The patient directory.
  CREATE TABLE patient (fp TEXT PRIMARY KEY, body TEXT NOT NULL, sync_generation INTEGER NOT NULL) STRICT;
  CREATE TABLE identifier (
    identifier TEXT NOT NULL, patient_fp TEXT NOT NULL, sync_generation INTEGER NOT NULL,
    PRIMARY KEY (identifier, patient_fp)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX identifier_patient ON identifier (patient_fp);
  -- The keys that would match an unmatched message: identifiers as sent, and patient fps. due is 1 if such a patient was added or
  -- changed after the message was assessed.
  CREATE TABLE pending_match (
    match_key TEXT NOT NULL, message TEXT NOT NULL, due INTEGER NOT NULL, PRIMARY KEY (match_key, message)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX pending_match_message ON pending_match (message);
  CREATE INDEX pending_match_due ON pending_match (message) WHERE due = 1;

  -- Rows are never removed, because an accession must never name the sample of another patient. appointment_fp is the appointment that
  -- the accession was made for, in the worklist of a modality.
  CREATE TABLE test_order (
    accession TEXT PRIMARY KEY, device TEXT NOT NULL, patient_fp TEXT NOT NULL, tests TEXT NOT NULL,
    created_at INTEGER NOT NULL, state TEXT NOT NULL, appointment_fp TEXT
  ) STRICT;
  CREATE INDEX test_order_open ON test_order (device, created_at) WHERE state <> 'resulted';
  CREATE UNIQUE INDEX test_order_appointment ON test_order (device, appointment_fp) WHERE appointment_fp IS NOT NULL;
  -- Today's appointments, as they were last fetched from the server.
  CREATE TABLE appointment (fp TEXT PRIMARY KEY, patient_fp TEXT NOT NULL, start_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- state is the rest of a device's state as JSON: its connection, last warning and counters. NULL if the device is not served.
  CREATE TABLE device (
    id TEXT PRIMARY KEY, profile TEXT NOT NULL, connected INTEGER NOT NULL, last_message_at INTEGER, last_bytes_at INTEGER,
    state TEXT, stored_bytes INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  -- Status and operator reports sent by devices. name is the device's own name; several devices may share a connection.
  CREATE TABLE device_report (
    device TEXT NOT NULL, name TEXT NOT NULL, topic TEXT NOT NULL, content TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (device, name, topic, content)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  -- Further columns of a message that is a DICOM instance. Its dataset is a file named by the message's id. stored_at is the time of the
  -- last storage, removed_at that of the removal of the file, committed whether its storage was committed to a device.
  CREATE TABLE instance (
    message TEXT PRIMARY KEY, study_uid TEXT NOT NULL, sop_class_uid TEXT NOT NULL, sop_instance_uid TEXT NOT NULL,
    transfer_syntax_uid TEXT NOT NULL, calling_ae_title TEXT NOT NULL,
    sha256 TEXT NOT NULL, file_bytes INTEGER NOT NULL, header_bytes INTEGER NOT NULL, header TEXT,
    stored_at INTEGER NOT NULL DEFAULT 0, removed_at INTEGER, committed INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX instance_study ON instance (study_uid);
  CREATE INDEX instance_sop ON instance (sop_instance_uid);
  CREATE INDEX instance_kept ON instance (stored_at, message, file_bytes) WHERE removed_at IS NULL;
  CREATE INDEX instance_removed ON instance (removed_at) WHERE removed_at IS NOT NULL;

  -- Image studies that wait to be assessed, and the time at which they count as complete. The quiet time of the device bounds due_at
  -- after a change of the clock.
  CREATE TABLE pending_image_study (
    study_uid TEXT PRIMARY KEY, due_at INTEGER NOT NULL, quiet_ms INTEGER NOT NULL DEFAULT 60000
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX pending_image_study_due ON pending_image_study (due_at);

  -- The archives for each instance. The rows are inserted with the instance.
  CREATE TABLE destination (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE forward (
    destination TEXT NOT NULL, message TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, reason TEXT,
    settled_at INTEGER, PRIMARY KEY (destination, message)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX forward_queued ON forward (destination, attempts, message) WHERE state = 'queued';

  -- Small pictures for the server, of the images of studies that it has. The position counts the images of a study from 1.
  CREATE TABLE preview (
    message TEXT NOT NULL, fp TEXT NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, reason TEXT, PRIMARY KEY (fp, message)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX preview_queued ON preview (attempts, message) WHERE state = 'queued';

  -- Work that began and did not end, such as the drawing of an image: an item that ends the agent must not do so at each start.
  CREATE TABLE unfinished_try (
    work TEXT NOT NULL, item TEXT NOT NULL, tries INTEGER NOT NULL, PRIMARY KEY (work, item)
  ) STRICT, WITHOUT ROWID;

  -- Modality performed procedure steps (MPPS).
  CREATE TABLE procedure_step (
    sop_instance_uid TEXT PRIMARY KEY, device TEXT NOT NULL, state TEXT NOT NULL, attributes TEXT NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Storage commitment requests, and whether the device got its report.
  CREATE TABLE commitment (
    id INTEGER PRIMARY KEY, transaction_uid TEXT NOT NULL, device TEXT NOT NULL, calling_ae_title TEXT NOT NULL, instances TEXT NOT NULL,
    requested_at INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, next_attempt_at INTEGER NOT NULL, reported_at INTEGER, outcome TEXT
  ) STRICT;
  CREATE INDEX commitment_open ON commitment (device, next_attempt_at) WHERE reported_at IS NULL;
`;

/** A reason has a code for programs: a MessageCode. An older agent stored words alone. */
const CODES_OF_REASONS = `
  ALTER TABLE message ADD COLUMN code TEXT;
  ALTER TABLE forward ADD COLUMN code TEXT;
`;

const SERVER_ORDERS = `
  -- fp is the server's order; NULL for one of this agent. The device '' is any device: order_delivery has those that got the order.
  ALTER TABLE test_order ADD COLUMN fp TEXT;
  ALTER TABLE test_order ADD COLUMN offered_at INTEGER;
  ALTER TABLE test_order ADD COLUMN offer_reported INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX test_order_unreported ON test_order (offered_at)
    WHERE fp IS NOT NULL AND offered_at IS NOT NULL AND offer_reported = 0;
  CREATE TABLE order_delivery (
    accession TEXT NOT NULL, device TEXT NOT NULL, PRIMARY KEY (accession, device)
  ) STRICT, WITHOUT ROWID;
`;

const REGISTRY_CHANGES = `
  -- Changes of animals, owners and orders from practice software, which the server gets in the order of their ids. position is the
  -- place in the message; body is JSON of shared/api/agent/registry.ts. source names the software whose external ids the body has.
  CREATE TABLE registry_change (
    id INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT NOT NULL, message TEXT NOT NULL, position INTEGER NOT NULL,
    source TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT, code TEXT, settled_at INTEGER, UNIQUE (message, position)
  ) STRICT;
  CREATE INDEX registry_change_queued ON registry_change (device, id) WHERE state = 'queued';
`;

const CHANGES_BY_SOURCE = `
  -- Several devices may bring the changes of one software, which leave in one order.
  DROP INDEX registry_change_queued;
  CREATE INDEX registry_change_queued ON registry_change (source, id) WHERE state = 'queued';
`;

const FOLDER_FILES = `
  -- The files of watched folders that became messages. bytes and text are of a document for people, and NULL for a file of results.
  -- stem is the name without its extension, folded: a document has that of its results.
  CREATE TABLE folder_file (
    message TEXT PRIMARY KEY, device TEXT NOT NULL, name TEXT NOT NULL, stem TEXT NOT NULL, received_at INTEGER NOT NULL,
    bytes BLOB, text TEXT
  ) STRICT;
  CREATE INDEX folder_file_stem ON folder_file (device, stem);
  CREATE INDEX folder_file_document ON folder_file (device, received_at) WHERE bytes IS NOT NULL;
  CREATE INDEX folder_file_received ON folder_file (received_at);
`;

const OWN_PROFILES = `
  -- The filed studies of a clinic's own profiles, which confirm the profile for their device.
  CREATE INDEX study_own_profile ON study (
    CASE WHEN json_valid(body) THEN json_extract(body, '$.source.device_id') END,
    CASE WHEN json_valid(body) THEN json_extract(body, '$.source.profile') END)
    WHERE state = 'filed' AND instr(body, '"profile":"own/') > 0;
`;

const RESULT_DESTINATIONS = `
  -- Destinations of results: practice software and folders. The server has their queues; the outcome of the last delivery is stored here
  -- before it is reported. state is JSON of DestinationState. id is that of agent.yaml.
  CREATE TABLE result_destination (
    id TEXT PRIMARY KEY, is_configured INTEGER NOT NULL, state TEXT, delivery INTEGER, attempt INTEGER, sha256 TEXT, at INTEGER,
    outcome TEXT, code TEXT, text TEXT, reported INTEGER NOT NULL DEFAULT 1, acknowledged_at INTEGER
  ) STRICT, WITHOUT ROWID;
`;

const QUALITY_RECORDS = `
  -- Control runs and device events, which the server gets beside the studies. body is JSON of QualityRecord, with fp and key; reason is
  -- JSON of the server's Reason. attempts counts the requests that failed with this record alone. A record outlives its message while it
  -- is queued.
  CREATE TABLE quality_record (
    fp TEXT PRIMARY KEY, dedupe_key TEXT NOT NULL UNIQUE, message TEXT NOT NULL, device TEXT NOT NULL, kind TEXT NOT NULL,
    body TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, created_at INTEGER NOT NULL, settled_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX quality_record_queued ON quality_record (attempts) WHERE state = 'queued';
  CREATE INDEX quality_record_message ON quality_record (message);
`;

/** The statements of each schema version: the baseline, then what each later version changes. */
export const MIGRATIONS: readonly string[] = [
  BASELINE,
  CODES_OF_REASONS,
  SERVER_ORDERS,
  REGISTRY_CHANGES,
  CHANGES_BY_SOURCE,
  FOLDER_FILES,
  OWN_PROFILES,
  RESULT_DESTINATIONS,
  QUALITY_RECORDS,
];
