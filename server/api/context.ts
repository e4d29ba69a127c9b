import { Type } from "typebox";
import type { Page } from "../records/patients/patients.ts";
import type { Drain } from "../http/drain.ts";
import type { SyncPoints } from "../records/changes/sync-point.ts";
import type { Render } from "../records/destinations/queue.ts";
import type { Quota } from "../records/filing/quota.ts";
import type { Store } from "../database/store.ts";
import { LONG_PAGE_MAX, PAGE_SIZE_MAX } from "../http/query-parameters.ts";

/** Dependencies of the routes. */
export interface RouteContext {
  readonly store: Store;
  readonly now: () => number;
  readonly concealUnconnected: boolean;
  readonly quota: Quota;
  readonly syncPoints: SyncPoints;
  /** The folder with the releases of the agent; null for none. */
  readonly releaseFolder: string | null;
  /** Makes the bytes of deliveries. */
  readonly render: Render;
  /** Ends requests that wait. */
  readonly drain: Drain;
}

/** The page object of a list that the published specification does not have. */
export function LongPageOf<T extends Type.TSchema>(item: T, title: string) {
  return PageOf(item, title, LONG_PAGE_MAX);
}

/** The page object of the lists. */
export function PageOf<T extends Type.TSchema>(item: T, title: string, maximum = PAGE_SIZE_MAX) {
  return Type.Object(
    {
      items: Type.Array(item, { description: "The records of this page." }),
      total: Type.Integer({ minimum: 0, description: "Number of all matches, not only of those on this page." }),
      page: Type.Integer({ minimum: 1, description: "Number of this page." }),
      page_size: Type.Integer({
        minimum: 1,
        maximum,
        description: "Greatest number of records on a page.",
      }),
      has_more: Type.Boolean({ description: "True if more pages follow." }),
      left_out: Type.Optional(
        Type.Integer({
          minimum: 1,
          description:
            "An addition to the published specification. Number of records of this page that are damaged in the database, and " +
            "therefore not in `items`. Absent if there are none.",
        }),
      ),
    },
    { title, description: "One page of a list.", additionalProperties: false },
  );
}

/** The envelope of a success. Only that of the patients has a message. */
export function EnvelopeOf<T extends Type.TSchema>(data: T, title: string) {
  return Type.Object({ success: Succeeded, data }, { title, description: "A success.", additionalProperties: false });
}

/** The envelope of a success with patients. */
export function EnvelopeWithMessageOf<T extends Type.TSchema>(data: T, title: string) {
  return Type.Object(
    { success: Succeeded, data, message: Type.String({ description: "A word for people; programs read `success`." }) },
    { title, description: "A success.", additionalProperties: false },
  );
}

const Succeeded = Type.Literal(true, { description: "True in every success, false in every error." });

/** Makes the page object. `has_more` is false on the last page, also on a full one. */
export function pageOf<Item>({ items, total, leftOut = 0 }: Page<Item>, page: number, pageSize: number) {
  const damaged = leftOut > 0 ? { left_out: leftOut } : {};
  return { items, total, page, page_size: pageSize, has_more: page * pageSize < total, ...damaged };
}
