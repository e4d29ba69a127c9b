import { EventEmitter } from "node:events";
import http from "node:http";
import tls from "node:tls";
import type { Chance } from "./chance.ts";
import type { Clock, Process } from "./clock.ts";
import type { SimulatedServer } from "./server.ts";

// The network between agent and server. It takes the place of http.request and tls.connect, so that the agent's own client runs. A request may
// be refused, delayed, lost or delivered twice, and its response may be lost after the server's commit, or replaced by a proxy's.

/** Faults of the network, as probabilities per request. */
export interface NetworkFaults {
  loss: number;
  /** The request arrives; its response does not. */
  answerLoss: number;
  duplicate: number;
  /** A proxy responds in place of the server, before or after the request arrives there. */
  proxy: number;
  /** Longest delay in ms. A long one makes a request arrive after its repetition. */
  delayMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const PROXY_ANSWERS: readonly HttpAnswer[] = [500, 502, 503, 504, 413, 404].map((status) => ({
  status,
  headers: { "content-type": "text/html" },
  body: Buffer.from("<html><body>an error of the proxy</body></html>"),
}));

export class Network {
  readonly faults: NetworkFaults;
  isCut = false;
  requests = 0;
  readonly #clock: Clock;
  readonly #chance: Chance;
  readonly #server: SimulatedServer;

  constructor(clock: Clock, chance: Chance, server: SimulatedServer, faults: NetworkFaults) {
    this.#clock = clock;
    this.#chance = chance;
    this.#server = server;
    this.faults = faults;
  }

  /** Replaces http.request and tls.connect for one process at a time. @returns a function that puts them back */
  install(current: () => Process): () => void {
    const { request } = http;
    const { connect } = tls;
    Reflect.set(http, "request", ({ pathname, search }: URL, options: http.RequestOptions) => {
      if (options.method === "POST") this.#clock.realWork -= 1; // the client has compressed the body
      return new PendingRequest((body, pending) => {
        const headers = options.headers as Record<string, string>;
        const sent = { method: options.method ?? "GET", path: pathname + search, headers, body };
        this.#send(current(), sent, pending);
      });
    });
    // After a connection that broke off the client looks whether the server speaks TLS. A real look would take real time.
    Reflect.set(tls, "connect", () => {
      const socket = Object.assign(new EventEmitter(), { destroy: () => undefined });
      this.#clock.schedule(current(), 0, () => void socket.emit("error", networkError("ECONNRESET")));
      return socket;
    });
    return () => {
      Reflect.set(http, "request", request);
      Reflect.set(tls, "connect", connect);
    };
  }

  #send(agent: Process, request: HttpRequest, pending: PendingRequest): void {
    const { faults } = this;
    this.requests += 1;
    const answer = (result: HttpAnswer | NodeJS.ErrnoException) =>
      this.#clock.schedule(agent, this.#chance.ms(faults.delayMs), () => pending.settle(result));
    const arrive = (reply: (answer: HttpAnswer) => void) =>
      this.#clock.scheduleAwaited(this.#server.host, this.#chance.ms(faults.delayMs), async () => {
        const result = this.isCut ? null : await this.#server.serve(request);
        if (result === null) answer(networkError("ECONNREFUSED"));
        else reply(result);
      });
    const happens = (probability: number) => this.#chance.happens(probability);
    if (this.isCut) return void answer(networkError("ECONNREFUSED"));
    if (happens(faults.loss)) return; // the client waits for its timeout
    if (happens(faults.proxy)) {
      if (happens(0.5)) arrive(() => undefined);
      return void answer(this.#chance.pick(PROXY_ANSWERS));
    }
    const isAnswerLost = happens(faults.answerLoss);
    const isReset = happens(0.5);
    if (happens(faults.duplicate)) arrive(() => undefined);
    arrive((result) => {
      if (!isAnswerLost) answer(result);
      else if (isReset) answer(networkError("ECONNRESET"));
    });
  }
}

function networkError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`read ${code}`), { code });
}

/** The part of http.ClientRequest that the agent uses. */
class PendingRequest extends EventEmitter {
  readonly #send: (body: Buffer, pending: PendingRequest) => void;
  #isSettled = false;

  constructor(send: (body: Buffer, pending: PendingRequest) => void) {
    super();
    this.#send = send;
  }

  end(body?: Buffer): void {
    this.#send(body ?? Buffer.alloc(0), this);
  }

  /** Ends the request at the client's timeout. */
  destroy(reason: Error): void {
    this.#fail(reason);
  }

  settle(result: HttpAnswer | NodeJS.ErrnoException): void {
    if (result instanceof Error) return this.#fail(result);
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { status, headers, body } = result;
    const parts = async function* () {
      yield body;
    };
    this.emit("response", Object.assign(parts(), { statusCode: status, headers, destroy: () => undefined }));
    this.emit("close");
  }

  #fail(error: Error): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.emit("error", error);
    this.emit("close");
  }
}
