import { Type } from "typebox";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { knownPart } from "../../shared/schema/known.ts";
import { ClinicRange, ClinicRanges } from "../../shared/clinical/clinic-ranges.ts";
import { AcceptedLimit } from "../../shared/clinical/critical-limits.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import type { ServerPages } from "./server-pages.ts";

const RangesResponse = Type.Object({ data: Type.Union([ClinicRanges, Type.Null()]) });
const rangesResponse = compileLater(RangesResponse);
const clinicRange = compileLater(ClinicRange);
const acceptedLimit = compileLater(AcceptedLimit);

/** The clinic's own reference intervals in the spool. */
export class ClinicIntervals {
  readonly #spool: SpoolCalls;
  /** null if the clinic has none; undefined before the first read. */
  #ranges: ClinicRanges | null | undefined;

  constructor(spool: SpoolCalls) {
    this.#spool = spool;
  }

  /** @returns the intervals of the last sync; null if the clinic has none */
  async current(): Promise<ClinicRanges | null> {
    if (this.#ranges === undefined) {
      this.#ranges = JSON.parse((await this.#spool.call("getMeta", "ranges")) ?? "null") as ClinicRanges | null;
    }
    return this.#ranges;
  }

  /** Fetches the intervals, and stores a new version. @throws SendError */
  async sync(pages: ServerPages): Promise<void> {
    const body = await pages.get("/agent/v1/ranges");
    if (body === null) return; // an older server without the route
    const known = knownPart(RangesResponse, body);
    if (!rangesResponse.Check(known)) {
      throw new Error("invalid response of GET /agent/v1/ranges: expected a list of intervals");
    }
    const ranges = known.data === null ? null : understood(known.data, body as { data: ClinicRanges });
    // Not the version alone: an agent that knew no limits kept the set without them.
    const kept = JSON.stringify(ranges);
    if (kept === JSON.stringify(await this.current())) return;
    await this.#spool.call("setMeta", "ranges", kept);
    this.#ranges = ranges;
  }
}

/**
 * Selects the rows and limits without unknown fields, because such a field may restrict the patients of its row. A selection has a
 * version of its own, so that an agent that knows the fields fetches all of them.
 */
function understood(known: ClinicRanges, sent: { data: ClinicRanges }): ClinicRanges {
  const rows = known.rows.filter((_, index) => clinicRange.Check(sent.data.rows[index]));
  const limits = known.limits?.filter((_, index) => acceptedLimit.Check(sent.data.limits?.[index]));
  const isComplete = rows.length === known.rows.length && limits?.length === known.limits?.length;
  return {
    ...known,
    rows,
    ...(limits === undefined ? {} : { limits }),
    version: isComplete ? known.version : `${known.version} in part`,
  };
}
