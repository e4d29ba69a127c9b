import { permissions } from "../auth/api-keys.ts";
import { permissionWords } from "../auth/permission-words.ts";
import { FREE_TIMES, type Limits } from "../rate-limit/rate-limiter.ts";

export const introduce = (
  limits: Limits,
) => `Read access to the patients, medical records, lab diagnostics, calendar and inventory of a veterinary clinic. The clinic is always the key's.

A required field is always present, and null if its value is unknown. Other fields are present in some objects only. Times are UTC. Query parameters that an endpoint does not have are ignored and named in \`X-Ignored-Parameters\`. HEAD returns the headers of GET, without a body.

## Keys

Every request carries an API key of the clinic. Patients, calendar and inventory take it in \`X-API-Key\`, SOAP records and diagnostic studies in \`Authorization: Bearer\`.

${WHERE_KEYS_COME_FROM}

A key has at least one permission. Each opens exactly this:

| Permission | Opens |
|---|---|
${readPermissions.map((permission) => `| \`${permission}\` | ${permissionWords(permission)} |`).join("\n")}

## Rate limits

Every key has a budget of requests per minute and per hour. It depends on the type of the key:

| Type of key | Requests per minute | Requests per hour |
|---|---|---|
${keyTypes.map((type) => `| ${type} | ${limits[type].minute} | ${limits[type].hour} |`).join("\n")}

Both windows begin with their first request. A network address may send ${limits.addressMinute} requests without a valid key per minute. The headers \`X-RateLimit-*\`, \`RateLimit\` and \`RateLimit-Policy\` report the budget. A request beyond it returns 429, and \`Retry-After\` the seconds to wait.

## Synchronisation

\`updated_since=T\` returns every patient, study, SOAP record, calendar event or item whose last change became visible at or after T, even if its \`updated_at\` is a little older, and \`updated_at\` never falls from one change of a clinic to the next. So a client that sends the \`Sync-Cursor\` of its last request, the time at which it sent that request, or the newest \`updated_at\` that it got loses nothing.

The first import of a clinic keeps the times of its file. The \`Link\` header of a page names the next one by the position of its last record, so that no record is lost or repeated when others leave the list; after the last page it names the changes since the walk began, if there are any. \`/api/v1/changes\` lists what left. \`/api/v1/events\` lists what happened to all records, for 30 days.

## Conditional requests

A success carries an \`ETag\`. A client that polls sends it as \`If-None-Match\` with its next request and gets 304 without a body if nothing changed. It has the \`Link\` and the \`Sync-Cursor\` of the response: keep the newest. A 304 costs no budget, up to ${FREE_TIMES} times as many as the budget has requests.

A response of more than 2 kB is compressed for a client whose \`Accept-Encoding\` takes gzip. It has an \`ETag\` of its own.

## Errors

Every error is an \`Error\`. So is the response to a request that reaches no endpoint: another path (404), another method (405), invalid HTTP (400), a request that does not arrive in time (408) or whose URL and headers are too long (431).

## Versions

Within /api/v1, fields, parameters and endpoints are added, never changed or removed. A client ignores those that it does not know.

| Added | What |
|---|---|
| 2026-11 | \`GET /api/v1/soap\`, \`GET /api/v1/lab/analytes\` |
| 2026-11 | \`updated_since\` of \`/api/v1/calendar/events\` and \`/api/v1/inventory\`; SOAP records, events and items in \`/api/v1/changes\` |
| 2026-11 | \`accession\`, \`study_instance_uid\`, \`revision\` and \`corrected_at\` of studies; \`include=codes\` for \`loinc\` and \`ucum\` of results |
| 2026-11 | \`quality\` of studies and of each result: the state of the analyzer's quality control when it measured them |
| 2026-11 | \`page_size\` up to 500 of lists that the published specification does not have |
| 2026-11 | \`GET /api/v1/lab/diagnostics\`, \`GET /api/v1/changes\`, \`after\`, \`Link\` and \`Sync-Cursor\`; \`comments\` and \`order\` of studies |`;

