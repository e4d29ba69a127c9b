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
${permissions.map((permission) => `| \`${permission}\` | ${permissionWords(permission)} |`).join("\n")}

## Rate limits

Every key has a budget of requests per minute and per hour. It depends on the type of the key:

| Type of key | Requests per minute | Requests per hour |
|---|---|---|
${keyTypes.map((type) => `| ${type} | ${limits[type].minute} | ${limits[type].hour} |`).join("\n")}

Both windows begin with their first request. A network address may send ${limits.addressMinute} requests without a valid key per minute. The headers \`X-RateLimit-*\`, \`RateLimit\` and \`RateLimit-Policy\` report the budget. A request beyond it returns 429, and \`Retry-After\` the seconds to wait.

## Synchronisation

\`updated_since=T\` returns every patient or study whose last change became visible at or after T, even if its \`updated_at\` is a little older, and \`updated_at\` never falls from one change of a clinic to the next. So a client that sends the \`Sync-Cursor\` of its last request, the time at which it sent that request, or the newest \`updated_at\` that it got loses nothing.

The first import of a clinic keeps the times of its file. The \`Link\` header of a page names the next one by the position of its last record, so that no record is lost or repeated when others leave the list; after the last page it names the changes since the walk began, if there are any. \`/api/v1/changes\` lists what left.

## Conditional requests

A success carries an \`ETag\`. A client that polls sends it as \`If-None-Match\` with its next request and gets 304 without a body if nothing changed. A 304 costs no budget, up to ${FREE_TIMES} times as many as the budget has requests.

## Errors

Every error is an \`Error\`. So is the response to a request that reaches no endpoint: another path (404), another method (405), invalid HTTP (400), a request that does not arrive in time (408) or whose URL and headers are too long (431).

## Versions

Within /api/v1, fields, parameters and endpoints are added, never changed or removed. A client ignores those that it does not know.`;

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
  { name: "inventory", description: "The inventory of the key's clinic." },
];
