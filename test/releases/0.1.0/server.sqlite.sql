PRAGMA foreign_keys = OFF;
BEGIN;
CREATE TABLE migration (version integer primary key, applied_at bigint not null);
INSERT INTO "migration" ("version", "applied_at") VALUES (1, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (2, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (3, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (4, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (5, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (6, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (7, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (8, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (9, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (10, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (11, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (12, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (13, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (14, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (15, 1795262400000);
INSERT INTO "migration" ("version", "applied_at") VALUES (16, 1795262400000);
CREATE TABLE clinic (id integer primary key, fp text not null unique, name text not null, version bigint not null default 0, lists_version bigint not null default 0);
INSERT INTO "clinic" ("id", "fp", "name", "version", "lists_version") VALUES (1, 'clinic_01M7YZMHG0P5973HECRZ6HEV1P', 'A clinic', 12, 3);
INSERT INTO "clinic" ("id", "fp", "name", "version", "lists_version") VALUES (2, 'clinic_01M7YZMHG0P5973HECRZ6HEV1Q', 'A clinic', 5, 3);
CREATE TABLE "user" (
      id integer primary key, fp text not null unique, name text not null, clinic_id bigint not null references clinic (id)
    );
INSERT INTO "user" ("id", "fp", "name", "clinic_id") VALUES (1, 'user_01M7YZMHG0P5973HECRZ6HEV1S', 'Invented Vet', 1);
CREATE TABLE customer (id integer primary key, fp text not null unique, time_zone text);
INSERT INTO "customer" ("id", "fp", "time_zone") VALUES (1, 'customer_01M7YZMHG0P5973HECRZ6HEV1R', 'Europe/Istanbul');
CREATE TABLE patient (
      id integer primary key,
      fp text not null unique,
      name text not null,
      species text not null,
      breed text,
      sex text,
      date_of_birth text,
      weight_kg double precision,
      owner_customer_id bigint not null references customer (id),
      created_at bigint not null,
      updated_at bigint not null,
      deleted_at bigint
    );
INSERT INTO "patient" ("id", "fp", "name", "species", "breed", "sex", "date_of_birth", "weight_kg", "owner_customer_id", "created_at", "updated_at", "deleted_at") VALUES (1, 'patient_01M7YZMHG0P5973HECRZ6HEV1T', 'Zeytin', 'dog', NULL, 'male', '2019-04-12', 12.5, 1, 1790841600000, 1790841600000, NULL);
INSERT INTO "patient" ("id", "fp", "name", "species", "breed", "sex", "date_of_birth", "weight_kg", "owner_customer_id", "created_at", "updated_at", "deleted_at") VALUES (2, 'patient_01M7YZMHG0P5973HECRZ6HEV1W', 'Lokum', 'cat', NULL, 'female_spayed', '2019-04-12', 12.5, 1, 1790841600000, 1790841600000, NULL);
INSERT INTO "patient" ("id", "fp", "name", "species", "breed", "sex", "date_of_birth", "weight_kg", "owner_customer_id", "created_at", "updated_at", "deleted_at") VALUES (3, 'patient_01M7YZMHG0P5973HECRZ6HEV1Y', 'Duman', 'dog', NULL, 'male', '2019-04-12', 12.5, 1, 1790841600000, 1795266000000, NULL);
INSERT INTO "patient" ("id", "fp", "name", "species", "breed", "sex", "date_of_birth", "weight_kg", "owner_customer_id", "created_at", "updated_at", "deleted_at") VALUES (4, 'patient_01M7YZMHG0P5973HECRZ6HEV20', 'Boncuk', 'dog', NULL, 'male', '2019-04-12', 12.5, 1, 1790841600000, 1790841600000, 1793606400000);
CREATE TABLE patient_identifier (
      patient_id bigint not null references patient (id), identifier text not null, position integer not null default 0, primary key (patient_id, identifier)
    );
INSERT INTO "patient_identifier" ("patient_id", "identifier", "position") VALUES (1, '10021', 0);
INSERT INTO "patient_identifier" ("patient_id", "identifier", "position") VALUES (1, '276001', 1);
INSERT INTO "patient_identifier" ("patient_id", "identifier", "position") VALUES (2, '10022', 0);
CREATE TABLE "clinic_patient" (
      clinic_id bigint not null references clinic (id),
      patient_id bigint not null references patient (id),
      active integer not null,
      listed integer not null,
      patient_fp text not null,
      patient_species text not null,
      patient_updated_at bigint not null,
      primary key (clinic_id, patient_id)
    );
INSERT INTO "clinic_patient" ("clinic_id", "patient_id", "active", "listed", "patient_fp", "patient_species", "patient_updated_at") VALUES (1, 1, 1, 1, 'patient_01M7YZMHG0P5973HECRZ6HEV1T', 'dog', 1790841600000);
INSERT INTO "clinic_patient" ("clinic_id", "patient_id", "active", "listed", "patient_fp", "patient_species", "patient_updated_at") VALUES (1, 2, 1, 1, 'patient_01M7YZMHG0P5973HECRZ6HEV1W', 'cat', 1790841600000);
INSERT INTO "clinic_patient" ("clinic_id", "patient_id", "active", "listed", "patient_fp", "patient_species", "patient_updated_at") VALUES (1, 3, 0, 0, 'patient_01M7YZMHG0P5973HECRZ6HEV1Y', 'dog', 1795266000000);
INSERT INTO "clinic_patient" ("clinic_id", "patient_id", "active", "listed", "patient_fp", "patient_species", "patient_updated_at") VALUES (1, 4, 0, 0, 'patient_01M7YZMHG0P5973HECRZ6HEV20', 'dog', 1790841600000);
INSERT INTO "clinic_patient" ("clinic_id", "patient_id", "active", "listed", "patient_fp", "patient_species", "patient_updated_at") VALUES (2, 2, 1, 1, 'patient_01M7YZMHG0P5973HECRZ6HEV1W', 'cat', 1790841600000);
INSERT INTO "clinic_patient" ("clinic_id", "patient_id", "active", "listed", "patient_fp", "patient_species", "patient_updated_at") VALUES (2, 3, 1, 1, 'patient_01M7YZMHG0P5973HECRZ6HEV1Y', 'dog', 1795266000000);
CREATE TABLE study (
      id integer primary key,
      fp text not null unique,
      clinic_id bigint references clinic (id),
      patient_id bigint references patient (id),
      unmatched_reason text,
      claimed_patient_fp text,
      modality text not null,
      device_name text not null,
      status text not null,
      acquired_at bigint not null,
      results text not null,
      revision integer not null,
      dedupe_key text,
      content_hash text not null,
      source text,
      patient_hint text,
      received_at bigint not null
    , snapshot text, pushed_revision integer, cause text not null default 'pushed', placed_by_user integer not null default 0, rejected_reason text, severity integer not null default 0, search_words text);
INSERT INTO "study" ("id", "fp", "clinic_id", "patient_id", "unmatched_reason", "claimed_patient_fp", "modality", "device_name", "status", "acquired_at", "results", "revision", "dedupe_key", "content_hash", "source", "patient_hint", "received_at", "snapshot", "pushed_revision", "cause", "placed_by_user", "rejected_reason", "severity", "search_words") VALUES (1, 'cds_01M7YZMHG0P5973HECRZ6HEV2A', NULL, 2, NULL, 'patient_01M7YZMHG0P5973HECRZ6HEV1W', 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1791194400000, '[{"analyte":"GLU","flag":"normal","reference_range":"3.3-6.1","unit":"mmol/L","value":5.2},{"analyte":"TBIL","comparator":"<","flag":null,"reference_range":null,"unit":"mg/dL","value":0.2}]', 1, NULL, 'e73287960a9f036393e63445d5a7f8587d5dd3225e6f9a4f3335148dfea181b4', NULL, NULL, 1795262400000, NULL, 1, 'imported', 0, NULL, 0, NULL);
INSERT INTO "study" ("id", "fp", "clinic_id", "patient_id", "unmatched_reason", "claimed_patient_fp", "modality", "device_name", "status", "acquired_at", "results", "revision", "dedupe_key", "content_hash", "source", "patient_hint", "received_at", "snapshot", "pushed_revision", "cause", "placed_by_user", "rejected_reason", "severity", "search_words") VALUES (2, 'cds_01M7YZMHG0P5973HECRZ6HEV31', 1, 1, NULL, 'patient_01M7YZMHG0P5973HECRZ6HEV1T', 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"ALT","flag":"critical","reference_range":"10-118","unit":"U/L","value":410},{"analyte":"413","code_source":"device","flag":null,"reference_range":null,"unit":"mg/dL","value":118}]', 2, 'cds_01M7YZMHG0P5973HECRZ6HEV32', '6c2bdface8453f07d23b23485f6f2ded95873bd80b59489dec5fc6dfee62b110', '{"device_id":"chem-1","message_id":"1"}', '{"identifier":"10021","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795266000000, NULL, 2, 'pushed', 0, NULL, 2, '["10021"]');
INSERT INTO "study" ("id", "fp", "clinic_id", "patient_id", "unmatched_reason", "claimed_patient_fp", "modality", "device_name", "status", "acquired_at", "results", "revision", "dedupe_key", "content_hash", "source", "patient_hint", "received_at", "snapshot", "pushed_revision", "cause", "placed_by_user", "rejected_reason", "severity", "search_words") VALUES (3, 'cds_01M7YZMHG0P5973HECRZ6HEV33', 1, 1, NULL, 'patient_01M7YZMHG0P5973HECRZ6HEV1T', 'RADIOLOGY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[]', 1, 'cds_01M7YZMHG0P5973HECRZ6HEV34', '981c96df7957c83e1a82b010f2d133ed71b012ebfdc6d1000c827f9f7a45882b', '{"device_id":"chem-1","message_id":"1"}', '{"identifier":"10021","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795262400000, NULL, 1, 'pushed', 0, NULL, 0, '["10021"]');
INSERT INTO "study" ("id", "fp", "clinic_id", "patient_id", "unmatched_reason", "claimed_patient_fp", "modality", "device_name", "status", "acquired_at", "results", "revision", "dedupe_key", "content_hash", "source", "patient_hint", "received_at", "snapshot", "pushed_revision", "cause", "placed_by_user", "rejected_reason", "severity", "search_words") VALUES (4, 'cds_01M7YZMHG0P5973HECRZ6HEV35', 1, NULL, 'patient_fp is null, expected the patient''s fp', NULL, 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"GLU","flag":"normal","reference_range":"3.3-6.1","unit":"mmol/L","value":5.2},{"analyte":"TBIL","comparator":"<","flag":null,"reference_range":null,"unit":"mg/dL","value":0.2}]', 1, 'cds_01M7YZMHG0P5973HECRZ6HEV36', 'd62cd7a9526714116ec0337517181e5b9ff231b5323743d91aa6c6b4689a58d2', '{"device_id":"chem-1","message_id":"1"}', '{"identifier":"10021","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795262400000, NULL, 1, 'pushed', 0, NULL, 0, '["10021"]');
INSERT INTO "study" ("id", "fp", "clinic_id", "patient_id", "unmatched_reason", "claimed_patient_fp", "modality", "device_name", "status", "acquired_at", "results", "revision", "dedupe_key", "content_hash", "source", "patient_hint", "received_at", "snapshot", "pushed_revision", "cause", "placed_by_user", "rejected_reason", "severity", "search_words") VALUES (5, 'cds_01M7YZMHG0P5973HECRZ6HEV37', 1, 2, NULL, NULL, 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"GLU","flag":"normal","reference_range":"3.94-10.1","unit":"mmol/L","value":5.2},{"analyte":"TBIL","comparator":"<","flag":null,"reference_range":"0-0.1","unit":"mg/dL","value":0.2}]', 2, 'cds_01M7YZMHG0P5973HECRZ6HEV38', '19cdcbf9c62f2b1166214dac7ca9d9111984afd511ff2f0d0cd6ca5d9ca34bbf', '{"device_id":"chem-1","message_id":"1"}', '{"identifier":"10021","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795266000000, '{"catalogue":"2369de3a0c92","ranges":null,"instrument":"Abaxis VetScan VS2","rows":[{"analyte":"GLU","code":"GLU","interval_id":"cat-any-any-glu-cornell_cobas_2017","reason":null,"text":"5.2","device_range":null,"device_species":null,"device_flag":null},{"analyte":"TBIL","code":"TBIL","interval_id":"cat-any-any-tbil-cornell_cobas_2017","reason":"the printed bound leaves the flag open","text":"<0.2","device_range":null,"device_species":null,"device_flag":null}],"notes":[],"animal":{"species":"cat","breed":null,"sex":"female_spayed","date_of_birth":"2019-04-12"}}', 1, 'assigned', 1, NULL, 0, '["10021"]');
INSERT INTO "study" ("id", "fp", "clinic_id", "patient_id", "unmatched_reason", "claimed_patient_fp", "modality", "device_name", "status", "acquired_at", "results", "revision", "dedupe_key", "content_hash", "source", "patient_hint", "received_at", "snapshot", "pushed_revision", "cause", "placed_by_user", "rejected_reason", "severity", "search_words") VALUES (6, 'cds_01M7YZMHG0P5973HECRZ6HEV39', 1, NULL, 'patient_fp is null, expected the patient''s fp', NULL, 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"GLU","flag":"normal","reference_range":"3.3-6.1","unit":"mmol/L","value":5.2},{"analyte":"TBIL","comparator":"<","flag":null,"reference_range":null,"unit":"mg/dL","value":0.2}]', 2, 'cds_01M7YZMHG0P5973HECRZ6HEV3A', 'cdf3100c88faadeb8722f1611196fccaaae28af4060256342fce749e52895c27', '{"device_id":"chem-1","message_id":"1"}', '{"identifier":"10021","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795266000000, NULL, 1, 'rejected', 1, 'a control sample', 0, '["10021"]');
INSERT INTO "study" ("id", "fp", "clinic_id", "patient_id", "unmatched_reason", "claimed_patient_fp", "modality", "device_name", "status", "acquired_at", "results", "revision", "dedupe_key", "content_hash", "source", "patient_hint", "received_at", "snapshot", "pushed_revision", "cause", "placed_by_user", "rejected_reason", "severity", "search_words") VALUES (7, 'cds_01M7Z32D40NS76DAYBZQWBY8PY', 1, 1, NULL, 'patient_01M7YZMHG0P5973HECRZ6HEV1T', 'BIOCHEMISTRY', 'Manual entry', 'COMPLETED', 1795251600000, '[{"analyte":"ALT","flag":"high","reference_range":"17-95","unit":"U/L","value":150}]', 1, 'manual 1 0123456789abcdef0123456789abcdef', 'd654d3a5d1f83c1d6328ed445599c5e0c01e9f92414dd27f2864a19122fdb7bc', NULL, NULL, 1795266000000, '{"catalogue":"2369de3a0c92","ranges":null,"instrument":"Manual entry","rows":[{"analyte":"ALT","code":"ALT","interval_id":"dog-any-any-alt-cornell_cobas_2017","reason":null,"text":"150","device_range":null,"device_species":null,"device_flag":null}],"notes":[]}', NULL, 'entered', 1, NULL, 1, NULL);
INSERT INTO "study" ("id", "fp", "clinic_id", "patient_id", "unmatched_reason", "claimed_patient_fp", "modality", "device_name", "status", "acquired_at", "results", "revision", "dedupe_key", "content_hash", "source", "patient_hint", "received_at", "snapshot", "pushed_revision", "cause", "placed_by_user", "rejected_reason", "severity", "search_words") VALUES (8, 'cds_01M7Z32D40NS76DAYBZQWBY8QD', 1, 2, NULL, 'patient_01M7YZMHG0P5973HECRZ6HEV1W', 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"GLU","flag":"normal","reference_range":"3.3-6.1","unit":"mmol/L","value":5.2},{"analyte":"TBIL","comparator":"<","flag":null,"reference_range":null,"unit":"mg/dL","value":0.2}]', 1, 'cds_01M7Z32D40NS76DAYBZQWBY8QE', '4b9d66ac21400caf2fd54956a1497b47b4f7996c8eed4a04e118ae55fcafac59', '{"device_id":"chem-1","message_id":"1"}', '{"identifier":"10021","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795266000000, NULL, 1, 'pushed', 0, NULL, 0, '["10021"]');
CREATE TABLE study_revision (
      study_id bigint not null references study (id),
      revision integer not null,
      content_hash text not null,
      body text not null,
      received_at bigint not null,
      replaced_at bigint not null, pushed_revision integer,
      primary key (study_id, revision)
    );
INSERT INTO "study_revision" ("study_id", "revision", "content_hash", "body", "received_at", "replaced_at", "pushed_revision") VALUES (2, 1, 'c7dd9cd807098ac0a7d3227327692a6c24d8bbdd55051ed9eef7b60bcb3b792b', '{"fp":"cds_01M7YZMHG0P5973HECRZ6HEV31","patient_fp":"patient_01M7YZMHG0P5973HECRZ6HEV1T","modality":"BIOCHEMISTRY","device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[{"analyte":"ALT","flag":"critical","reference_range":"10-118","unit":"U/L","value":400},{"analyte":"413","code_source":"device","flag":null,"reference_range":null,"unit":"mg/dL","value":118}],"sent_patient_fp":"patient_01M7YZMHG0P5973HECRZ6HEV1T","unmatched_reason":null,"dedupe_key":"cds_01M7YZMHG0P5973HECRZ6HEV32","source":{"device_id":"chem-1","message_id":"1"},"patient_hint":{"identifier":"10021","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null},"snapshot":null,"cause":"pushed","rejected_reason":null}', 1795262400000, 1795266000000, 1);
INSERT INTO "study_revision" ("study_id", "revision", "content_hash", "body", "received_at", "replaced_at", "pushed_revision") VALUES (5, 1, '19cdcbf9c62f2b1166214dac7ca9d9111984afd511ff2f0d0cd6ca5d9ca34bbf', '{"fp":"cds_01M7YZMHG0P5973HECRZ6HEV37","patient_fp":"","modality":"BIOCHEMISTRY","device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[{"analyte":"GLU","flag":"normal","reference_range":"3.3-6.1","unit":"mmol/L","value":5.2},{"analyte":"TBIL","comparator":"<","flag":null,"reference_range":null,"unit":"mg/dL","value":0.2}],"sent_patient_fp":null,"unmatched_reason":"patient_fp is null, expected the patient''s fp","dedupe_key":"cds_01M7YZMHG0P5973HECRZ6HEV38","source":{"device_id":"chem-1","message_id":"1"},"patient_hint":{"identifier":"10021","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null},"snapshot":null,"cause":"pushed","rejected_reason":null}', 1795262400000, 1795266000000, 1);
INSERT INTO "study_revision" ("study_id", "revision", "content_hash", "body", "received_at", "replaced_at", "pushed_revision") VALUES (6, 1, 'cdf3100c88faadeb8722f1611196fccaaae28af4060256342fce749e52895c27', '{"fp":"cds_01M7YZMHG0P5973HECRZ6HEV39","patient_fp":"","modality":"BIOCHEMISTRY","device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[{"analyte":"GLU","flag":"normal","reference_range":"3.3-6.1","unit":"mmol/L","value":5.2},{"analyte":"TBIL","comparator":"<","flag":null,"reference_range":null,"unit":"mg/dL","value":0.2}],"sent_patient_fp":null,"unmatched_reason":"patient_fp is null, expected the patient''s fp","dedupe_key":"cds_01M7YZMHG0P5973HECRZ6HEV3A","source":{"device_id":"chem-1","message_id":"1"},"patient_hint":{"identifier":"10021","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null},"snapshot":null,"cause":"pushed","rejected_reason":null}', 1795262400000, 1795266000000, 1);
CREATE TABLE api_key (
      id integer primary key,
      public_id text not null unique,
      clinic_id bigint not null references clinic (id),
      name text not null,
      type text not null,
      permissions text not null,
      digest text not null unique,
      prefix text not null,
      last_four text not null,
      created_at bigint not null,
      expires_at bigint,
      revoked_at bigint,
      last_used_at bigint
    );
INSERT INTO "api_key" ("id", "public_id", "clinic_id", "name", "type", "permissions", "digest", "prefix", "last_four", "created_at", "expires_at", "revoked_at", "last_used_at") VALUES (1, 'key_01M7YZMHG0P5973HECRZ6HEV2P', 1, 'integration', 'integration', '["clinic.patient.view","clinic.calendar.view","clinic.inventory.view","clinic.soap.view","clinic.lab.view","clinic.lab.ingest"]', '0c40be56321bc1c81f02d859e6554bc628cf1d9968bff4703279fc9c3d69d676', 'sk_live_9H70', 'iPPG', 1795262400000, NULL, NULL, NULL);
INSERT INTO "api_key" ("id", "public_id", "clinic_id", "name", "type", "permissions", "digest", "prefix", "last_four", "created_at", "expires_at", "revoked_at", "last_used_at") VALUES (2, 'key_01M7YZMHG0P5973HECRZ6HEV2T', 1, 'Lab PC', 'device', '["clinic.patient.view","clinic.calendar.view","clinic.lab.ingest"]', '7781e2911c92b6e4b96de3510302e01f75453f4617e49125a343e9cfd64ff7c7', 'sk_live_bZny', 'FC4J', 1795262400000, NULL, NULL, 1795266000000);
CREATE TABLE heartbeat (
      clinic_id bigint not null references clinic (id),
      api_key_id bigint not null references api_key (id),
      received_at bigint not null,
      body text not null,
      primary key (clinic_id, api_key_id)
    );
INSERT INTO "heartbeat" ("clinic_id", "api_key_id", "received_at", "body") VALUES (1, 2, 1795262400000, '{"version":"0.1.0","uptime_s":60,"clock_offset_s":-3,"outbox":{"depth":1,"oldest_at":null},"devices":[{"id":"chem-1","profile":"generic-astm","name":"Abaxis VetScan VS2","protocol":"astm","connection":"0.0.0.0:4001","connected":false,"state":"cannot connect","reason":"refused by 10.0.0.5:4001","may_be_off":true,"today":{"received":3,"filed":2,"unmatched":1,"quarantined":0}}],"configuration":{"managed":true,"version":null,"problems":[],"devices":"- id: chem-1\n"}}');
CREATE TABLE soap (
      id integer primary key,
      fp text not null unique,
      patient_id bigint not null references patient (id),
      clinic_id bigint not null references clinic (id),
      soap_type text not null,
      status text not null check (status in ('DRAFT', 'IN_PROGRESS', 'SIGNED', 'LOCKED')),
      subjective text,
      objective text,
      assessment text,
      plan text,
      signed_at bigint,
      created_at bigint not null,
      amends_fp text,
      check ((signed_at is not null) = (status in ('SIGNED', 'LOCKED')))
    );
INSERT INTO "soap" ("id", "fp", "patient_id", "clinic_id", "soap_type", "status", "subjective", "objective", "assessment", "plan", "signed_at", "created_at", "amends_fp") VALUES (1, 'soap_01M7YZMHG0P5973HECRZ6HEV22', 1, 1, 'EXAMINATION', 'DRAFT', 'Limping since yesterday.', 'Left hind leg painful.', NULL, 'Rest, control in a week.', NULL, 1793523600000, NULL);
INSERT INTO "soap" ("id", "fp", "patient_id", "clinic_id", "soap_type", "status", "subjective", "objective", "assessment", "plan", "signed_at", "created_at", "amends_fp") VALUES (2, 'soap_01M7YZMHG0P5973HECRZ6HEV23', 1, 1, 'EXAMINATION', 'IN_PROGRESS', 'Limping since yesterday.', 'Left hind leg painful.', NULL, 'Rest, control in a week.', NULL, 1793523600000, NULL);
INSERT INTO "soap" ("id", "fp", "patient_id", "clinic_id", "soap_type", "status", "subjective", "objective", "assessment", "plan", "signed_at", "created_at", "amends_fp") VALUES (3, 'soap_01M7YZMHG0P5973HECRZ6HEV24', 2, 1, 'EXAMINATION', 'SIGNED', 'Limping since yesterday.', 'Left hind leg painful.', NULL, 'Rest, control in a week.', 1793610000000, 1793523600000, NULL);
INSERT INTO "soap" ("id", "fp", "patient_id", "clinic_id", "soap_type", "status", "subjective", "objective", "assessment", "plan", "signed_at", "created_at", "amends_fp") VALUES (4, 'soap_01M7YZMHG0P5973HECRZ6HEV25', 2, 1, 'EXAMINATION', 'LOCKED', 'Limping since yesterday.', 'Left hind leg painful.', NULL, 'Rest, control in a week.', 1793610000000, 1793523600000, NULL);
INSERT INTO "soap" ("id", "fp", "patient_id", "clinic_id", "soap_type", "status", "subjective", "objective", "assessment", "plan", "signed_at", "created_at", "amends_fp") VALUES (5, 'soap_01M7YZMHG0P5973HECRZ6HEV26', 2, 1, 'EXAMINATION', 'DRAFT', 'An amendment.', 'Left hind leg painful.', NULL, 'Rest, control in a week.', NULL, 1793523600000, 'soap_01M7YZMHG0P5973HECRZ6HEV25');
CREATE TABLE calendar_event (
      id integer primary key,
      fp text not null unique,
      clinic_id bigint not null references clinic (id),
      title text not null,
      type text not null,
      status text not null,
      start_at bigint not null,
      end_at bigint not null,
      patient_id bigint references patient (id),
      assigned_user_id bigint references "user" (id)
    );
INSERT INTO "calendar_event" ("id", "fp", "clinic_id", "title", "type", "status", "start_at", "end_at", "patient_id", "assigned_user_id") VALUES (1, 'calevt_01M7YZMHG0P5973HECRZ6HEV27', 1, 'Check-up', 'CHECKUP', 'SCHEDULED', 1795266000000, 1795267800000, 1, 1);
INSERT INTO "calendar_event" ("id", "fp", "clinic_id", "title", "type", "status", "start_at", "end_at", "patient_id", "assigned_user_id") VALUES (2, 'calevt_01M7YZMHG0P5973HECRZ6HEV2C', 1, 'Vaccination', 'CHECKUP', 'SCHEDULED', 1795597200000, 1795599000000, NULL, NULL);
CREATE TABLE inventory_item (
      id integer primary key,
      fp text not null unique,
      clinic_id bigint not null references clinic (id),
      name text not null,
      category text not null,
      sku text,
      unit text not null,
      quantity_on_hand bigint not null check (quantity_on_hand >= 0),
      low_stock_threshold bigint not null,
      unit_price_cents bigint not null,
      currency text not null,
      is_virtual integer not null
    );
INSERT INTO "inventory_item" ("id", "fp", "clinic_id", "name", "category", "sku", "unit", "quantity_on_hand", "low_stock_threshold", "unit_price_cents", "currency", "is_virtual") VALUES (1, 'invitem_01M7YZMHG0P5973HECRZ6HEV28', 1, 'Rabies vaccine', 'VACCINE', 'RAB-1', 'vial', 12, 10, 45000, 'TRY', 0);
INSERT INTO "inventory_item" ("id", "fp", "clinic_id", "name", "category", "sku", "unit", "quantity_on_hand", "low_stock_threshold", "unit_price_cents", "currency", "is_virtual") VALUES (2, 'invitem_01M7YZMHG0P5973HECRZ6HEV29', 1, 'Syringe', 'CONSUMABLE', 'RAB-1', 'vial', 3, 10, 45000, 'TRY', 0);
CREATE TABLE inventory_batch (
      id integer primary key,
      item_id bigint not null references inventory_item (id),
      lot text,
      quantity bigint not null check (quantity >= 0),
      received_at bigint not null,
      expiry_date text
    );
INSERT INTO "inventory_batch" ("id", "item_id", "lot", "quantity", "received_at", "expiry_date") VALUES (1, 1, 'L1', 5, 1790812800000, '2027-03-31');
INSERT INTO "inventory_batch" ("id", "item_id", "lot", "quantity", "received_at", "expiry_date") VALUES (2, 2, 'L1', 5, 1790812800000, '2027-03-31');
CREATE TABLE audit (
      id integer primary key,
      at bigint not null,
      request_id text,
      api_key_id bigint references api_key (id),
      method text,
      route text,
      fp text,
      count integer,
      status integer,
      address text,
      times integer not null
    , user_id bigint, clinic_id bigint);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (1, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2J', NULL, 'COMMAND', 'users create --role staff', 'usr_01M7YZMHG0P5973HECRZ6HEV2H', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (2, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2N', NULL, 'COMMAND', 'users create --role reader', 'usr_01M7YZMHG0P5973HECRZ6HEV2M', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (3, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2R', NULL, 'COMMAND', 'agents code', 'clinic_01M7YZMHG0P5973HECRZ6HEV1P', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (4, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2W', NULL, 'COMMAND', 'agents pair', 'agent_01M7YZMHG0P5973HECRZ6HEV2V', NULL, NULL, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (5, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2W', NULL, 'COMMAND', 'agents pair', 'key_01M7YZMHG0P5973HECRZ6HEV2T', NULL, NULL, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (6, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV30', NULL, 'COMMAND', 'agents configure', 'agent_01M7YZMHG0P5973HECRZ6HEV2V', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (7, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PS', NULL, 'COMMAND', 'unmatched assign', 'cds_01M7YZMHG0P5973HECRZ6HEV37', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (8, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PS', NULL, 'COMMAND', 'unmatched assign', 'patient_01M7YZMHG0P5973HECRZ6HEV1W', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (9, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PV', NULL, 'COMMAND', 'unmatched reject', 'cds_01M7YZMHG0P5973HECRZ6HEV39', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (10, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PZ', NULL, 'COMMAND', 'study add', 'cds_01M7Z32D40NS76DAYBZQWBY8PY', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (11, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PZ', NULL, 'COMMAND', 'study add', 'patient_01M7YZMHG0P5973HECRZ6HEV1T', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (12, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8Q1', NULL, 'COMMAND', 'codes map to GLU', 'chem-1 413', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (13, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8Q4', NULL, 'COMMAND', 'open connection', 'patient_01M7YZMHG0P5973HECRZ6HEV1Y', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (14, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8Q6', NULL, 'COMMAND', 'close connection', 'patient_01M7YZMHG0P5973HECRZ6HEV1Y', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (15, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8Q9', NULL, 'COMMAND', 'webhooks create', 'wh_01M7Z32D40NS76DAYBZQWBY8Q8', NULL, NULL, 'fixture admin', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (16, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2D', NULL, 'POST', '/clinic/v1/set-up', NULL, NULL, 200, '127.0.0.1', 1, 1, NULL);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (17, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2G', NULL, 'POST', '/clinic/v1/clinics/:clinic/users', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (18, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2K', NULL, 'POST', '/clinic/v1/clinics/:clinic/users', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (19, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2Q', NULL, 'POST', '/clinic/v1/clinics/:clinic/pairing-code', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (20, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2X', 2, 'POST', '/agent/v1/heartbeat', NULL, NULL, 200, '127.0.0.1', 1, NULL, NULL);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (21, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2Y', NULL, 'GET', '/clinic/v1/clinics/:clinic/devices', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (22, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV2Z', NULL, 'PUT', '/clinic/v1/clinics/:clinic/agents/:agent/devices', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (23, 1795262400000, '01M7YZMHG0P5973HECRZ6HEV3C', 2, 'POST', '/agent/v1/studies', NULL, 6, 200, '127.0.0.1', 1, NULL, NULL);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (24, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PN', 2, 'POST', '/agent/v1/studies', NULL, 1, 200, '127.0.0.1', 1, NULL, NULL);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (25, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PP', 2, 'POST', '/agent/v1/studies', NULL, 1, 200, '127.0.0.1', 1, NULL, NULL);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (26, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PQ', 2, 'PUT', '/agent/v1/previews/:fp/:position', 'cds_01M7YZMHG0P5973HECRZ6HEV33', NULL, 200, '127.0.0.1', 1, NULL, NULL);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (27, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PR', NULL, 'POST', '/clinic/v1/clinics/:clinic/to-place/:fp/assign', 'cds_01M7YZMHG0P5973HECRZ6HEV37', NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (28, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PT', NULL, 'POST', '/clinic/v1/clinics/:clinic/to-place/:fp/reject', 'cds_01M7YZMHG0P5973HECRZ6HEV39', NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (29, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PW', NULL, 'POST', '/clinic/v1/clinics/:clinic/results/:fp/seen', 'cds_01M7YZMHG0P5973HECRZ6HEV31', NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (30, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8PX', NULL, 'POST', '/clinic/v1/clinics/:clinic/manual-study', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (31, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8Q0', NULL, 'PUT', '/clinic/v1/clinics/:clinic/codes', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (32, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8Q2', NULL, 'PUT', '/clinic/v1/clinics/:clinic/settings/clinic', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (33, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8Q3', NULL, 'PUT', '/clinic/v1/clinics/:clinic/patients/:fp/connection', 'patient_01M7YZMHG0P5973HECRZ6HEV1Y', NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (34, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8Q5', NULL, 'DELETE', '/clinic/v1/clinics/:clinic/patients/:fp/connection', 'patient_01M7YZMHG0P5973HECRZ6HEV1Y', NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (35, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8Q7', NULL, 'POST', '/clinic/v1/clinics/:clinic/webhooks', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (36, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8QA', NULL, 'POST', '/clinic/v1/clinics/:clinic/notifications/channels', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (37, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8QB', NULL, 'PUT', '/clinic/v1/clinics/:clinic/notifications/quiet-hours', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (38, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8QC', NULL, 'PUT', '/clinic/v1/clinics/:clinic/ranges', NULL, NULL, 200, '127.0.0.1', 1, 1, 1);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (39, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8QF', 2, 'POST', '/agent/v1/studies', NULL, 1, 200, '127.0.0.1', 1, NULL, NULL);
INSERT INTO "audit" ("id", "at", "request_id", "api_key_id", "method", "route", "fp", "count", "status", "address", "times", "user_id", "clinic_id") VALUES (40, 1795266000000, '01M7Z32D40NS76DAYBZQWBY8QG', NULL, 'GET', '/api/v1/patients', NULL, NULL, 401, '127.0.0.1', 1, NULL, NULL);
CREATE TABLE "clinic_reference_interval_set" (
      id integer primary key,
      clinic_id bigint not null references clinic (id),
      version text not null,
      imported_at bigint not null,
      low_quality integer not null,
      content text not null
    );
INSERT INTO "clinic_reference_interval_set" ("id", "clinic_id", "version", "imported_at", "low_quality", "content") VALUES (1, 1, 'f578f93f79d3', 1795266000000, 0, '[{"id":"alt-dog","species":"dog","analyte":"ALT","unit":"U/L","low":"12","high":"105","effective_from":"2026-01-01"}]');
CREATE TABLE study_conflict (
      id integer primary key,
      study_id bigint not null references study (id),
      clinic_id bigint not null references clinic (id),
      content_hash text not null,
      revision integer not null,
      reason text not null,
      body text not null,
      received_at bigint not null
    );
INSERT INTO "study_conflict" ("id", "study_id", "clinic_id", "content_hash", "revision", "reason", "body", "received_at") VALUES (1, 2, 1, '45b3f746e244c6e3455b307f909646e9387cd6594767611668ce236f548b3834', 2, 'revision 2 is already stored with another body, a correction needs a higher revision', '{"fp":"cds_01M7YZMHG0P5973HECRZ6HEV31","patient_fp":"patient_01M7YZMHG0P5973HECRZ6HEV1T","modality":"BIOCHEMISTRY","device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[{"analyte":"ALT","value":420,"unit":"U/L","reference_range":"10-118","flag":"critical"},{"analyte":"413","value":118,"unit":"mg/dL","reference_range":null,"flag":null,"code_source":"device"}],"revision":2,"dedupe_key":"cds_01M7YZMHG0P5973HECRZ6HEV32","source":{"device_id":"chem-1","message_id":"1"},"patient_hint":{"identifier":"10021","name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}}', 1795266000000);
CREATE TABLE unknown_code (
      id integer primary key,
      clinic_id bigint not null references clinic (id),
      device_id text not null,
      code text not null,
      label text,
      unit text,
      value text,
      studies bigint not null,
      first_seen_at bigint not null,
      last_seen_at bigint not null
    );
INSERT INTO "unknown_code" ("id", "clinic_id", "device_id", "code", "label", "unit", "value", "studies", "first_seen_at", "last_seen_at") VALUES (1, 1, 'chem-1', '413', NULL, 'mg/dL', '118', 1, 1795262400000, 1795266000000);
CREATE TABLE dashboard_user (
      id integer primary key,
      public_id text not null unique,
      name text not null,
      sign_in_name text not null unique,
      password text not null,
      totp_secret text,
      totp_last_step bigint,
      created_at bigint not null,
      disabled_at bigint
    );
INSERT INTO "dashboard_user" ("id", "public_id", "name", "sign_in_name", "password", "totp_secret", "totp_last_step", "created_at", "disabled_at") VALUES (1, 'usr_01M7YZMHG0P5973HECRZ6HEV2E', 'fixture admin', 'fixture admin', 'scrypt$65536$8$1$ww3T/HKgfuUw/YX5JEKNmg==$/+13Vyk9pJsWOaMrt8ECErq9dc+P81zX24LD+QJJBoM=', NULL, NULL, 1795262400000, NULL);
INSERT INTO "dashboard_user" ("id", "public_id", "name", "sign_in_name", "password", "totp_secret", "totp_last_step", "created_at", "disabled_at") VALUES (2, 'usr_01M7YZMHG0P5973HECRZ6HEV2H', 'fixture staff', 'fixture staff', 'scrypt$65536$8$1$UgEmfli3W74bk4vgonWqfw==$yskJ4lu6h/hoBpaFYd3c/KSh+CFny+bCMcg8NX7H5jQ=', NULL, NULL, 1795262400000, NULL);
INSERT INTO "dashboard_user" ("id", "public_id", "name", "sign_in_name", "password", "totp_secret", "totp_last_step", "created_at", "disabled_at") VALUES (3, 'usr_01M7YZMHG0P5973HECRZ6HEV2M', 'fixture reader', 'fixture reader', 'scrypt$65536$8$1$PS5mRpOI51BX9Sb/+uyI4w==$XTTzHH6/4KkbqBA5RPrqSkJluNZvywFGOgL+itR1Kr4=', NULL, NULL, 1795262400000, NULL);
CREATE TABLE dashboard_user_clinic (
      user_id bigint not null references dashboard_user (id),
      clinic_id bigint not null references clinic (id),
      role text not null,
      primary key (user_id, clinic_id)
    );
INSERT INTO "dashboard_user_clinic" ("user_id", "clinic_id", "role") VALUES (1, 1, 'admin');
INSERT INTO "dashboard_user_clinic" ("user_id", "clinic_id", "role") VALUES (1, 2, 'admin');
INSERT INTO "dashboard_user_clinic" ("user_id", "clinic_id", "role") VALUES (2, 1, 'staff');
INSERT INTO "dashboard_user_clinic" ("user_id", "clinic_id", "role") VALUES (3, 1, 'reader');
CREATE TABLE dashboard_session (
      id integer primary key,
      public_id text not null unique,
      digest text not null unique,
      user_id bigint not null references dashboard_user (id),
      created_at bigint not null,
      last_used_at bigint not null,
      expires_at bigint not null,
      address text,
      browser text
    );
INSERT INTO "dashboard_session" ("id", "public_id", "digest", "user_id", "created_at", "last_used_at", "expires_at", "address", "browser") VALUES (1, 'ses_01M7YZMHG0P5973HECRZ6HEV2F', 'a503b6edf9b9ec68a8796f51c2df08ace32d5f27541a896b5bba1295aabbc959', 1, 1795262400000, 1795266000000, 1795309200000, '127.0.0.1', 'lightMyRequest');
CREATE TABLE clinic_settings (
      clinic_id bigint not null primary key references clinic (id),
      language text,
      time_zone text
    );
INSERT INTO "clinic_settings" ("clinic_id", "language", "time_zone") VALUES (1, 'tr', 'Europe/Istanbul');
CREATE TABLE code_mapping (
      clinic_id bigint not null references clinic (id),
      device_id text not null,
      code text not null,
      analyte text not null,
      mapped_at bigint not null,
      user_id bigint not null references dashboard_user (id),
      primary key (clinic_id, device_id, code)
    );
INSERT INTO "code_mapping" ("clinic_id", "device_id", "code", "analyte", "mapped_at", "user_id") VALUES (1, 'chem-1', '413', 'GLU', 1795266000000, 1);
CREATE TABLE connection_change (
      id integer primary key,
      clinic_id bigint not null references clinic (id),
      patient_id bigint not null references patient (id),
      active integer not null,
      changed_at bigint not null,
      user_id bigint not null references dashboard_user (id)
    );
INSERT INTO "connection_change" ("id", "clinic_id", "patient_id", "active", "changed_at", "user_id") VALUES (1, 1, 3, 1, 1795266000000, 1);
INSERT INTO "connection_change" ("id", "clinic_id", "patient_id", "active", "changed_at", "user_id") VALUES (2, 1, 3, 0, 1795266000000, 1);
CREATE TABLE study_seen (
      clinic_id bigint not null references clinic (id),
      study_id bigint not null references study (id),
      revision bigint not null,
      seen_at bigint not null,
      user_id bigint not null references dashboard_user (id),
      primary key (clinic_id, study_id)
    );
INSERT INTO "study_seen" ("clinic_id", "study_id", "revision", "seen_at", "user_id") VALUES (1, 2, 2, 1795266000000, 1);
CREATE TABLE study_preview (
      study_id bigint not null references study (id),
      position bigint not null,
      width bigint not null,
      height bigint not null,
      png text not null,
      received_at bigint not null,
      primary key (study_id, position)
    );
INSERT INTO "study_preview" ("study_id", "position", "width", "height", "png", "received_at") VALUES (3, 1, 2, 2, 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAAC0lEQVR4nGNgAAEAAAYAAf6MZ8gAAAAASUVORK5CYII=', 1795266000000);
CREATE TABLE clinic_study (
      clinic_id bigint not null references clinic (id),
      study_id bigint not null references study (id),
      changed_at bigint not null,
      primary key (clinic_id, study_id)
    );
INSERT INTO "clinic_study" ("clinic_id", "study_id", "changed_at") VALUES (1, 1, 1795262400000);
INSERT INTO "clinic_study" ("clinic_id", "study_id", "changed_at") VALUES (1, 2, 1795266000000);
INSERT INTO "clinic_study" ("clinic_id", "study_id", "changed_at") VALUES (1, 3, 1795262400000);
INSERT INTO "clinic_study" ("clinic_id", "study_id", "changed_at") VALUES (1, 5, 1795266000000);
INSERT INTO "clinic_study" ("clinic_id", "study_id", "changed_at") VALUES (1, 7, 1795266000000);
INSERT INTO "clinic_study" ("clinic_id", "study_id", "changed_at") VALUES (1, 8, 1795266000000);
INSERT INTO "clinic_study" ("clinic_id", "study_id", "changed_at") VALUES (2, 1, 1795262400000);
INSERT INTO "clinic_study" ("clinic_id", "study_id", "changed_at") VALUES (2, 5, 1795266000000);
INSERT INTO "clinic_study" ("clinic_id", "study_id", "changed_at") VALUES (2, 8, 1795266000000);
CREATE TABLE webhook (
      id integer primary key,
      public_id text not null unique,
      clinic_id bigint not null references clinic (id),
      url text not null,
      secret text not null,
      types text not null,
      paused integer not null default 0,
      created_at bigint not null
    );
INSERT INTO "webhook" ("id", "public_id", "clinic_id", "url", "secret", "types", "paused", "created_at") VALUES (1, 'wh_01M7Z32D40NS76DAYBZQWBY8Q8', 1, 'https://example.com/hook', 'whsec_NA1Y989pEIpGESf9GTcY7gOGlljXonFjJR9dyjkuuvc=', 'study.filed', 0, 1795266000000);
CREATE TABLE webhook_delivery (
      id integer primary key,
      webhook_id bigint not null references webhook (id),
      type text not null,
      fp text not null,
      state text not null,
      changed_at bigint not null,
      attempts bigint not null,
      next_at bigint not null
    );
INSERT INTO "webhook_delivery" ("id", "webhook_id", "type", "fp", "state", "changed_at", "attempts", "next_at") VALUES (1, 1, 'study.filed', 'cds_01M7Z32D40NS76DAYBZQWBY8QD', 'new', 1795266000000, 0, 1795266000000);
CREATE TABLE webhook_attempt (
      delivery_id bigint not null references webhook_delivery (id),
      number bigint not null,
      started_at bigint not null,
      ended_at bigint,
      status bigint,
      reason text,
      primary key (delivery_id, number)
    );
CREATE TABLE pairing_code (
      clinic_id bigint not null primary key references clinic (id),
      selector text not null unique,
      digest text not null,
      expires_at bigint not null,
      wrong_tries bigint not null,
      api_key_id bigint references api_key (id),
      user_id bigint not null references dashboard_user (id)
    );
INSERT INTO "pairing_code" ("clinic_id", "selector", "digest", "expires_at", "wrong_tries", "api_key_id", "user_id") VALUES (1, 'DH7', 'c98649829869103aee0a1aca28880dc243a60cd4a34b8d979268c3b03375d229', 1795263300000, 0, 2, 1);
CREATE TABLE agent (
      id integer primary key,
      fp text not null unique,
      clinic_id bigint not null references clinic (id),
      api_key_id bigint not null unique references api_key (id),
      paired_at bigint
    );
INSERT INTO "agent" ("id", "fp", "clinic_id", "api_key_id", "paired_at") VALUES (1, 'agent_01M7YZMHG0P5973HECRZ6HEV2V', 1, 2, 1795262400000);
CREATE TABLE agent_configuration (
      agent_id bigint not null primary key references agent (id),
      version bigint not null,
      devices text not null,
      saved_at bigint not null,
      user_id bigint not null references dashboard_user (id)
    );
INSERT INTO "agent_configuration" ("agent_id", "version", "devices", "saved_at", "user_id") VALUES (1, 1795262400000, '- id: chem-2
', 1795262400000, 1);
CREATE TABLE clinic_alerts (
      clinic_id bigint not null primary key references clinic (id),
      settings text,
      book text,
      changed_at bigint not null
    );
INSERT INTO "clinic_alerts" ("clinic_id", "settings", "book", "changed_at") VALUES (1, '{"quiet":{"from":"22:00","until":"07:00","exemptCritical":true},"receivers":[{"id":"0aa1239b31c9e9d7","type":"email","target":"nurse@clinic.example","secret":""}]}', '{"open":[{"key":"unmatched","kind":"unmatched","subject":"","since":1795262400000,"count":1,"openedAt":1795276800000,"goneSince":null,"toldOn":["0aa1239b31c9e9d7"]}],"pending":{},"messages":[{"id":"alert_f2e124c30f0673b1f3377bcf0e4e6a2a","channel":"0aa1239b31c9e9d7","event":"opened","alert":{"key":"unmatched","kind":"unmatched","subject":"","since":1795262400000,"openedAt":1795276800000,"count":1},"at":1795276800000,"notBefore":1795276860000,"attempts":0,"claimedUntil":null,"isRepeat":false}],"health":{}}', 1795276800000);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "meta" ("key", "value") VALUES ('mark', '{"commit":32,"at":1795276800000,"next":{}}');
CREATE INDEX patient_identifier_lookup on patient_identifier (identifier);
CREATE UNIQUE INDEX study_dedupe on study (clinic_id, dedupe_key);
CREATE INDEX study_patient on study (patient_id, acquired_at);
CREATE INDEX api_key_clinic on api_key (clinic_id);
CREATE INDEX soap_patient on soap (patient_id, created_at);
CREATE TRIGGER soap_signed_stays before update on soap when old.status in ('SIGNED', 'LOCKED') and (old.id is distinct from new.id or old.fp is distinct from new.fp or old.patient_id is distinct from new.patient_id or old.clinic_id is distinct from new.clinic_id or old.soap_type is distinct from new.soap_type or old.subjective is distinct from new.subjective or old.objective is distinct from new.objective or old.assessment is distinct from new.assessment or old.plan is distinct from new.plan or old.signed_at is distinct from new.signed_at or old.created_at is distinct from new.created_at or old.amends_fp is distinct from new.amends_fp) begin select raise(abort, 'a signed SOAP record is never changed, amend it'); end;
CREATE TRIGGER soap_signed_remains before delete on soap when old.status in ('SIGNED', 'LOCKED') begin select raise(abort, 'a signed SOAP record is never deleted'); end;
CREATE TRIGGER soap_moves before update on soap when old.status <> new.status and not (
        old.status = 'DRAFT' and new.status = 'IN_PROGRESS'
        or old.status = 'IN_PROGRESS' and new.status = 'SIGNED'
        or old.status = 'SIGNED' and new.status = 'LOCKED'
      ) begin select raise(abort, 'a SOAP record moves from DRAFT over IN_PROGRESS and SIGNED to LOCKED only'); end;
CREATE INDEX calendar_event_list on calendar_event (clinic_id, start_at, fp);
CREATE INDEX inventory_item_list on inventory_item
      (clinic_id, name, fp, id, quantity_on_hand, low_stock_threshold);
CREATE INDEX inventory_item_list_by_category on inventory_item
      (clinic_id, category, name, fp, id, quantity_on_hand, low_stock_threshold);
CREATE UNIQUE INDEX inventory_batch_identity on inventory_batch
      (item_id, received_at, coalesce(lot, ''), coalesce(expiry_date, ''));
CREATE INDEX study_unmatched on study (id) where patient_id is null;
CREATE UNIQUE INDEX study_conflict_content on study_conflict (study_id, content_hash);
CREATE INDEX clinic_patient_by_patient on clinic_patient (patient_id);
CREATE INDEX clinic_patient_list on clinic_patient (clinic_id, listed, patient_updated_at desc, patient_fp desc, patient_id);
CREATE INDEX clinic_patient_list_by_species on clinic_patient (clinic_id, listed, patient_species, patient_updated_at desc, patient_fp desc, patient_id);
CREATE INDEX clinic_reference_interval_set_latest on clinic_reference_interval_set (clinic_id, id);
CREATE UNIQUE INDEX unknown_code_of_device on unknown_code (clinic_id, device_id, code);
CREATE INDEX dashboard_session_of_user on dashboard_session (user_id);
CREATE INDEX connection_change_of_patient on connection_change (patient_id, clinic_id);
CREATE INDEX study_of_clinic on study (clinic_id, acquired_at);
CREATE INDEX study_revision_by_time on study_revision (replaced_at);
CREATE INDEX study_list on study (patient_id, acquired_at, id
      , clinic_id, modality, device_name, severity, search_words);
CREATE INDEX audit_of_study on audit (fp) where substr(fp, 1, 4) = 'cds_';
CREATE INDEX study_seen_by_time on study_seen (clinic_id, seen_at);
CREATE INDEX study_conflict_of_clinic on study_conflict (clinic_id, id);
CREATE INDEX study_by_receipt on study (received_at);
CREATE INDEX calendar_event_of_patient on calendar_event (patient_id, start_at);
CREATE INDEX clinic_study_by_change on clinic_study (clinic_id, changed_at, study_id);
CREATE INDEX clinic_study_of_study on clinic_study (study_id);
CREATE INDEX webhook_of_clinic on webhook (clinic_id);
CREATE UNIQUE INDEX webhook_delivery_new on webhook_delivery (webhook_id, type, fp) where state = 'new';
CREATE INDEX webhook_delivery_of_webhook on webhook_delivery (webhook_id, id);
CREATE INDEX webhook_delivery_due on webhook_delivery (next_at) where state in ('new', 'sending', 'retrying');
CREATE INDEX webhook_delivery_by_change on webhook_delivery (changed_at);
CREATE INDEX agent_of_clinic on agent (clinic_id);
COMMIT;