export const introduceSync = (
  limits: Limits,
) => `Practice software sends the patients of a veterinary clinic, their owners, orders and appointments. The clinic is always the key's. Reading them back is \`/api/v1\`, with a key that may read.

## Keys

Every request carries an API key of the clinic in \`X-API-Key\`. ${WHERE_KEYS_COME_FROM} Its permission is \`clinic.sync.write\`, "Send patients" in the dashboard.

## Items

A patient is known by the name of your software at this clinic (\`source\`) and its id there (\`external_id\`). An item is the complete state of one patient: a field that is absent or null is unknown. A patient that is not among the items stays as it is; \`deleted: true\` removes one. An animal that a user typed or a file brought is taken by its microchip if species and name are the same: its item is \`updated\`, not \`created\`.

Send \`updated_at\`: an item that is older than the stored state changes nothing, so that requests may arrive twice and in any order. There is no \`If-Match\`, since the time of your software decides: an item without \`updated_at\` counts when it arrives. The facts of an owner go by the newest item that names it.

Each item has its own outcome. The valid ones are stored together, in one transaction; a rejected one is named with its fields. Of items with one \`external_id\` in a request, all are rejected.

## Complete lists

With \`mode: full\` the patients of the source that the request lacks are removed, and come back with a later item. Up to 500 patients are the items of one request. For more, send the patients with \`partial\`, then one \`full\` request with the external ids of all patients in \`all\` and no items; send no other request meanwhile. A list that would remove more than a tenth of the patients is refused: do a dry run, show its numbers to a person, and send the request with its \`commit_token\` and \`confirm_removals=true\`.

## Merges

\`POST /sync/v1/patients/merge\` makes one patient of two. A later item of the merged external id goes to the survivor, and its outcome has the code \`merged\`.

## Words

Species and sex are read in English, Turkish, German, French and Spanish and in the codes of practice software. A species that \`/api/v1\` has no word for is stored precisely, flagged by its own intervals and served as \`exotic\`.

## Owners

Name, phone and e-mail of an owner are for people of the clinic. They are in no response of \`/api/v1\` and in no log.

## Orders

An order names a patient of its source and the tests of one sample. The answer has its \`accession\`, which staff scan or type at the analyzer; the study that answers the order has it as \`order\` in \`/api/v1\`. An order never changes but for \`cancelled: true\`.

## Appointments

An appointment is an event of the clinic's calendar, with a patient of its source or without one. \`deleted: true\` cancels it: its event gets the status \`CANCELLED\`, which is final, and an appointment that is sent again later gets a new event. \`mode: full\` cancels the coming appointments that the list lacks, within the same bound as for patients; past ones and those that staff checked in stay.

## Repetitions

Sending an item again changes nothing. With an \`Idempotency-Key\` the same request also gets the same answer again, for 24 hours.

## Rate limits

A key of the type integration may send ${limits.integration.minute} requests a minute and ${limits.integration.hour} an hour here, apart from what it reads: ${limits.integration.minute * 500} patients a minute. The headers \`X-RateLimit-*\`, \`RateLimit\` and \`RateLimit-Policy\` report the budget. A request beyond it returns 429, and \`Retry-After\` the seconds to wait.

## Errors

An error of the whole request is an \`Error\`, and nothing was stored. After 429 and 503 send the same request again, once the time in \`Retry-After\` is over.`;

export const syncTags = [
  { name: "patients", description: "Patients of the key's clinic and their owners." },
  { name: "owners", description: "Owners of these patients." },
  { name: "orders", description: "Orders of tests for these patients." },
  { name: "appointments", description: "The clinic's calendar." },
];

/** The permissions of this document and of agents. That of practice software is in its own document. */
const readPermissions = permissions.filter((permission) => permission !== "clinic.sync.write");

const keyTypes = ["integration", "device", "partner"] as const;

export const WHERE_KEYS_COME_FROM =
  "A key comes from the clinic's dashboard, under Settings, Developer, API Keys. Today the operator of the server makes " +
  "it with `server keys create`. It begins with `sk_live_`, has the permissions chosen for it and is shown once. Keep it " +
  "on your server: never in client-side code, in a URL or in a public repository.";

export const tags = [
  { name: "patients", description: "Patients with an active connection to the key's clinic." },
  { name: "soap", description: "SOAP examination records of these patients." },
  { name: "lab", description: "Lab and imaging studies of these patients." },
  { name: "calendar", description: "The calendar of the key's clinic." },
  { name: "changes", description: "What the key's clinic no longer reads." },
  { name: "events", description: "What happened in the key's clinic." },
  { name: "inventory", description: "The inventory of the key's clinic." },
  { name: "webhooks", description: "Messages that the server sends to other programs." },
];
