import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Host } from "../host.ts";

/**
 * Makes the handler of the agent's page. The page's code is loaded with its first request, because most agents run for months
 * without one.
 */
export function agentPage(host: Host): RequestListener {
  let loading: Promise<FastifyInstance> | undefined;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    loading ??= import("./page-app.ts").then(({ createPageApp }) => createPageApp(host));
    (await loading).routing(request, response);
  };
  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      loading = undefined;
      host.log.error({ stage: "page", reason: errorMessage(error) }, "the page cannot be loaded");
      response.writeHead(500, { "content-type": "text/plain; charset=utf-8" }).end("The page cannot be loaded.\n");
    });
  };
}
