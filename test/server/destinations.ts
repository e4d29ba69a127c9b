import type { DeliveryReport, NextDelivery } from "../../shared/api/agent/destinations.ts";
import { newFp } from "../../shared/api/fp.ts";
import { clinic, connection, keyPermissions, type TestServer, patient, startServer } from "./harness.ts";

/** An agent's view of a destination. */
export interface Receiver {
  /** Fetches the next delivery, and the message as segments. */
  next(): Promise<{ answer: NextDelivery; segments: string[] }>;
  report(outcome: Partial<DeliveryReport>): Promise<number>;
  /** Fetches and acknowledges. @returns the segments; none if nothing waits */
  take(): Promise<string[]>;
}

/** A clinic with two animals, and an agent with a destination. */
export async function startDestination(options: object = {}, kind = "hl7") {
  const own = newFp("clinic");
  const [pamuk, boncuk] = [patient({ name: "Pamuk", species: "cat" }), patient({ name: "Boncuk", species: "cat" })];
  const server = await startServer(
    [clinic(own), pamuk, boncuk],
    [connection(pamuk.fp, own), connection(boncuk.fp, own)],
  );
  const key = await server.makeKey(own, keyPermissions);
  const call = callerOf(server, key);
  await call("PUT", "", { destinations: [{ id: "pims", kind, options }] });
  return { ...server, own, pamuk, boncuk, key, call, receiver: receiverOf(call) };
}

/** Calls the routes of agents with a key. */
export function callerOf({ app }: Pick<TestServer, "app">, key: string) {
  return async (method: "GET" | "PUT" | "POST", path: string, payload?: object) => {
    const url = `/agent/v1/destinations${path}`;
    return app.inject({ method, url, headers: { "x-api-key": key }, ...(payload && { payload }) });
  };
}

export function receiverOf(call: ReturnType<typeof callerOf>, id = "pims"): Receiver {
  let last: NextDelivery["delivery"] = null;
  const next = async () => {
    const answer = (await call("GET", `/${id}/next`)).json<NextDelivery>();
    last = answer.delivery;
    const message = Buffer.from(last?.payload ?? "", "base64").toString();
    return { answer, segments: message.split("\r").slice(0, -1) };
  };
  const report = async (outcome: Partial<DeliveryReport>) => {
    const { id: delivery_id = 0, attempt = 0 } = last ?? {};
    const ended = {
      delivery_id,
      attempt,
      at: "2026-11-21T12:00:00.000Z",
      outcome: "acknowledged",
      code: "AA",
      text: null,
    };
    return (await call("POST", `/${id}/outcomes`, { ...ended, ...outcome })).statusCode;
  };
  const take = async () => {
    const { segments } = await next();
    if (segments.length > 0) await report({});
    return segments;
  };
  return { next, report, take };
}
