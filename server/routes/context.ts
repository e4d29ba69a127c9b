import { Type } from "typebox";
import type { createGuards } from "../http/auth.ts";
import type { Page } from "../store/patients.ts";
import type { Store } from "../store/types.ts";
import { PAGE_SIZE_MAX } from "../http/query-parameters.ts";

/** What every route file gets. */
export interface RouteContext {
  readonly store: Store;
  readonly guard: ReturnType<typeof createGuards>;
  readonly now: () => number;
  readonly concealUnconnected: boolean;
}

/** The page object of the lists (specification, section 2.1). */
export function PageOf<T extends Type.TSchema>(item: T, title: string) {
  return Type.Object(
    {
      items: Type.Array(item, { description: "The records of this page." }),
      total: Type.Integer({ minimum: 0, description: "Number of all matches, not only of those on this page." }),
      page: Type.Integer({ minimum: 1, description: "Number of this page." }),
      page_size: Type.Integer({
        minimum: 1,
        maximum: PAGE_SIZE_MAX,
        description: "Greatest number of records on a page.",
      }),
      has_more: Type.Boolean({ description: "True if more pages follow." }),
    },
    { title, description: "One page of a list.", additionalProperties: false },
  );
}

/** The envelope of a success; only the patients' have a message (specification, section 2.1). */
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

/** A stretch of a list as a page object; has_more as in api.md 17. */
export function pageOf<Item>({ items, total }: Page<Item>, page: number, pageSize: number) {
  return { items, total, page, page_size: pageSize, has_more: page * pageSize < total };
}
