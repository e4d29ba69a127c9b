import { Type } from "typebox";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { knownPart } from "../../shared/schema/known.ts";
import { CLINIC_CODES, type ClinicCode, parseClinicCodes } from "../spool/queries/clinic-codes.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import type { ServerPages } from "./server-pages.ts";

const Mapping = Type.Object(
  { device_id: Type.String(), code: Type.String(), analyte: Type.String() },
  { additionalProperties: false },
);
const CodesResponse = Type.Object({ data: Type.Array(Mapping) });
const codesResponse = compileLater(CodesResponse);
const mapping = compileLater(Mapping);

/** The clinic's analytes of its devices' codes, as users chose them in the dashboard. The spool keeps them. */
export class ClinicCodes {
  readonly #spool: SpoolCalls;
  /** undefined before the first read. */
  #codes: readonly ClinicCode[] | undefined;

  constructor(spool: SpoolCalls) {
    this.#spool = spool;
  }

  /** @returns the codes of the last sync, of all devices of the clinic */
  async current(): Promise<readonly ClinicCode[]> {
    this.#codes ??= parseClinicCodes(await this.#spool.call("getMeta", CLINIC_CODES));
    return this.#codes;
  }

  /** Fetches the codes, and stores them if they changed. @throws SendError */
  async sync(pages: ServerPages): Promise<void> {
    const body = await pages.get("/agent/v1/codes");
    if (body === null) return; // an older server without the route
    const known = knownPart(CodesResponse, body);
    if (!codesResponse.Check(known)) {
      throw new Error("invalid response of GET /agent/v1/codes: expected a list of codes");
    }
    // An unknown field may restrict the results of its code.
    const understood = known.data.filter((_, index) => mapping.Check((body as { data: unknown[] }).data[index]));
    const stored = JSON.stringify(understood);
    if (stored === JSON.stringify(await this.current())) return;
    await this.#spool.call("setMeta", CLINIC_CODES, stored);
    this.#codes = understood;
  }
}
