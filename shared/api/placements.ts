import { type Static, Type } from "typebox";
import { TIMESTAMP_PATTERN } from "../schema/schema.ts";

// Where studies are that people or imports changed at the server after an agent pushed them, as GET /agent/v1/placements lists them.

export const PlacementList = Type.Object({
  items: Type.Array(
    Type.Object({
      fp: Type.String(),
      /** With a patient, waiting at the desk, or removed from it. */
      place: Type.Enum(["patient", "desk", "rejected"]),
      updated_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
    }),
  ),
  /** `after` of the next page; null on the last one. */
  next: Type.Union([Type.String(), Type.Null()]),
});
export type PlacementList = Static<typeof PlacementList>;
