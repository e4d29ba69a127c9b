import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Histogram, type Registry } from "prom-client";

// Plugin: the durations of requests, as a histogram of Prometheus.

declare module "fastify" {
  interface FastifyContextConfig {
    /** Set for a response that stays open as long as its page, or until there is news. Its duration does not measure the server. */
    isStream?: true;
  }
}

export class RequestTimes {
  readonly #histogram: Histogram<"route" | "method" | "status">;
  #limited = 0;
  #streams = 0;

  constructor(registry: Registry) {
    this.#histogram = new Histogram({
      name: "vetwire_server_request_seconds",
      help: "Time from the headers of a request to the end of its response; status is a class, none if the client left",
      labelNames: ["route", "method", "status"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers: [registry],
    });
  }

  /** Requests that were refused with 429. */
  get limited(): number {
    return this.#limited;
  }

  /** Open streams of pages, and requests that wait for news. */
  get streams(): number {
    return this.#streams;
  }

  /** Register after the request context and before everything that may refuse a request. */
  measure(app: FastifyInstance): void {
    app.addHook("onRequest", (request, reply, done) => {
      const begun = performance.now();
      if (request.context.route.isStream === true) this.#countStream(reply);
      else reply.raw.on("close", () => this.#add(request, reply, (performance.now() - begun) / 1000));
      done();
    });
  }

  #countStream({ raw }: FastifyReply): void {
    this.#streams += 1;
    raw.on("close", () => {
      this.#streams -= 1;
    });
  }

  #add({ context, method }: FastifyRequest, { raw }: FastifyReply, seconds: number): void {
    if (raw.statusCode === 429) this.#limited += 1;
    const { url } = context.route;
    const status = raw.headersSent ? `${Math.floor(raw.statusCode / 100)}xx` : "none";
    // The method of a request without a route is the client's own word.
    const labels = { route: url ?? "none", method: url === undefined ? "any" : method, status };
    this.#histogram.observe(labels, seconds);
  }
}
