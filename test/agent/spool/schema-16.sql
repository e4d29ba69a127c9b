-- Written by the agent of commit 85220f4, whose operations filled every table; then its schema and rows were listed as SQL.
PRAGMA user_version = 16;
CREATE TABLE session (
    id INTEGER PRIMARY KEY, device TEXT NOT NULL, profile TEXT NOT NULL,
    first_event INTEGER NOT NULL, opened_at INTEGER NOT NULL, finished_at INTEGER
  , bytes INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX session_unfinished ON session (id) WHERE finished_at IS NULL;
CREATE TABLE event (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, bytes BLOB
  ) STRICT;
CREATE TABLE message (
    id TEXT PRIMARY KEY, session INTEGER NOT NULL, ordinal INTEGER NOT NULL, device TEXT NOT NULL, profile TEXT NOT NULL,
    received_at INTEGER NOT NULL, bytes BLOB NOT NULL, incomplete TEXT,
    state TEXT NOT NULL, reason TEXT, processed_at INTEGER, completed_by TEXT, fingerprint TEXT, first_event INTEGER, last_event INTEGER, start INTEGER, length INTEGER,
    UNIQUE (session, ordinal)
  ) STRICT;
CREATE TABLE study (
    fp TEXT NOT NULL, revision INTEGER NOT NULL, dedupe_key TEXT NOT NULL, patient_fp TEXT,
    body TEXT NOT NULL, snapshot TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT, existing_fp TEXT, created_at INTEGER NOT NULL, settled_at INTEGER, sends INTEGER NOT NULL DEFAULT 0, sent_at INTEGER,
    UNIQUE (fp, revision), UNIQUE (dedupe_key, revision)
  ) STRICT;
CREATE TABLE message_study (
    message TEXT NOT NULL, fp TEXT NOT NULL, revision INTEGER NOT NULL, PRIMARY KEY (message, fp, revision)
  ) STRICT, WITHOUT ROWID;
CREATE INDEX message_study_fp ON message_study (fp, revision);
CREATE TABLE patient (fp TEXT PRIMARY KEY, body TEXT NOT NULL, walk INTEGER NOT NULL) STRICT;
CREATE TABLE identifier (
    identifier TEXT NOT NULL, patient_fp TEXT NOT NULL, walk INTEGER NOT NULL, PRIMARY KEY (identifier, patient_fp)
  ) STRICT, WITHOUT ROWID;
CREATE INDEX identifier_patient ON identifier (patient_fp);
CREATE TABLE device (id TEXT PRIMARY KEY, profile TEXT NOT NULL, connected INTEGER NOT NULL, last_message_at INTEGER, standing TEXT, last_bytes_at INTEGER, stored_bytes INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE test_order (
    accession TEXT PRIMARY KEY, device TEXT NOT NULL, patient_fp TEXT NOT NULL, tests TEXT NOT NULL,
    created_at INTEGER NOT NULL, state TEXT NOT NULL
  , appointment TEXT) STRICT;
CREATE INDEX test_order_open ON test_order (device, created_at) WHERE state <> 'resulted';
CREATE TABLE appointment (fp TEXT PRIMARY KEY, patient_fp TEXT NOT NULL, start_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE instance (
    message TEXT PRIMARY KEY, study TEXT NOT NULL, sop_class TEXT NOT NULL, sop_instance TEXT NOT NULL,
    transfer_syntax TEXT NOT NULL, calling_ae TEXT NOT NULL,
    sha256 TEXT NOT NULL, file_bytes INTEGER NOT NULL, header_bytes INTEGER NOT NULL, header TEXT
  , stored_at INTEGER NOT NULL DEFAULT 0, removed_at INTEGER, promised INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE INDEX instance_study ON instance (study);
CREATE INDEX instance_sop ON instance (sop_instance);
CREATE TABLE image_study (study TEXT PRIMARY KEY, due_at INTEGER NOT NULL, quiet_ms INTEGER NOT NULL DEFAULT 60000) STRICT, WITHOUT ROWID;
CREATE INDEX image_study_due ON image_study (due_at);
CREATE UNIQUE INDEX test_order_appointment ON test_order (device, appointment) WHERE appointment IS NOT NULL;
CREATE TABLE procedure_step (
    sop_instance TEXT PRIMARY KEY, device TEXT NOT NULL, state TEXT NOT NULL, attributes TEXT NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
CREATE TABLE commitment (
    id INTEGER PRIMARY KEY, transaction_uid TEXT NOT NULL, device TEXT NOT NULL, calling_ae TEXT NOT NULL, instance_list TEXT NOT NULL,
    requested_at INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, next_at INTEGER NOT NULL, reported_at INTEGER, outcome TEXT
  ) STRICT;
CREATE INDEX commitment_open ON commitment (device, next_at) WHERE reported_at IS NULL;
CREATE TABLE destination (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE forward (
    destination TEXT NOT NULL, message TEXT NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, reason TEXT,
    settled_at INTEGER, PRIMARY KEY (destination, message)
  ) STRICT, WITHOUT ROWID;
CREATE INDEX forward_queued ON forward (destination, tries, message) WHERE state = 'queued';
CREATE TABLE news (
    device TEXT NOT NULL, name TEXT NOT NULL, topic TEXT NOT NULL, content TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (device, name, topic, content)
  ) STRICT, WITHOUT ROWID;
CREATE INDEX instance_kept ON instance (stored_at, message, file_bytes) WHERE removed_at IS NULL;
CREATE INDEX instance_removed ON instance (removed_at) WHERE removed_at IS NOT NULL;
CREATE UNIQUE INDEX message_fingerprint ON message (fingerprint, device) WHERE fingerprint IS NOT NULL;
CREATE INDEX message_completed ON message (completed_by) WHERE completed_by IS NOT NULL;
CREATE INDEX message_incomplete ON message (device) WHERE incomplete IS NOT NULL AND completed_by IS NULL;
CREATE INDEX study_queued ON study (state) WHERE state = 'queued';
CREATE TABLE waiting (
    key TEXT NOT NULL, message TEXT NOT NULL, due INTEGER NOT NULL, PRIMARY KEY (key, message)
  ) STRICT, WITHOUT ROWID;
CREATE INDEX waiting_message ON waiting (message);
CREATE INDEX waiting_due ON waiting (message) WHERE due = 1;
CREATE INDEX message_unprocessed ON message (device, processed_at) WHERE processed_at IS NULL;
CREATE TABLE noise (
    device TEXT NOT NULL, first_event INTEGER NOT NULL, last_event INTEGER NOT NULL, session INTEGER NOT NULL,
    bytes INTEGER NOT NULL, PRIMARY KEY (device, first_event)
  ) STRICT, WITHOUT ROWID;
INSERT INTO session VALUES (1, 'chem-1', 'generic-astm', 1, 1795408469778, 1795161610000, 89);
INSERT INTO session VALUES (2, 'hl7-1', 'generic-hl7', 3, 1795408469795, NULL, 0);
INSERT INTO session VALUES (3, 'chem-1', 'generic-astm', 5, 1795408469799, NULL, 0);
INSERT INTO event VALUES (1, 1, 'chunk', 1795408469778, x'487c5c5e267c7c7c5465737465720d507c317c343731310d');
INSERT INTO event VALUES (2, 1, 'send', 1795408469790, x'06');
INSERT INTO event VALUES (3, 2, 'chunk', 1795408469795, x'0b4d53487c5e7e5c267c5465737465727c7c7c7c7c4f52555e5230317c317c');
INSERT INTO event VALUES (4, 2, 'chunk', 1795408469796, x'507c322e350d4f42587c317c4e4d7c474c557c7c352e357c6d6d6f6c2f4c0d1c0d');
INSERT INTO event VALUES (5, 3, 'chunk', 1795408469799, x'05');
INSERT INTO event VALUES (6, 3, 'chunk', 1795408469803, x'6e6f697365');
INSERT INTO message VALUES ('01KAFMIGRATED0000000000001', 1, 0, 'chem-1', 'generic-astm', 1795161600000, x'487c5c5e260d4c7c317c4e0d', NULL, 'filed', NULL, 1795161600100, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES ('01KAFMIGRATED0000000000002', 1, 1, 'chem-1', 'generic-astm', 1795161600001, x'487c5c5e260d', 'no L record', 'pending', NULL, NULL, '01KAFMIGRATED0000000000001', NULL, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES ('01KAFMIGRATED0000000000003', 1, 2, 'chem-1', 'generic-astm', 1795161600002, x'487c5c5e260d507c310d', 'the line fell silent', 'pending', NULL, 1795161600100, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES ('01KAFMIGRATED0000000000004', 1, 3, 'chem-1', 'generic-astm', 1795161600003, x'487c5c5e260d507c317c343731320d4c7c317c4e0d', NULL, 'unmatched', 'no patient has this identifier', 1795161600100, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES ('01KAFMIGRATED0000000000005', 2, 0, 'hl7-1', 'generic-hl7', 1795161600004, x'', NULL, 'pending', NULL, NULL, NULL, 'Tester 1', 3, 4, 1, 61);
INSERT INTO message VALUES ('01KAFMIGRATED0000000000006', 0, 1, 'dx-1', 'dicom', 1795161600006, x'4449434d', NULL, 'pending', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES ('01KAFMIGRATED0000000000007', 0, 2, 'dx-1', 'dicom', 1795161600007, x'4449434d', NULL, 'quarantined', 'no modality', 1795161600100, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO study VALUES ('cds_01K9TEST000000000000000001', 1, 'chem-1:01', 'patient_01K9TEST000000000000000001', '{"patient_fp":"patient_01K9TEST000000000000000001","modality":"BIOCHEMISTRY","device_name":"Tester","status":"COMPLETED","acquired_at":"2026-11-20T08:00:00.000Z","results":[{"analyte":"ALT","value":50,"unit":"U/L","reference_range":"10-118","flag":"normal"}],"dedupe_key":"chem-1:01","source":{"device_id":"chem-1","message_id":"01KAFMIGRATED0000000000001"},"patient_hint":{"identifier":"4711","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}}', '{"catalogue":"1","ranges":null,"instrument":null,"rows":[],"notes":[]}', 'filed', NULL, NULL, 1795161600100, 1795161600400, 2, 1795161600300);
INSERT INTO study VALUES ('cds_01K9TEST000000000000000002', 1, 'chem-1:02', NULL, '{"patient_fp":null,"modality":"BIOCHEMISTRY","device_name":"Tester","status":"COMPLETED","acquired_at":"2026-11-20T08:00:00.000Z","results":[{"analyte":"ALT","value":60,"unit":"U/L","reference_range":"10-118","flag":"normal"}],"dedupe_key":"chem-1:02","source":{"device_id":"chem-1","message_id":"01KAFMIGRATED0000000000004"},"patient_hint":{"identifier":"4712","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}}', '{"catalogue":"1","ranges":null,"instrument":null,"rows":[],"notes":[]}', 'unmatched', NULL, NULL, 1795161600100, 1795161600600, 1, 1795161600500);
INSERT INTO study VALUES ('cds_01K9TEST000000000000000003', 1, 'chem-1:03', 'patient_01K9TEST000000000000000001', '{"patient_fp":"patient_01K9TEST000000000000000001","modality":"BIOCHEMISTRY","device_name":"Tester","status":"COMPLETED","acquired_at":"2026-11-20T08:00:00.000Z","results":[{"analyte":"ALT","value":70,"unit":"U/L","reference_range":"10-118","flag":"normal"}],"dedupe_key":"chem-1:03","source":{"device_id":"chem-1","message_id":"01KAFMIGRATED0000000000003"},"patient_hint":{"identifier":"4711","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}}', '{"catalogue":"1","ranges":null,"instrument":null,"rows":[],"notes":[]}', 'queued', NULL, NULL, 1795161600100, NULL, 1, 1795161600700);
INSERT INTO message_study VALUES ('01KAFMIGRATED0000000000001', 'cds_01K9TEST000000000000000001', 1);
INSERT INTO message_study VALUES ('01KAFMIGRATED0000000000004', 'cds_01K9TEST000000000000000002', 1);
INSERT INTO message_study VALUES ('01KAFMIGRATED0000000000003', 'cds_01K9TEST000000000000000003', 1);
INSERT INTO patient VALUES ('patient_01K9TEST000000000000000001', '{"fp":"patient_01K9TEST000000000000000001","name":"Rex","updated_at":"2026-11-01T00:00:00Z"}', 1795161600000);
INSERT INTO patient VALUES ('patient_01K9TEST000000000000000002', '{"fp":"patient_01K9TEST000000000000000002","name":"Mia","updated_at":"2026-11-01T00:00:00Z"}', 1795161600000);
INSERT INTO identifier VALUES ('0815', 'patient_01K9TEST000000000000000002', 1795161600000);
INSERT INTO identifier VALUES ('276001', 'patient_01K9TEST000000000000000002', 1795161600000);
INSERT INTO identifier VALUES ('4711', 'patient_01K9TEST000000000000000001', 1795161600000);
INSERT INTO device VALUES ('chem-1', 'generic-astm', 1, 1795161600003, '{"is":"connected","reason":null,"mayBeOff":false,"since":1795161600000,"lastWarning":{"at":1795161600000,"reason":"checksum 7B, computed 7C"},"counters":{"bytes":40,"messages":2,"warnings":1,"noiseBytes":5}}', 1795161600000, 4607);
INSERT INTO device VALUES ('hl7-1', 'generic-hl7', 1, 1795161600004, '{"is":"connected","reason":null,"mayBeOff":false,"since":1795161600000,"lastWarning":{"at":1795161600000,"reason":"checksum 7B, computed 7C"},"counters":{"bytes":40,"messages":2,"warnings":1,"noiseBytes":5}}', 1795161600000, 400);
INSERT INTO device VALUES ('dx-1', 'dicom', 1, 1795161600007, '{"is":"connected","reason":null,"mayBeOff":false,"since":1795161600000,"lastWarning":{"at":1795161600000,"reason":"checksum 7B, computed 7C"},"counters":{"bytes":40,"messages":2,"warnings":1,"noiseBytes":5}}', 1795161600000, 808);
INSERT INTO device VALUES ('poc-1', 'generic-poct1a', 1, NULL, '{"is":"connected","reason":null,"mayBeOff":false,"since":1795161600000,"lastWarning":{"at":1795161600000,"reason":"checksum 7B, computed 7C"},"counters":{"bytes":40,"messages":2,"warnings":1,"noiseBytes":5}}', 1795161600000, 0);
INSERT INTO meta VALUES ('clock', '3');
INSERT INTO meta VALUES ('directive:poc-1', '{"device":"poc-1","command":"lock","at":1795161600000,"state":"waiting","reason":null}');
INSERT INTO meta VALUES ('directory', '{"patients":{"at":1795161600000,"seenAt":1795161600000},"removed":{"at":1795161600000,"seenAt":1795161600000},"syncedAt":1795161600000,"walkedAt":1795161600000}');
INSERT INTO meta VALUES ('directoryVersion', '5');
INSERT INTO meta VALUES ('mark', '{"commit":16,"at":1795408469847,"next":{"session":4,"event":7}}');
INSERT INTO meta VALUES ('ranges', '{"clinic":"c","ranges":[]}');
INSERT INTO meta VALUES ('server', '{"is":"reached","reason":null,"isMinor":false,"since":1795161600000}');
INSERT INTO test_order VALUES ('VABC123', 'chem-1', 'patient_01K9TEST000000000000000001', '["ALT","GLU"]', 1795161600000, 'placed', NULL);
INSERT INTO appointment VALUES ('appointment_01K9TEST000000000000000001', 'patient_01K9TEST000000000000000001', 1795165200000);
INSERT INTO instance VALUES ('01KAFMIGRATED0000000000006', '1.2.3', '1.2.840.10008.5.1.4.1.1.1', '1.2.3.6', '1.2.840.10008.1.2.1', 'DX1', 'abababababababababababababababababababababababababababababababab', 5006, 300, '{"study":"1.2.3"}', 1795161600006, NULL, 1);
INSERT INTO instance VALUES ('01KAFMIGRATED0000000000007', '1.2.4', '1.2.840.10008.5.1.4.1.1.1', '1.2.3.7', '1.2.840.10008.1.2.1', 'DX1', 'abababababababababababababababababababababababababababababababab', 5007, 300, NULL, 1795161600007, 1795161600090, 0);
INSERT INTO image_study VALUES ('1.2.3', 1795161630006, 30000);
INSERT INTO procedure_step VALUES ('1.2.5', 'dx-1', 'IN PROGRESS', '{"Modality":["DX"]}', 1795161600000);
INSERT INTO commitment VALUES (1, '2.25.1', 'dx-1', 'DX1', '[{"sopClass":"1.2.840.10008.5.1.4.1.1.1","sopInstance":"1.2.3.6"}]', 1795161600000, 1, 1795161605000, NULL, NULL);
INSERT INTO destination VALUES ('cloud');
INSERT INTO destination VALUES ('pacs');
INSERT INTO forward VALUES ('cloud', '01KAFMIGRATED0000000000006', 'queued', 1, 'timeout', NULL);
INSERT INTO forward VALUES ('cloud', '01KAFMIGRATED0000000000007', 'sent', 2, NULL, 1795161600070);
INSERT INTO forward VALUES ('pacs', '01KAFMIGRATED0000000000006', 'queued', 0, NULL, NULL);
INSERT INTO forward VALUES ('pacs', '01KAFMIGRATED0000000000007', 'sent', 1, NULL, 1795161600050);
INSERT INTO news VALUES ('poc-1', 'ISTAT 1', 'event', '{"note":"battery low"}', 1795161600001);
INSERT INTO news VALUES ('poc-1', 'ISTAT 1', 'status', '{"lock":"unlocked"}', 1795161600000);
INSERT INTO waiting VALUES ('4712', '01KAFMIGRATED0000000000004', 0);
INSERT INTO noise VALUES ('chem-1', 6, 6, 3, 4101);
