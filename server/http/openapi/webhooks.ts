import { Type } from "typebox";
import { ULID } from "../../../shared/api/fp.ts";
import { TIMESTAMP_PATTERN } from "../../../shared/schema/schema.ts";
import { type WebhookType, webhookTypes } from "../../dashboard/types/settings/webhooks.ts";
import { exampleFp } from "./examples.ts";

// The messages of webhooks in the API document.

/** The fact that each type reports, and the kind of its fp. */
const TYPES: Readonly<Record<WebhookType, readonly [kind: Parameters<typeof exampleFp>[0], words: string]>> = {
  "study.filed": ["cds", "The clinic reads this study since now."],
  "study.revised": [
    "cds",
    "A study changed, or left the clinic by itself. Studies of a patient that left have no message.",
  ],
  "patient.changed": ["patient", "A patient is new, changed, connected, merged or removed."],
  "soap.signed": ["soap", "A SOAP record was signed."],
  "soap.amended": [
    "soap",
    "A signed SOAP record was amended by another signed one, which has a message `soap.signed` of its own.",
  ],
  "appointment.changed": ["calevt", "An event of the calendar is new, changed, cancelled or removed."],
  "stock.low": ["invitem", "The stock of an item fell below its threshold."],
  "order.placed": ["order", "Tests were ordered."],
  "order.changed": ["order", "A device got an order, it has results, it was cancelled, or it went to another patient."],
};

const signed =
  "The signature of Standard Webhooks: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body` with the secret of the webhook. " +
  "Several are separated by spaces, of which one must match.";

const headers = [
  ["webhook-id", "Names the message. A repetition has the same one.", "msg_wh_EXAMP1E_17"],
  ["webhook-timestamp", "Time of the attempt, in seconds since 1970.", "1795777200"],
  ["webhook-signature", signed, "v1,bWFkZS11cC1leGFtcGxl"],
] as const;

export function describeWebhooks(): object {
  return Object.fromEntries(webhookTypes.map((type) => [type, { post: describeMessage(type) }]));
}

function describeMessage(type: WebhookType) {
  const [kind, words] = TYPES[type];
  const example = { type, timestamp: "2026-11-20T10:05:00.000Z", data: { fp: exampleFp(kind) } };
  return {
    operationId: type.replace(/\.(.)/, (_, letter: string) => letter.toUpperCase()),
    tags: ["webhooks"],
    summary: words,
    description:
      "An addition to the published specification. A webhook of the dashboard sends this message to its address, if it chose the type. " +
      "The message names a record and holds nothing of it: read the record with a key. Messages may come twice and overtake " +
      "each other, and one may be of several changes; `/api/v1/events` has the same events in their order.",
    security: [],
    parameters: headers.map(([name, description, shown]) => ({
      ...{ name, in: "header", required: true, description },
      ...{ schema: Type.String(), example: shown },
    })),
    requestBody: { required: true, content: { "application/json": { schema: messageOf(type, kind), example } } },
    responses: {
      "2XX": {
        description: "Received. Every other response, also a redirect, is a failure, and the message is sent again.",
      },
    },
  };
}

function messageOf(type: WebhookType, kind: string): Type.TSchema {
  const data = Type.Object(
    { fp: Type.String({ pattern: `^${kind}_${ULID}$`, description: "Fingerprint of the record." }) },
    { description: "The record.", additionalProperties: false },
  );
  return Type.Object(
    {
      type: Type.Literal(type, { description: "What happened." }),
      timestamp: Type.String({
        pattern: TIMESTAMP_PATTERN,
        description: "Time of the change, or of the last one of which the message is.",
      }),
      data,
    },
    { description: "The message.", additionalProperties: false },
  );
}
