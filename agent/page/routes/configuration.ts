import type { FastifyInstance } from "fastify";
import type { LocalApplied, LocalCheck, LocalConfiguration } from "../types/configuration.ts";
import { lineDiff } from "../types/line-diff.ts";
import { checkConfig } from "../../config/check.ts";
import { folderOf, markOf, previousText } from "../../config/config-file.ts";
import type { Host } from "../../host.ts";

const TEXT = { type: "string", maxLength: 500_000 } as const;

/** Adds the text of the configuration, its check while a user types, and its application. It holds no secret. */
export function configurationRoutes(app: FastifyInstance, host: Host): void {
  app.get("/local/v1/configuration", (): LocalConfiguration => {
    const text = host.text();
    return { file: host.file, text, mark: markOf(text), previous: previousText(host.file) };
  });

  app.post<{ Body: { text: string } }>(
    "/local/v1/configuration/check",
    { schema: { body: { type: "object", required: ["text"], properties: { text: TEXT } } } },
    ({ body: { text } }): LocalCheck => {
      const checked = checkConfig(text, folderOf(host.file));
      return {
        problems: "problems" in checked ? checked.problems : checked.config.profileFaults,
        diff: lineDiff(host.text() ?? "", text),
      };
    },
  );

  app.post<{ Body: { text: string; mark: string } }>(
    "/local/v1/configuration",
    {
      schema: {
        body: { type: "object", required: ["text", "mark"], properties: { text: TEXT, mark: { type: "string" } } },
      },
    },
    ({ body: { text, mark } }): Promise<LocalApplied> => host.apply(text, mark),
  );
}
