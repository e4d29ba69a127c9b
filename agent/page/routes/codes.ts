import type { FastifyInstance } from "fastify";
import type { LocalApplied } from "../types/configuration.ts";
import type { LocalCodes } from "../types/queue.ts";
import { markOf } from "../../config/config-file.ts";
import type { Host } from "../../host.ts";
import { withDevices } from "../../remote/with-devices.ts";
import { readSpool } from "../../spool/access.ts";
import { listClinicCodes } from "../../spool/queries/clinic-codes.ts";
import { listSeenCodes } from "../../spool/queries/studies/seen-codes.ts";
import { codeList } from "../../tools/offline/code-list.ts";
import { PageError } from "./page-error.ts";
import { runningAgent } from "./running-agent.ts";

/** Studies that are read for the list. More of them would keep the devices waiting. */
const REVISIONS_MAX = 1_000;

interface Mapping {
  readonly device: string;
  readonly code: string;
  readonly analyte: string;
  readonly mark: string;
}

/** Adds the codes outside the catalogue, and their mapping, which is a change of the configuration. */
export function codeRoutes(app: FastifyInstance, host: Host): void {
  app.get("/local/v1/codes", (): LocalCodes => {
    const { data, devices } = runningAgent(host).config;
    const { ofClinic, seen } = readSpool(data, (db) => ({
      ofClinic: listClinicCodes(db),
      seen: listSeenCodes(db, REVISIONS_MAX),
    }));
    return { codes: codeList(devices, seen, ofClinic), mark: markOf(host.text()) };
  });

  const text = { type: "string", minLength: 1, maxLength: 200 } as const;
  app.post<{ Body: Mapping }>(
    "/local/v1/codes",
    {
      schema: {
        body: {
          type: "object",
          required: ["device", "code", "analyte", "mark"],
          properties: { device: text, code: text, analyte: text, mark: text },
        },
      },
    },
    async ({ body: { device, code, analyte, mark } }): Promise<LocalApplied> => {
      const { devices } = runningAgent(host).config;
      if (devices.every(({ id }) => id !== device)) {
        throw new PageError(409, `${device} is no longer in the configuration: load the page again`);
      }
      const mapped = devices.map((one) =>
        one.id === device ? { ...one, codes: { ...one.codes, [code]: analyte } } : one,
      );
      return host.apply(withDevices(host.text() ?? "", mapped), mark);
    },
  );
}
