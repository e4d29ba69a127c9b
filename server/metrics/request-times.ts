import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RouteConfig } from "../http/request-context.ts";

// Plugin: the durations of requests, as a histogram of Prometheus. prom-client's own costs a microsecond a request, which a
// response from the cache would feel.

const NAME = "vetwire_server_request_seconds";
const HELP =
  "Time from the headers of a request to the end of its response; status is a class, none if the client left";

/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

declare module "fastify" {
  interface FastifyContextConfig {
    /** Set for a response that stays open as long as its page. Its duration says nothing about the server. */
    isStream?: true;
  }
}

/** Requests of one route, method and class of status. */
interface Series {
  readonly labels: string;
  /** Requests within each bound, and within no smaller one. The slower ones are in `count` alone. */
  readonly buckets: number[];
  count: number;
  /** In seconds. */
  sum: number;
}

export class RequestTimes {
  readonly #routes = new Map<RouteConfig, Map<string, Series>>();
  #limited = 0;
  #streams = 0;

  /** Requests that were refused with 429. */
  get limited(): number {
    return this.#limited;
  }

  /** Open streams of pages. */
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

  /** Returns the histogram in the text format of Prometheus. */
  text(): string {
    const series = [...this.#routes.values()].flatMap((ofRoute) => [...ofRoute.values()]);
    return [`# HELP ${NAME} ${HELP}`, `# TYPE ${NAME} histogram`, ...series.flatMap(linesOf), ""].join("\n");
  }

  #countStream({ raw }: FastifyReply): void {
    this.#streams += 1;
    raw.on("close", () => {
      this.#streams -= 1;
    });
  }

  #add({ context, method }: FastifyRequest, { raw }: FastifyReply, seconds: number): void {
    if (raw.statusCode === 429) this.#limited += 1;
    const series = this.#seriesOf(context.route, method, raw.headersSent ? statusClass(raw.statusCode) : "none");
    series.count += 1;
    series.sum += seconds;
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  #seriesOf(route: RouteConfig, method: string, status: string): Series {
    let ofRoute = this.#routes.get(route);
    if (ofRoute === undefined) this.#routes.set(route, (ofRoute = new Map<string, Series>()));
    // The method of a request without a route is the client's own word.
    const name = route.url === undefined ? status : `${status} ${method}`;
    let series = ofRoute.get(name);
    if (series === undefined) {
      const labels = `route="${route.url ?? "none"}",method="${route.url === undefined ? "any" : method}",status="${status}"`;
      series = { labels, buckets: BOUNDS.map(() => 0), count: 0, sum: 0 };
      ofRoute.set(name, series);
    }
    return series;
  }
}

function statusClass(status: number): string {
  return `${Math.floor(status / 100)}xx`;
}

function linesOf({ labels, buckets, count, sum }: Series): string[] {
  let within = 0;
  const lines = BOUNDS.map((bound, index) => {
    within += buckets[index] ?? 0;
    return `${NAME}_bucket{${labels},le="${bound}"} ${within}`;
  });
  return [
    ...lines,
    `${NAME}_bucket{${labels},le="+Inf"} ${count}`,
    `${NAME}_sum{${labels}} ${sum}`,
    `${NAME}_count{${labels}} ${count}`,
  ];
}
