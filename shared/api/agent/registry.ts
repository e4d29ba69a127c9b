import { type Static, Type } from "typebox";
import { ClosedObject, DATE_PATTERN, Nullable } from "../../schema/schema.ts";
import { ORDER_TESTS_MAX, TestName } from "./agent-lists.ts";

// Changes of animals, owners and orders that an agent brings from practice software: POST /agent/v1/registry. An absent field keeps
// what is stored, null deletes it. The changes count in the order in which they come, and a change that comes again under its key is
// not applied again.

/** Max changes of one request. */
export const REGISTRY_CHANGES_MAX = 50;

/** Max characters of an id of practice software. */
export const EXTERNAL_ID_CHARS_MAX = 64;

/** An id of practice software, compared as text: `00417` is not `417`. */
const ExternalId = Type.String({ minLength: 1, maxLength: EXTERNAL_ID_CHARS_MAX });

const optionalText = (maxLength: number) => Type.Optional(Nullable(Type.String({ minLength: 1, maxLength })));

/**
 * Without `external_id` it is the stored owner of the animal. A new animal gets one of its own, and so does one whose stored owner
 * has other animals and another name.
 */
const RegistryOwner = ClosedObject({
  external_id: Type.Optional(ExternalId),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  phone: optionalText(40),
  email: optionalText(254),
});
export type RegistryOwner = Static<typeof RegistryOwner>;

export const RegistryPatient = ClosedObject({
  external_id: ExternalId,
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  species: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  breed: optionalText(200),
  sex: optionalText(50),
  date_of_birth: Type.Optional(Nullable(Type.String({ pattern: DATE_PATTERN }))),
  weight_kg: Type.Optional(Nullable(Type.Number())),
  /** Day or time of death. Null if it lives. */
  deceased_at: optionalText(40),
  /** It is dead since this time or earlier. A stored time of death stays. */
  dead_by: Type.Optional(Type.String({ maxLength: 40 })),
  /** The types whose numbers the list replaces: other numbers of these types are deleted. */
  replaced: Type.Optional(Type.Array(Type.Enum(["microchip", "tattoo"]), { maxItems: 2 })),
  /** Numbers that the animal has now, in addition to the stored ones of other types. */
  identifiers: Type.Optional(
    Type.Array(
      ClosedObject({
        type: Type.Enum(["microchip", "card", "tattoo", "other"]),
        value: Type.String({ minLength: 1, maxLength: 64 }),
      }),
      { maxItems: 20 },
    ),
  ),
  owner: Type.Optional(RegistryOwner),
  /** Time at which the agent got the message. A change older than the stored one changes nothing; one without a time is the newest. */
  updated_at: Type.Optional(Type.String({ maxLength: 40 })),
  /** Removes the animal. Its results stay. */
  deleted: Type.Optional(Type.Literal(true)),
});
export type RegistryPatient = Static<typeof RegistryPatient>;

export const RegistryOrder = ClosedObject({
  external_id: ExternalId,
  /** The external id of its animal. */
  patient: ExternalId,
  /** Names of tests, or the name of one of the clinic's panels. Absent: those of the stored order. */
  tests: Type.Optional(Type.Array(TestName, { minItems: 1, maxItems: ORDER_TESTS_MAX })),
  ordered_at: Type.String({ maxLength: 40 }),
  cancelled: Type.Optional(Type.Literal(true)),
});
export type RegistryOrder = Static<typeof RegistryOrder>;

/**
 * Names a change for ever. An agent that got no answer sends the change again under its key, and the server does not apply it again.
 */
export const RegistryKey = Type.String({ minLength: 1, maxLength: 64 });

/** A change without its number and its key. */
export const RegistryChange = Type.Union([
  /** `only_new`: an animal that is stored keeps its facts. */
  ClosedObject({
    kind: Type.Literal("patient"),
    item: RegistryPatient,
    only_new: Type.Optional(Type.Literal(true)),
  }),
  ClosedObject({ kind: Type.Literal("merge"), survivor: ExternalId, merged: ExternalId }),
  /** The animal has another id from now on. The earlier one still names it. */
  ClosedObject({ kind: Type.Literal("rename"), from: ExternalId, to: ExternalId }),
  ClosedObject({ kind: Type.Literal("order"), item: RegistryOrder }),
]);
export type RegistryChange = Static<typeof RegistryChange>;

export const RegistryOutcome = Type.Object({
  /** The number of the change in the request. */
  id: Type.Integer({ minimum: 0 }),
  outcome: Type.Enum(["created", "updated", "unchanged", "deleted", "merged", "rejected"]),
  /** The fp of the animal or order; null if nothing is stored. */
  fp: Nullable(Type.String()),
  /** Why it was rejected, or what is to be known of a change that was not; null for nothing. Servers of other versions may know more. */
  code: Nullable(Type.String()),
  /** The words of the code. */
  reason: Nullable(Type.String()),
});
export type RegistryOutcome = Static<typeof RegistryOutcome>;

/** Max bytes of a file of a watched folder: POST /agent/v1/registry/file. */
export const REGISTRY_FILE_BYTES_MAX = 16 * 1024 * 1024;
