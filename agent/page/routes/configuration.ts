import type { FastifyInstance } from "fastify";
import type { LocalApplied, LocalCheck, LocalConfiguration } from "../../../shared/local/configuration.ts";
import { lineDiff } from "../../../shared/local/line-diff.ts";
import { checkConfig } from "../../config/check.ts";
import { folderOf, markOf, previousText } from "../../host/config-file.ts";
import type { Host } from "../../host/host.ts";

const TEXT = { type: "string", maxLength: 500_000 } as const;

/** Adds the text of the configuration, its check while a user types, and its application. It holds no secret. */
export function configurationRoutes(app: FastifyInstance, host: Host): void {
  app.route({
    method: "GET",
    url: "/local/v1/configuration",
    handler: (): LocalConfiguration => {
      const text = host.text();
      return { file: host.file, text, mark: markOf(text), previous: previousText(host.file) };
    },
  });

  app.route<{ Body: { text: string } }>({
    method: "POST",
    url: "/local/v1/configuration/check",
    schema: { body: { type: "object", required: ["text"], properties: { text: TEXT } } },
    handler: ({ body: { text } }): LocalCheck => {
      const checked = checkConfig(text, folderOf(host.file));
      return {
        problems: "problems" in checked ? checked.problems : [],
        diff: lineDiff(host.text() ?? "", text),
      };
    },
  });

  app.route<{ Body: { text: string; mark: string } }>({
    method: "POST",
    url: "/local/v1/configuration",
    schema: {
      body: { type: "object", required: ["text", "mark"], properties: { text: TEXT, mark: { type: "string" } } },
    },
    handler: ({ body: { text, mark } }): Promise<LocalApplied> => host.apply(text, mark),
  });
}
