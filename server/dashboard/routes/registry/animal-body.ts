import { Type } from "typebox";
import { fpPattern } from "../../../../shared/api/fp.ts";
import { DATE_PATTERN, Nullable } from "../../../../shared/schema/schema.ts";
import { ClosedObject } from "../../../../shared/schema/schema.ts";
import {
  type CheckBody,
  type DeceasedBody,
  type EditAnimalBody,
  type EditOwnerBody,
  type MergeBody,
  type NewAnimalBody,
  NUMBER_TYPES,
  NUMBERS_MAX,
  TEXT_MAX,
} from "../../types/animals.ts";
import { bodyReader } from "../../body.ts";

// The bodies of writes about animals and owners. Blank values and impossible ones are faults of the form, which have codes.

const Text = (maxLength: number) => Nullable(Type.String({ maxLength }));
const PatientFp = Type.String({ pattern: fpPattern("patient") });

const ownerFacts = {
  name: Text(TEXT_MAX.name),
  phone: Text(TEXT_MAX.phone),
  email: Text(TEXT_MAX.email),
  language: Nullable(Type.Union([Type.Literal("en"), Type.Literal("tr")])),
  time_zone: Text(64),
};

const animal = ClosedObject({
  name: Type.String({ maxLength: TEXT_MAX.name }),
  species: Type.String({ maxLength: 100 }),
  breed: Text(TEXT_MAX.breed),
  sex: Text(50),
  date_of_birth: Nullable(Type.String({ pattern: DATE_PATTERN })),
  weight_kg: Nullable(Type.Number()),
  identifiers: Type.Array(
    ClosedObject({
      type: Nullable(Type.Enum([...NUMBER_TYPES])),
      value: Type.String({ maxLength: TEXT_MAX.number }),
    }),
    { maxItems: NUMBERS_MAX },
  ),
  owner: Type.Union([ClosedObject({ fp: Type.String({ pattern: fpPattern("customer") }) }), ClosedObject(ownerFacts)]),
});

const Version = Type.String({ maxLength: 64 });
const seen = Type.Array(PatientFp, { maxItems: 20 });

export const checkBody: (body: unknown) => CheckBody = bodyReader({ animal, edited: Nullable(PatientFp) });

export const newBody: (body: unknown) => NewAnimalBody = bodyReader({
  animal,
  seen,
  result: Type.Optional(
    ClosedObject({ fp: Type.String({ pattern: fpPattern("cds") }), revision: Type.Integer({ minimum: 1 }) }),
  ),
});

export const editBody: (body: unknown) => EditAnimalBody = bodyReader({ animal, seen, version: Version });

export const deceasedBody: (body: unknown) => DeceasedBody = bodyReader({
  died_on: Nullable(Type.String({ pattern: DATE_PATTERN })),
});

export const mergeBody: (body: unknown) => MergeBody = bodyReader({ merged: PatientFp, version: Version });

export const ownerBody: (body: unknown) => EditOwnerBody = bodyReader({ ...ownerFacts, version: Version });
