import type { FastifyInstance } from "fastify";
import type { Host } from "../../host.ts";
import type { Sessions } from "./sessions.ts";
import { PageError } from "./page-error.ts";

const PAGE_DATA = "/local/v1/";
const SESSION = `${PAGE_DATA}session`;
/** The PIN is short, and anyone in the network may send one. */
const PIN_BYTES_MAX = 1024;

/** Lets another machine in with the PIN alone. The scripts and styles of the page hold nothing of the clinic. */
export function sessionRoutes(app: FastifyInstance, host: Host, sessions: Sessions): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { url = "" } = request.raw;
    const isOpen = request.routeOptions.url === SESSION || !isData(url, request.routeOptions.url);
    if (!isOpen && !sessions.mayEnter(request.raw, host.pin)) {
      throw new PageError(401, "enter the PIN that vetwire agent status shows on the PC", "SESSION.REQUIRED");
    }
    done();
  });

  app.post<{ Body: { pin: string } }>(
    SESSION,
    {
      bodyLimit: PIN_BYTES_MAX,
      schema: {
        body: { type: "object", required: ["pin"], properties: { pin: { type: "string", maxLength: 64 } } },
      },
    },
    ({ body: { pin }, raw }, reply) => {
      const outcome = sessions.enter(raw, pin, host.pin);
      if (outcome.is === "right") return reply.header("set-cookie", outcome.cookie).send({});
      if (outcome.is === "wrong") {
        throw new PageError(403, "the PIN is wrong: vetwire agent status shows it on the PC", "SESSION.WRONG_PIN");
      }
      throw new PageError(429, "too many wrong PINs: wait 15 minutes", "SESSION.TOO_MANY_ATTEMPTS");
    },
  );
}

/** Every route but the files of the page has data, also one under another spelling of its address. */
function isData(url: string, route: string | undefined): boolean {
  return url.startsWith("/local/") || (route ?? "").startsWith("/local/");
}
