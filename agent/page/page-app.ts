import fastify, { type FastifyError, type FastifyInstance } from "fastify";
import type { TSchema } from "typebox";
import { Convert, Default } from "typebox/value";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { jsonFault } from "../../shared/schema/json-scan.ts";
import { problems } from "../../shared/schema/problems.ts";
import { builtPages, PAGE_HEADERS, pageFiles } from "../../shared/network/page-files.ts";
import { isSameOrigin } from "../../shared/network/same-origin.ts";
import type { Host } from "../host.ts";
import { PageError } from "./routes/page-error.ts";
import { codeRoutes } from "./routes/codes.ts";
import { configurationRoutes } from "./routes/configuration.ts";
import { deviceRoutes } from "./routes/devices.ts";
import { doctorRoutes } from "./routes/doctor.ts";
import { eventRoutes } from "./routes/events.ts";
import { imageRoutes } from "./routes/images.ts";
import { logRoutes } from "./routes/log.ts";
import { makerRoutes } from "./routes/maker/routes.ts";
import { setupRoutes } from "./routes/setup.ts";
import { messageRoutes } from "./routes/messages.ts";
import { ownProfileRoutes } from "./routes/maker/own-profiles.ts";
import { outboxRoutes } from "./routes/outbox.ts";
import { sessionRoutes } from "./routes/session.ts";
import { Sessions } from "./routes/sessions.ts";

// The agent's page: /local/v1 for its data, and the files of the page at every other path. The local server has checked Host.

/** A document of the configuration is the longest body. */
const BODY_BYTES_MAX = 1024 * 1024;
const BODY_VALUES_MAX = 100_000;
/** Max faults of a body that an error names. */
const FAULTS_MAX = 5;

export async function createPageApp(host: Host): Promise<FastifyInstance> {
  const app = fastify({ bodyLimit: BODY_BYTES_MAX, exposeHeadRoutes: false });
  parseJsonBodies(app);
  app.setValidatorCompiler(({ schema }) => inWords(schema as TSchema));
  app.addHook("onRequest", (request, _reply, done) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    // Another site's page cannot read a response, but it could start the doctor and hold all streams.
    const isPage = isRead && !(request.routeOptions.url ?? "").startsWith("/local/");
    if (!isPage && !isSameOrigin(request.headers)) throw new PageError(403, "another site's page sent this request");
    done();
  });
  app.addHook("onSend", (request, reply, _payload, done) => {
    reply.headers(PAGE_HEADERS);
    if (request.url.startsWith("/local/")) reply.header("cache-control", "no-store");
    done();
  });
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const status = error instanceof PageError ? error.status : (error.statusCode ?? 500);
    // A refusal has its remedy for the user, so it is not a fault.
    if (status >= 500 && !(error instanceof PageError))
      host.log.error({ stage: "page", reason: error.message }, "the page has a fault");
    // The page shares the script of the server's dashboard, so it has the same codes and envelope.
    const code = error instanceof PageError ? error.code : `LOCAL.${status}`;
    return reply.code(status).send({ error: { code, message: error.message } });
  });
  app.setNotFoundHandler(() => Promise.reject(new PageError(404, "there is no such data")));
  sessionRoutes(app, host, new Sessions());
  const views = [
    deviceRoutes,
    eventRoutes,
    messageRoutes,
    imageRoutes,
    codeRoutes,
    outboxRoutes,
    logRoutes,
    doctorRoutes,
  ];
  for (const routes of [...views, configurationRoutes, setupRoutes, makerRoutes, ownProfileRoutes]) routes(app, host);
  const folder = builtPages();
  refuse(app, "/local/*", "there is no such data");
  if (folder === undefined) refuse(app, "/*", "the page is not built: run npm run build");
  else await pageFiles(app, folder, { html: "local-app/index.html", urls: ["/", "/*"] });
  await app.ready();
  return app;
}

/** Makes a check of one part of a request. It reports problems in the words of the server's API. */
function inWords(schema: TSchema) {
  const compiled = compileLater(schema);
  return (part: unknown) => {
    // A query has texts alone.
    const value = Convert(schema, Default(schema, part));
    if (compiled.Check(value)) return { value };
    return { error: new PageError(400, problems(compiled, value, FAULTS_MAX).join("; ")) };
  };
}

function parseJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    const found = jsonFault(body as string, BODY_VALUES_MAX);
    if (found !== null) return done(new PageError(found.isTooLarge ? 413 : 400, `the body ${found.fault}`));
    try {
      done(null, JSON.parse(body as string));
    } catch {
      done(new PageError(400, "the body is not JSON"));
    }
  });
}

function refuse(app: FastifyInstance, url: string, message: string): void {
  const handler = () => Promise.reject(new PageError(404, message));
  app.route({ method: "GET", url, handler });
}
