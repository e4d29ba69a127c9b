import { Type } from "typebox";
import type { createGuards } from "../auth.ts";
import type { Page } from "../store/patients.ts";
import type { Store } from "../store/store.ts";
import { PAGE_SIZE_MAX } from "./parameters.ts";

/** What every route file gets. */
export interface RouteContext {
  readonly store: Store;
  readonly guard: ReturnType<typeof createGuards>;
  readonly now: () => number;
  readonly concealUnconnected: boolean;
}

/** The page object of the lists (specification, section 2.1). */
export function PageOf<T extends Type.TSchema>(item: T) {
  return Type.Object(
    {
      items: Type.Array(item),
      total: Type.Integer({ minimum: 0, description: "all matches, not only those of this page" }),
      page: Type.Integer({ minimum: 1 }),
      page_size: Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX }),
      has_more: Type.Boolean({ description: "more pages follow" }),
    },
    { additionalProperties: false },
  );
}

/** A stretch of a list as a page object; has_more as in api.md 17. */
export function pageOf<Item>({ items, total }: Page<Item>, page: number, pageSize: number) {
  return { items, total, page, page_size: pageSize, has_more: page * pageSize < total };
}
