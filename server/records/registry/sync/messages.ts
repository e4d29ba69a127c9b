import { type Static, Type } from "typebox";
import { EXTERNAL_ID_CHARS_MAX } from "../../../../shared/api/agent/registry.ts";
import { ClosedObject, DATE_PATTERN, Nullable } from "../../../../shared/schema/schema.ts";
import { textForm } from "../../../../shared/schema/text-form.ts";
import { fpPattern } from "../../../../shared/api/fp.ts";

// The messages that practice software sends to /sync/v1, and the answers that it gets.

/** Max items of one request. */
export const SYNC_ITEMS_MAX = 500;

/** Max external ids of a full list. */
const LISTED_IDS_MAX = 50_000;

/** Max records that an answer names because they were absent from a full list. */
export const NAMED_ABSENT_MAX = 500;

export const ZONED_TIME = textForm(
  "^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?([Zz]|[+-]\\d\\d:?\\d\\d)$",
  "a time with its zone such as 2026-11-21T09:30:00Z",
);

const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description });
const optional = (maxLength: number, description: string) =>
  Type.Optional(Nullable(Type.String({ maxLength, description })));

export const ExternalId = text(
  EXTERNAL_ID_CHARS_MAX,
  "The id in your software. It never changes, and is compared as text: `00417` is not `417`.",
);

const ownerFacts = {
  external_id: text(EXTERNAL_ID_CHARS_MAX, "The id of the owner in your software."),
  name: text(200, "Name of the owner."),
  phone: optional(40, "Phone number, as people write it."),
  email: optional(254, "E-mail address."),
};

const Owner = Type.Object(ownerFacts, {
  additionalProperties: false,
  title: "OwnerOfSyncPatient",
  description: "The owner, for people of the clinic. `/api/v1` shows only a fingerprint.",
});

export const updatedAt = Type.Optional(
  Type.String({
    pattern: ZONED_TIME,
    description:
      "Time of the last change in your software. An item that is older than the stored one changes nothing. Without it, the " +
      "item that arrives last counts.",
  }),
);

export const SyncOwner = Type.Object(
  { ...ownerFacts, updated_at: updatedAt },
  {
    additionalProperties: false,
    title: "SyncOwner",
    description: "All facts of an owner. A field that is absent or null is unknown; it does not keep its old value.",
  },
);
export type SyncOwner = Static<typeof SyncOwner>;

export const identifierTypes = ["microchip", "card", "tattoo", "other"] as const;

const Identifier = ClosedObject({
  type: Type.Enum([...identifierTypes], { type: "string", description: "What carries the number." }),
  value: text(64, "The number as text, with its leading zeros."),
});

const optionalFacts = {
  breed: optional(200, "Breed in the clinic's words."),
  sex: optional(
    50,
    "Sex in a word or code: `M`, `FS`, `male neutered`, `kısır dişi`, `Wallach`, `castrado`, `M^Y`. Null if unknown.",
  ),
  date_of_birth: Type.Optional(
    Nullable(Type.String({ pattern: DATE_PATTERN, description: "Date of birth. Null if unknown." })),
  ),
  weight_kg: Type.Optional(Nullable(Type.Number({ description: "Weight in kilograms. Null if unknown." }))),
  identifiers: Type.Optional(
    Type.Array(Identifier, {
      maxItems: 20,
      description:
        "Numbers that staff type at an analyzer, or a reader reads. A result with one of them is filed to this patient. The " +
        "`external_id` is not one: send it as a `card` if staff type it.",
    }),
  ),
  updated_at: updatedAt,
  deceased_at: Type.Optional(
    Nullable(Type.String({ maxLength: 40, description: "Day or time of death. Null or absent if the patient lives." })),
  ),
};

/** A patient of practice software: all its facts. A field that is absent or null is unknown. */
export const SyncPatient = Type.Object(
  {
    external_id: ExternalId,
    name: text(200, "Name of the patient."),
    species: text(
      100,
      "Species in a word or code of English, Turkish, German, French or Spanish: `Canine`, `kedi`, `Frettchen`, a SNOMED CT code. " +
        "A species that `/api/v1` has no word for, such as horse, is stored as it is and served as `exotic`.",
    ),
    owner: Owner,
    ...optionalFacts,
    deleted: Type.Optional(Type.Literal(false, { description: "A patient that is not removed." })),
  },
  {
    additionalProperties: false,
    title: "SyncPatient",
    description: "All facts of a patient. A field that is absent or null is unknown; it does not keep its old value.",
  },
);
export type SyncPatient = Static<typeof SyncPatient>;

/** A patient that the software removed. */
export const RemovedSyncPatient = Type.Object(
  {
    external_id: ExternalId,
    name: Type.Optional(SyncPatient.properties.name),
    species: Type.Optional(SyncPatient.properties.species),
    owner: Type.Optional(Owner),
    ...optionalFacts,
    deleted: Type.Literal(true, { description: "Removes the patient. Its results stay and wait for a patient." }),
  },
  {
    additionalProperties: false,
    title: "RemovedSyncPatient",
    description: "A patient that is removed. The other fields are checked and not stored.",
  },
);
export type RemovedSyncPatient = Static<typeof RemovedSyncPatient>;

/** Names of practice software, without the source of the dashboard's files (FILE_SOURCE): equal ids would name each other's animals. */
export const sourcePattern = textForm(
  "^(?!file$)[\\w.-]{1,64}$",
  "1 to 64 letters, digits, dots, - or _, and not file",
);

const Source = Type.String({
  pattern: sourcePattern,
  description:
    "Name of your software at this clinic. An `external_id` is an id of its source. `file` is the source of files that are imported at the dashboard.",
});

