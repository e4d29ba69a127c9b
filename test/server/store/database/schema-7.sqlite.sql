-- Rows that commit 85220f4 wrote with importFile, the routes and the commands of a user in a test on its own harness; schema and rows of its vetwire.db.
CREATE TABLE migration (version integer primary key, applied_at bigint not null);
insert into "migration" values
(1, 1795408963868),
(2, 1795408963868),
(3, 1795408963868),
(4, 1795408963869),
(5, 1795408963869),
(6, 1795408963869),
(7, 1795408963877);
CREATE TABLE clinic (id integer primary key, fp text not null unique, name text not null, version bigint not null default 0, lists_version bigint not null default 0);
insert into "clinic" values
(1, 'clinic_01K9M1GRATK000000000000001', 'Kadıköy''s clinic', 13, 2),
(2, 'clinic_01K9M1GRATK000000000000002', 'Second clinic', 11, 1);
CREATE TABLE "user" ( id integer primary key, fp text not null unique, name text not null, clinic_id bigint not null references clinic (id) );
insert into "user" values
(1, 'user_01K9M1GRATK000000000000001', 'Dr. Ada', 1);
CREATE TABLE customer (id integer primary key, fp text not null unique, time_zone text);
insert into "customer" values
(1, 'customer_01K9M1GRATK000000000000001', 'Europe/Istanbul'),
(2, 'customer_01K9M1GRATK000000000000002', null);
CREATE TABLE patient ( id integer primary key, fp text not null unique, name text not null, species text not null, breed text, sex text, date_of_birth text, weight_kg double precision, owner_customer_id bigint not null references customer (id), created_at bigint not null, updated_at bigint not null, deleted_at bigint );
insert into "patient" values
(1, 'patient_01K9M1GRATK000000000000001', 'Karabaş', 'dog', 'Kangal', 'male', '2019-04-12', 12.5, 1, 1790841600000, 1790841600000, null),
(2, 'patient_01K9M1GRATK000000000000002', 'Pamuk', 'cat', null, 'female', '2019-04-12', null, 2, 1790841600000, 1790841600000, null),
(3, 'patient_01K9M1GRATK000000000000003', 'Rex', 'rabbit', null, 'male', null, 12.5, 1, 1790841600000, 1790841600000, null),
(4, 'patient_01K9M1GRATK000000000000004', 'Gölge', 'dog', null, 'male', '2019-04-12', 12.5, 1, 1790841600000, 1790841600000, 1793520000000),
(5, 'patient_01K9M1GRATK000000000000005', 'Duman', 'cat', null, 'male', '2019-04-12', 12.5, 1, 1790841600000, 1795262410000, null);
CREATE TABLE patient_identifier ( patient_id bigint not null references patient (id), identifier text not null, position integer not null default 0, primary key (patient_id, identifier) );
insert into "patient_identifier" values
(1, '10021', 0),
(1, '985112003456789', 1);
CREATE TABLE connection ( clinic_id bigint not null references clinic (id), patient_id bigint not null references patient (id), active integer not null, listed integer not null, patient_fp text not null, patient_species text not null, patient_updated_at bigint not null, primary key (clinic_id, patient_id) );
insert into "connection" values
(1, 1, 1, 1, 'patient_01K9M1GRATK000000000000001', 'dog', 1790841600000),
(2, 1, 1, 1, 'patient_01K9M1GRATK000000000000001', 'dog', 1790841600000),
(1, 2, 1, 1, 'patient_01K9M1GRATK000000000000002', 'cat', 1790841600000),
(2, 3, 1, 1, 'patient_01K9M1GRATK000000000000003', 'rabbit', 1790841600000),
(1, 4, 1, 0, 'patient_01K9M1GRATK000000000000004', 'dog', 1790841600000),
(1, 5, 0, 0, 'patient_01K9M1GRATK000000000000005', 'cat', 1795262410000);
CREATE TABLE study ( id integer primary key, fp text not null unique, clinic_id bigint references clinic (id), patient_id bigint references patient (id), unmatched_reason text, sent_patient_fp text, modality text not null, device_name text not null, status text not null, acquired_at bigint not null, results text not null, revision integer not null, dedupe_key text, content_hash text not null, source text, patient_hint text, received_at bigint not null , snapshot text, pushed_revision integer, cause text not null default 'pushed', by_person integer not null default 0, rejected_reason text);
insert into "study" values
(1, 'cds_01K9M1GRATK000000000000001', null, 1, null, 'patient_01K9M1GRATK000000000000001', 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1792490400000, '[{"analyte":"ALT","flag":"high","reference_range":"10-118","unit":"U/L","value":143}]', 1, null, '065a255e1d98e4a411f96fa0c8477403ffe10c74576d368d0dce42bc1beed26b', null, null, 1795262400000, null, 1, 'imported', 0, null),
(2, 'cds_01K9M1GRATK000000000000002', 1, 1, null, 'patient_01K9M1GRATK000000000000001', 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"ALT","flag":null,"reference_range":null,"unit":"U/L","value":140}]', 2, 'key-2', '06d256d8ac1b35e1491fe3fc8b1999017b394bf17caa58b07c1c01685391b810', '{"device_id":"chem-1","message_id":"2"}', '{"identifier":null,"name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795262402000, null, 2, 'pushed', 0, null),
(3, 'cds_01K9M1GRATK000000000000003', 1, 1, null, null, 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"ALT","flag":"low","reference_range":"20-95","unit":"U/L","value":16.5}]', 2, 'key-3', '79238da9e6ed5707853fcdefdcbafa1da64bb69f9313ffe37a7b71ee7e599f7e', '{"device_id":"chem-1","message_id":"3"}', '{"identifier":null,"name":"Karabas","species":"dog","breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795262404000, '{"catalogue":"c322378f4775","ranges":"757cb08acdd4","instrument":"Abaxis VetScan VS2","rows":[{"analyte":"ALT","code":"ALT","interval_id":"clinic:alt","reason":null,"text":"16.5","device_range":null,"device_species":null,"device_flag":null}],"notes":[],"animal":{"species":"dog","breed":"Kangal","sex":"male","date_of_birth":"2019-04-12"}}', 1, 'assigned', 1, null),
(4, 'cds_01K9M1GRATK000000000000004', 1, null, 'patient patient_01K9M1GRATK000000000000099 does not exist', 'patient_01K9M1GRATK000000000000099', 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"ALT","flag":null,"reference_range":null,"unit":"U/L","value":22}]', 1, 'key-4', 'd97d5e10d49f4cf161555728bc9302e199e374e88dd089c648cb5b3e3fb06099', '{"device_id":"chem-1","message_id":"4"}', '{"identifier":null,"name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795262401000, null, 1, 'pushed', 0, null),
(5, 'cds_01K9M1GRATK000000000000005', 1, null, 'a person took it back from patient_01K9M1GRATK000000000000001', null, 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"ALT","flag":null,"reference_range":null,"unit":"U/L","value":27.5}]', 3, 'key-5', '9a0364bef87792156fc49a0dcfade6fbc833514d08dfb130628d19e3a96aadfb', '{"device_id":"chem-1","message_id":"5"}', '{"identifier":null,"name":"Pamuk","species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795262407000, '{"catalogue":"c322378f4775","ranges":"757cb08acdd4","instrument":"Abaxis VetScan VS2","rows":[{"analyte":"ALT","code":"ALT","interval_id":null,"reason":"no patient: the species is unknown","text":"27.5","device_range":null,"device_species":null,"device_flag":null}],"notes":[],"animal":null}', 1, 'undone', 1, null),
(6, 'cds_01K9M1GRATK000000000000006', 1, 1, null, null, 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"ALT","flag":"normal","reference_range":"20-95","unit":"U/L","value":33}]', 2, 'key-6', '27318857683996b6a48d7759879d9425159f5a7aa5e28b59069b5ffc7a7ed53e', '{"device_id":"chem-1","message_id":"6"}', '{"identifier":null,"name":null,"species":"cat","breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795262405000, '{"catalogue":"c322378f4775","ranges":"757cb08acdd4","instrument":"Abaxis VetScan VS2","rows":[{"analyte":"ALT","code":"ALT","interval_id":"clinic:alt","reason":null,"text":"33","device_range":null,"device_species":null,"device_flag":null}],"notes":["filed to patient_01K9M1GRATK000000000000001 despite the species: the device states the species \"cat\" (cat) and patient patient_01K9M1GRATK000000000000001 is a dog"],"animal":{"species":"dog","breed":"Kangal","sex":"male","date_of_birth":"2019-04-12"}}', 1, 'assigned despite species', 1, null),
(7, 'cds_01K9M1GRATK000000000000007', 1, null, 'patient_fp is null, expected the patient''s fp', null, 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"ALT","flag":null,"reference_range":null,"unit":"U/L","value":38.5}]', 2, 'key-7', 'c4205c540f083c6879a4a4dfff58e0ede6123d73439b16d7444e1f0565aeb866', '{"device_id":"chem-1","message_id":"7"}', '{"identifier":null,"name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795262408000, null, 1, 'rejected', 1, 'control sample'),
(8, 'cds_01K9M1GRATK000000000000008', 2, 3, null, 'patient_01K9M1GRATK000000000000003', 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', 1795168800000, '[{"analyte":"ALT","flag":null,"reference_range":null,"unit":"U/L","value":44}]', 1, 'key-8', '7c5d27ca37382576d421f56ea9496ede375120e1518ffb3bca2e4c17078c64cf', '{"device_id":"chem-1","message_id":"8"}', '{"identifier":null,"name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}', 1795262403000, null, 1, 'pushed', 0, null),
(9, 'cds_01K9M1GRATK000000000000090', 1, 2, null, 'patient_01K9M1GRATK000000000000002', 'BIOCHEMISTRY', 'Manual entry', 'COMPLETED', 1795082400000, '[{"analyte":"ALT","flag":"normal","reference_range":"28-109","unit":"U/L","value":60}]', 1, null, '96dd0eeade7a31cc78e7041f3735583d0f9784916e99269341f037ff717a377c', null, null, 1795262409000, '{"catalogue":"c322378f4775","ranges":"757cb08acdd4","instrument":"Manual entry","rows":[{"analyte":"ALT","code":"ALT","interval_id":"cat-any-any-alt-cornell_cobas_2017","reason":null,"text":"60","device_range":null,"device_species":null,"device_flag":null}],"notes":[]}', null, 'entered', 1, null);
CREATE TABLE study_revision ( study_id bigint not null references study (id), revision integer not null, content_hash text not null, body text not null, received_at bigint not null, replaced_at bigint not null, pushed_revision integer, primary key (study_id, revision) );
insert into "study_revision" values
(2, 1, '936594447980605a8aed6509be72016854bb37273d1cfe5670d4e56a6e92f917', '{"fp":"cds_01K9M1GRATK000000000000002","patient_fp":"patient_01K9M1GRATK000000000000001","modality":"BIOCHEMISTRY","device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[{"analyte":"ALT","flag":null,"reference_range":null,"unit":"U/L","value":11}],"sent_patient_fp":"patient_01K9M1GRATK000000000000001","unmatched_reason":null,"dedupe_key":"key-2","source":{"device_id":"chem-1","message_id":"2"},"patient_hint":{"identifier":null,"name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null},"snapshot":null,"cause":"pushed","rejected_reason":null}', 1795262401000, 1795262402000, 1),
(3, 1, '79238da9e6ed5707853fcdefdcbafa1da64bb69f9313ffe37a7b71ee7e599f7e', '{"fp":"cds_01K9M1GRATK000000000000003","patient_fp":"","modality":"BIOCHEMISTRY","device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[{"analyte":"ALT","flag":null,"reference_range":null,"unit":"U/L","value":16.5}],"sent_patient_fp":null,"unmatched_reason":"patient_fp is null, expected the patient''s fp","dedupe_key":"key-3","source":{"device_id":"chem-1","message_id":"3"},"patient_hint":{"identifier":null,"name":"Karabas","species":"dog","breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null},"snapshot":null,"cause":"pushed","rejected_reason":null}', 1795262401000, 1795262404000, 1),
(6, 1, '27318857683996b6a48d7759879d9425159f5a7aa5e28b59069b5ffc7a7ed53e', '{"fp":"cds_01K9M1GRATK000000000000006","patient_fp":"","modality":"BIOCHEMISTRY","device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[{"analyte":"ALT","flag":null,"reference_range":null,"unit":"U/L","value":33}],"sent_patient_fp":null,"unmatched_reason":"patient_fp is null, expected the patient''s fp","dedupe_key":"key-6","source":{"device_id":"chem-1","message_id":"6"},"patient_hint":{"identifier":null,"name":null,"species":"cat","breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null},"snapshot":null,"cause":"pushed","rejected_reason":null}', 1795262401000, 1795262405000, 1),
(5, 1, '9a0364bef87792156fc49a0dcfade6fbc833514d08dfb130628d19e3a96aadfb', '{"fp":"cds_01K9M1GRATK000000000000005","patient_fp":"","modality":"BIOCHEMISTRY","device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[{"analyte":"ALT","flag":null,"reference_range":null,"unit":"U/L","value":27.5}],"sent_patient_fp":null,"unmatched_reason":"patient_fp is null, expected the patient''s fp","dedupe_key":"key-5","source":{"device_id":"chem-1","message_id":"5"},"patient_hint":{"identifier":null,"name":"Pamuk","species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null},"snapshot":null,"cause":"pushed","rejected_reason":null}', 1795262401000, 1795262406000, 1),
(5, 2, '9a0364bef87792156fc49a0dcfade6fbc833514d08dfb130628d19e3a96aadfb', '{"fp":"cds_01K9M1GRATK000000000000005","patient_fp":"patient_01K9M1GRATK000000000000001","modality":"BIOCHEMISTRY","device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[{"analyte":"ALT","flag":"normal","reference_range":"20-95","unit":"U/L","value":27.5}],"sent_patient_fp":null,"unmatched_reason":null,"dedupe_key":"key-5","source":{"device_id":"chem-1","message_id":"5"},"patient_hint":{"identifier":null,"name":"Pamuk","species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null},"snapshot":{"catalogue":"c322378f4775","ranges":"757cb08acdd4","instrument":"Abaxis VetScan VS2","rows":[{"analyte":"ALT","code":"ALT","interval_id":"clinic:alt","reason":null,"text":"27.5","device_range":null,"device_species":null,"device_flag":null}],"notes":[],"animal":{"species":"dog","breed":"Kangal","sex":"male","date_of_birth":"2019-04-12"}},"cause":"assigned","rejected_reason":null}', 1795262406000, 1795262407000, 1),
(7, 1, 'c4205c540f083c6879a4a4dfff58e0ede6123d73439b16d7444e1f0565aeb866', '{"fp":"cds_01K9M1GRATK000000000000007","patient_fp":"","modality":"BIOCHEMISTRY","device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[{"analyte":"ALT","flag":null,"reference_range":null,"unit":"U/L","value":38.5}],"sent_patient_fp":null,"unmatched_reason":"patient_fp is null, expected the patient''s fp","dedupe_key":"key-7","source":{"device_id":"chem-1","message_id":"7"},"patient_hint":{"identifier":null,"name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null},"snapshot":null,"cause":"pushed","rejected_reason":null}', 1795262401000, 1795262408000, 1);
CREATE TABLE api_key ( id integer primary key, public_id text not null unique, clinic_id bigint not null references clinic (id), name text not null, type text not null, permissions text not null, digest text not null unique, prefix text not null, last_four text not null, created_at bigint not null, expires_at bigint, revoked_at bigint, last_used_at bigint );
insert into "api_key" values
(1, 'key_01M83BDASTJBEGD3TWZDQ0VYNN', 1, 'test', 'integration', '["clinic.patient.view","clinic.lab.view","clinic.lab.ingest"]', '550cfad55dc12ca1a01bd94592093a33bd5b6257e9c73932fdbd9b78c24a8a8d', 'sk_live_VBH7', 'AGCv', 1795262400000, null, null, 1795262401000),
(2, 'key_01M83BDATBGWGW7X2N7NQVR91P', 2, 'test', 'integration', '["clinic.patient.view","clinic.lab.ingest"]', '2ef536a926dfcdd14fbcd89c5683649d8f1fcdca42b76d22ae6958f6a55aa58a', 'sk_live_1pG5', '1860', 1795262400000, null, null, 1795262403000),
(3, 'key_01M83BDATKE6KEE9NYB5MFVMGD', 2, 'test', 'integration', '["clinic.patient.view"]', '1303cb8dae6c0b64eef34ef3a9b968979b445c5cc4db6ae7d754d74bbf03d2bc', 'sk_live_J8D9', 'fFvs', 1795262400000, 1795348800000, null, null),
(4, 'key_01M83BDATNXR7H0TBG8QFYQ3Z7', 1, 'test', 'integration', '["clinic.patient.view"]', 'e51d91244acefed91f2fe7b6cb27488003c0b84c0cc89e584de8de793acea9d7', 'sk_live_FCCi', 'RHHD', 1795262400000, null, 1795262400000, null);
CREATE TABLE heartbeat ( clinic_id bigint not null references clinic (id), api_key_id bigint not null references api_key (id), received_at bigint not null, body text not null, primary key (clinic_id, api_key_id) );
insert into "heartbeat" values
(1, 1, 1795262410000, '{"version":"0.1.0","uptime_s":60,"outbox":{"depth":0},"devices":[{"id":"chem-1","connected":true}]}');
CREATE TABLE soap ( id integer primary key, fp text not null unique, patient_id bigint not null references patient (id), clinic_id bigint not null references clinic (id), soap_type text not null, status text not null check (status in ('DRAFT', 'IN_PROGRESS', 'SIGNED', 'LOCKED')), subjective text, objective text, assessment text, plan text, signed_at bigint, created_at bigint not null, amends_fp text, check ((signed_at is not null) = (status in ('SIGNED', 'LOCKED'))) );
insert into "soap" values
(1, 'soap_01K9M1GRATK000000000000001', 1, 1, 'EXAMINATION', 'IN_PROGRESS', 'Limping since yesterday.', 'Left hind leg painful.', null, 'Rest, control in a week.', null, 1793523600000, null),
(2, 'soap_01K9M1GRATK000000000000002', 1, 1, 'EXAMINATION', 'SIGNED', 'Limping since yesterday.', 'Left hind leg painful.', null, 'Rest, control in a week.', 1793613600000, 1793523600000, null),
(3, 'soap_01K9M1GRATK000000000000003', 1, 1, 'EXAMINATION', 'DRAFT', 'Limping since yesterday.', 'Left hind leg painful.', null, 'Rest, control in a week.', null, 1793523600000, 'soap_01K9M1GRATK000000000000002'),
(4, 'soap_01K9M1GRATK000000000000004', 1, 1, 'EXAMINATION', 'LOCKED', 'Limping since yesterday.', 'Left hind leg painful.', null, 'Rest, control in a week.', 1793613600000, 1793523600000, null);
CREATE TABLE calendar_event ( id integer primary key, fp text not null unique, clinic_id bigint not null references clinic (id), title text not null, type text not null, status text not null, start_at bigint not null, end_at bigint not null, patient_id bigint references patient (id), assigned_user_id bigint references "user" (id) );
insert into "calendar_event" values
(1, 'calevt_01K9M1GRATK000000000000001', 1, 'Check-up', 'CHECKUP', 'SCHEDULED', 1795165200000, 1795167000000, 1, 1);
CREATE TABLE inventory_item ( id integer primary key, fp text not null unique, clinic_id bigint not null references clinic (id), name text not null, category text not null, sku text, unit text not null, quantity_on_hand bigint not null check (quantity_on_hand >= 0), low_stock_threshold bigint not null, unit_price_cents bigint not null, currency text not null, is_virtual integer not null );
insert into "inventory_item" values
(1, 'invitem_01K9M1GRATK000000000000001', 1, 'Rabies vaccine', 'VACCINE', 'RAB-1', 'vial', 12, 15, 45000, 'TRY', 0);
CREATE TABLE inventory_batch ( id integer primary key, item_id bigint not null references inventory_item (id), lot text, quantity bigint not null check (quantity >= 0), received_at bigint not null, expiry_date text );
insert into "inventory_batch" values
(1, 1, 'L1', 5, 1790812800000, '2027-03-31'),
(2, 1, null, 7, 1790899200000, null);
CREATE TABLE audit ( id integer primary key, at bigint not null, request_id text, api_key_id bigint references api_key (id), method text, route text, fp text, count integer, status integer, address text, times integer not null );
insert into "audit" values
(1, 1795262401000, '01M83BDBFVKHKREBGPC3KXEAH2', 1, 'POST', '/agent/v1/studies', null, 6, 200, '127.0.0.1', 1),
(2, 1795262404000, '01M83BDC3TCKDZ6G0TZX8GBQ2B', null, 'COMMAND', 'unmatched assign', 'cds_01K9M1GRATK000000000000003', null, null, 'ada', 1),
(3, 1795262404000, '01M83BDC3TCKDZ6G0TZX8GBQ2B', null, 'COMMAND', 'unmatched assign', 'patient_01K9M1GRATK000000000000001', null, null, 'ada', 1),
(4, 1795262405000, '01M83BDC4RXJ9A8H0ADABR7D17', null, 'COMMAND', 'unmatched assign --despite species', 'cds_01K9M1GRATK000000000000006', null, null, 'ada', 1),
(5, 1795262405000, '01M83BDC4RXJ9A8H0ADABR7D17', null, 'COMMAND', 'unmatched assign --despite species', 'patient_01K9M1GRATK000000000000001', null, null, 'ada', 1),
(6, 1795262406000, '01M83BDC56R74KBEW7BKHV8BSW', null, 'COMMAND', 'unmatched assign', 'cds_01K9M1GRATK000000000000005', null, null, 'ada', 1),
(7, 1795262406000, '01M83BDC56R74KBEW7BKHV8BSW', null, 'COMMAND', 'unmatched assign', 'patient_01K9M1GRATK000000000000001', null, null, 'ada', 1),
(8, 1795262407000, '01M83BDC5TP5P08J8QTR30MGAK', null, 'COMMAND', 'unmatched reopen', 'cds_01K9M1GRATK000000000000005', null, null, 'ada', 1),
(9, 1795262407000, '01M83BDC5TP5P08J8QTR30MGAK', null, 'COMMAND', 'unmatched reopen', 'patient_01K9M1GRATK000000000000001', null, null, 'ada', 1),
(10, 1795262408000, '01M83BDC64MXTH8CY75REFPYNZ', null, 'COMMAND', 'unmatched reject', 'cds_01K9M1GRATK000000000000007', null, null, 'ada', 1),
(11, 1795262409000, '01M83BDC6W8GHDSK9NZH9S4V6D', null, 'COMMAND', 'study add', 'cds_01K9M1GRATK000000000000090', null, null, 'ada', 1),
(12, 1795262409000, '01M83BDC6W8GHDSK9NZH9S4V6D', null, 'COMMAND', 'study add', 'patient_01K9M1GRATK000000000000002', null, null, 'ada', 1),
(13, 1795262402000, '01M83BDBWYFRXMJNGZ24C4BH3Z', 1, 'POST', '/agent/v1/studies', null, 1, 200, '127.0.0.1', 1),
(14, 1795262403000, '01M83BDC2R1113Z1C16V0ECNKN', 1, 'POST', '/agent/v1/studies', null, 1, 200, '127.0.0.1', 1),
(15, 1795262403000, '01M83BDC300W0PMY9BC416EC6P', 2, 'POST', '/agent/v1/studies', null, 1, 200, '127.0.0.1', 1),
(16, 1795262410000, '01M83BDC930DMRYMX2P8J969G5', 1, 'POST', '/agent/v1/heartbeat', null, null, 200, '127.0.0.1', 1),
(17, 1795262410000, '01M83BDC9B6WS0V5FCW9Q5QY70', 1, 'GET', '/api/v1/patients', null, 2, 200, '127.0.0.1', 1),
(18, 1795262410000, '01M83BDCG7YRNQZ60GM8JHJBC8', 1, 'GET', '/api/v1/lab/diagnostics/:fp', 'cds_01K9M1GRATK000000000000001', null, 200, '127.0.0.1', 1),
(19, 1795262410000, '01M83BDCT4F4AH0DPZ7ZR5FZ2X', 1, 'GET', '/api/v1/patients/:fp', 'patient_01K9M1GRATK000000000000098', null, 404, '127.0.0.1', 1);
CREATE TABLE clinic_ranges ( id integer primary key, clinic_id bigint not null references clinic (id), version text not null, imported_at bigint not null, low_quality integer not null, content text not null );
insert into "clinic_ranges" values
(1, 1, '4e4f244aa35f', 1795262400000, 1, '[{"id":"alt","species":"dog","analyte":"ALT","unit":"U/L","low":"20","high":"90","effective_from":"2026-01-01"}]'),
(2, 1, '757cb08acdd4', 1795262400001, 1, '[{"id":"alt","species":"dog","analyte":"ALT","unit":"U/L","low":"20","high":"95","effective_from":"2026-01-01"}]');
CREATE TABLE study_conflict ( id integer primary key, study_id bigint not null references study (id), clinic_id bigint not null references clinic (id), content_hash text not null, revision integer not null, reason text not null, body text not null, received_at bigint not null );
insert into "study_conflict" values
(1, 2, 1, 'bc09658ab0e58a2886e61abc1e7865a1bdc8d6287848fd6612d0f63db07c78b7', 2, 'revision 2 is already stored with another body, a correction needs a higher revision', '{"fp":"cds_01K9M1GRATK000000000000002","patient_fp":"patient_01K9M1GRATK000000000000001","modality":"BIOCHEMISTRY","device_name":"Abaxis VetScan VS2","status":"COMPLETED","acquired_at":"2026-11-20T10:00:00.000Z","results":[{"analyte":"ALT","value":141,"unit":"U/L","reference_range":null,"flag":null}],"revision":2,"dedupe_key":"key-2","source":{"device_id":"chem-1","message_id":"2"},"patient_hint":{"identifier":null,"name":null,"species":null,"breed":null,"sex":null,"owner":null,"date_of_birth":null,"weight_kg":null}}', 1795262403000);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
insert into "meta" values
('mark', '{"commit":26,"at":1795408966902,"next":{}}');
CREATE INDEX patient_identifier_lookup on patient_identifier (identifier);
CREATE INDEX connection_patient on connection (patient_id);
CREATE INDEX connection_list on connection (clinic_id, listed, patient_updated_at desc, patient_fp desc, patient_id);
CREATE INDEX connection_list_by_species on connection (clinic_id, listed, patient_species, patient_updated_at desc, patient_fp desc, patient_id);
CREATE UNIQUE INDEX study_dedupe on study (clinic_id, dedupe_key);
CREATE INDEX study_patient on study (patient_id, acquired_at);
CREATE INDEX api_key_clinic on api_key (clinic_id);
CREATE INDEX soap_patient on soap (patient_id, created_at);
CREATE TRIGGER soap_signed_stays before update on soap when old.status in ('SIGNED', 'LOCKED') and (old.id is distinct from new.id or old.fp is distinct from new.fp or old.patient_id is distinct from new.patient_id or old.clinic_id is distinct from new.clinic_id or old.soap_type is distinct from new.soap_type or old.subjective is distinct from new.subjective or old.objective is distinct from new.objective or old.assessment is distinct from new.assessment or old.plan is distinct from new.plan or old.signed_at is distinct from new.signed_at or old.created_at is distinct from new.created_at or old.amends_fp is distinct from new.amends_fp) begin select raise(abort, 'a signed SOAP record is never changed, amend it'); end;
CREATE TRIGGER soap_signed_remains before delete on soap when old.status in ('SIGNED', 'LOCKED') begin select raise(abort, 'a signed SOAP record is never deleted'); end;
CREATE TRIGGER soap_moves before update on soap when old.status <> new.status and not ( old.status = 'DRAFT' and new.status = 'IN_PROGRESS' or old.status = 'IN_PROGRESS' and new.status = 'SIGNED' or old.status = 'SIGNED' and new.status = 'LOCKED' ) begin select raise(abort, 'a SOAP record moves from DRAFT over IN_PROGRESS and SIGNED to LOCKED only'); end;
CREATE INDEX calendar_event_list on calendar_event (clinic_id, start_at, fp);
CREATE INDEX inventory_item_list on inventory_item (clinic_id, name, fp, id, quantity_on_hand, low_stock_threshold);
CREATE INDEX inventory_item_list_by_category on inventory_item (clinic_id, category, name, fp, id, quantity_on_hand, low_stock_threshold);
CREATE UNIQUE INDEX inventory_batch_identity on inventory_batch (item_id, received_at, coalesce(lot, ''), coalesce(expiry_date, ''));
CREATE INDEX clinic_ranges_latest on clinic_ranges (clinic_id, id);
CREATE INDEX study_unmatched on study (id) where patient_id is null;
CREATE UNIQUE INDEX study_conflict_content on study_conflict (study_id, content_hash);
