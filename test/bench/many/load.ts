import http from "node:http";

// Requests at a set rate over a fixed number of connections. A latency counts from the planned start of its request, so that a
// request which waits for a connection counts its wait: a slow server gets no fewer requests.

export interface Asked {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly key: string;
  readonly body?: object;
}

/** Sends a request over one connection. */
export type Send = (asked: Asked) => Promise<{ readonly status: number; readonly text: string }>;

/** Connections to the servers in turn, which stay open between loads. */
export class Connections {
  readonly #agents: http.Agent[] = [];
  readonly sends: readonly Send[];

  constructor(urls: readonly string[], count: number) {
    this.sends = Array.from({ length: count }, (_, index) => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      this.#agents.push(agent);
      return async (asked) => send(agent, urls[index % urls.length] ?? "", asked);
    });
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }
}

/** @returns the milliseconds of each request from its planned start */
export async function openLoop(
  sends: readonly Send[],
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  ask: (send: Send) => Promise<void>,
): Promise<number[]> {
  const [total, start, latencies] = [Math.round(perSecond * seconds), performance.now(), [] as number[]];
  let planned = 0;
  const work = async (own: Send) => {
    while (planned < total) {
      const due = start + (planned * 1000) / perSecond;
      planned += 1;
      const early = due - performance.now();
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      await ask(own);
      latencies.push(performance.now() - due);
    }
  };
  await Promise.all(sends.map(work));
  return latencies;
}

function send(agent: http.Agent, url: string, { method, path, key, body }: Asked) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers = { authorization: `Bearer ${key}`, "x-api-key": key, "content-type": "application/json" };
    const request = http.request(`${url}${path}`, { agent, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(payload);
  });
}