export function bodyOf<Item extends Type.TSchema, Mode extends Type.TProperties>(
  item: Item,
  mode: Mode,
  title: string,
  description: string,
) {
  return Type.Object(
    {
      source: Source,
      ...mode,
      items: Type.Array(item, { maxItems: SYNC_ITEMS_MAX, description: "At most 500 items." }),
    },
    { additionalProperties: false, title, description },
  );
}

/** The part of a body that says whether the list is complete. */
export const fullMode = (records: string, description: string) => ({
  mode: Type.Enum(["partial", "full"], { type: "string", description }),
  all: Type.Optional(
    Type.Array(text(EXTERNAL_ID_CHARS_MAX, "An external id."), {
      maxItems: LISTED_IDS_MAX,
      description:
        `With \`mode: full\`: the external ids of all ${records} that your software has, for more than 500. Send the ${records} with ` +
        `\`partial\` first, then one \`full\` request with \`all\` and no items. Without it the items are all ${records}.`,
    }),
  ),
});

export const SyncPatients = bodyOf(
  Type.Union([SyncPatient, RemovedSyncPatient]),
  fullMode(
    "patients",
    "`partial`: patients that are not among the items stay as they are. `full`: patients of the source that are neither among the " +
      "items nor in `all` are removed.",
  ),
  "SyncPatients",
  "Patients of one source.",
);

export const SyncOwners = bodyOf(
  SyncOwner,
  { mode: Type.Literal("partial", { description: "Owners that are not among the items stay as they are." }) },
  "SyncOwners",
  "Owners of one source.",
);

export const syncOutcomes = ["created", "updated", "unchanged", "deleted", "rejected"] as const;
export type SyncOutcome = (typeof syncOutcomes)[number];

const count = (description: string) => Type.Integer({ minimum: 0, description });

const SyncFault = ClosedObject({
  field: Type.String({ description: "The field, such as `owner/name`. Empty for the item itself." }),
  code: Type.String({ description: "Name of the fault, for programs." }),
  message: Type.String({ description: "A sentence for people. Its words may change." }),
});
export type SyncFault = Static<typeof SyncFault>;

export function answerOf<More extends Type.TProperties>(
  kind: "patient" | "customer" | "order" | "calevt",
  title: string,
  more: More,
) {
  return Type.Object(
    {
      dry_run: Type.Boolean({ description: "True if nothing was stored." }),
      commit_token: Nullable(
        Type.String({
          description:
            "Of a dry run: send it in `commit_token` with the same body, and the request is refused if its outcomes would differ. " +
            "Null otherwise.",
        }),
      ),
      counts: ClosedObject({
        created: count("Items with this outcome."),
        updated: count("Items with this outcome."),
        unchanged: count("Items with this outcome."),
        deleted: count("Items with this outcome."),
        rejected: count("Items with this outcome."),
      }),
      items: Type.Array(
        ClosedObject({
          index: count("Position in the request, from 0."),
          external_id: Nullable(Type.String({ description: "The id of the item; null if it has none." })),
          fp: Nullable(
            Type.String({
              pattern: fpPattern(kind),
              description:
                "Fingerprint of the record in `/api/v1`; null if nothing is stored, and for a new one in a dry run.",
            }),
          ),
          outcome: Type.Enum([...syncOutcomes], { type: "string", description: "What became of the item." }),
          errors: Type.Array(SyncFault, {
            description:
              "Why the item was rejected. Of another item: `older`, if a newer state is stored, so that it changed nothing; `merged`, if " +
              "its `external_id` was merged, so that its facts went to the survivor, or its removal changed nothing. Of an appointment: " +
              "`unknown_member`, `cancelled` by the clinic, `closed`.",
          }),
        }),
        { description: "One outcome for each item, in order." },
      ),
      ...more,
    },
    { additionalProperties: false, title, description: "What became of each item." },
  );
}

/** The part of an answer that names what a full list lacks. */
export const absentOf = (kind: "patient" | "calevt", done: string) => ({
  absent: Type.Optional(
    Type.Array(
      ClosedObject({
        external_id: Type.String({ description: "The id in your software." }),
        fp: Type.String({ pattern: fpPattern(kind), description: "Fingerprint of the record in `/api/v1`." }),
      }),
      {
        description: `With \`mode: full\`: what was ${done} because it is absent, the first 500. \`counts.deleted\` has all.`,
      },
    ),
  ),
});

export const SyncAnswer = answerOf("patient", "SyncAnswer", absentOf("patient", "removed"));
export const SyncOwnersAnswer = answerOf("customer", "SyncOwnersAnswer", {});
export type SyncAnswer = Static<typeof SyncAnswer>;

export const SyncMerge = ClosedObject({
  source: Source,
  survivor: text(EXTERNAL_ID_CHARS_MAX, "The external id of the patient that stays."),
  merged: text(EXTERNAL_ID_CHARS_MAX, "The external id of the patient that goes."),
});
export type SyncMerge = Static<typeof SyncMerge>;

const moved = (what: string) => count(`${what} that went to the survivor.`);

export const SyncMergeAnswer = Type.Object(
  {
    outcome: Type.Enum(["merged", "unchanged"], {
      type: "string",
      description: "`unchanged`: they were merged before.",
    }),
    fp: Type.String({ pattern: fpPattern("patient"), description: "Fingerprint of the patient that stays." }),
    merged_fp: Nullable(
      Type.String({
        pattern: fpPattern("patient"),
        description: "Fingerprint of the patient that went; null if none was stored, or it went before.",
      }),
    ),
    moved: ClosedObject({
      studies: moved("Diagnostic studies"),
      soap_records: moved("SOAP records"),
      events: moved("Calendar events"),
    }),
  },
  { additionalProperties: false, title: "SyncMergeAnswer", description: "What became of a merge." },
);
export type SyncMergeAnswer = Static<typeof SyncMergeAnswer>;
