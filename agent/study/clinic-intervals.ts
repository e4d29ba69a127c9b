import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { knownPart } from "../../shared/schema/known.ts";
import { ClinicRange, ClinicRanges } from "../../shared/clinical/clinic-ranges.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import type { ServerPages } from "./server-pages.ts";

const RangesResponse = Type.Object({ data: Type.Union([ClinicRanges, Type.Null()]) });
const rangesResponse = Compile(RangesResponse);
const clinicRange = Compile(ClinicRange);

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
    if (ranges?.version === (await this.current())?.version) return;
    await this.#spool.call("setMeta", "ranges", JSON.stringify(ranges));
    this.#ranges = ranges;
  }
}

/**
 * Selects the rows without unknown fields, because such a field may restrict the patients of its row. A selection has a version
 * of its own, so that an agent that knows the fields fetches all rows.
 */
function understood(known: ClinicRanges, sent: { data: ClinicRanges }): ClinicRanges {
  const rows = known.rows.filter((_, index) => clinicRange.Check(sent.data.rows[index]));
  return { ...known, rows, version: rows.length === known.rows.length ? known.version : `${known.version} in part` };
}
