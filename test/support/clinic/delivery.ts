import { afterEach, beforeEach } from "vitest";
import { createServerClient, type ServerClient } from "../../../agent/push/server-client.ts";
import type { DeliveryEvents, DeliveryTiming } from "../../../agent/runtime/delivery-loop.ts";
import { TestClock } from "../protocols/wire.ts";

interface Pushed {
  stop(): Promise<void>;
}

type MakePush<Push> = (client: ServerClient, events: DeliveryEvents, timing: DeliveryTiming) => Push;

/** Prepares a clock and a list of events for each test of a push to a server, and stops the push after it. */
export function useDelivery() {
  let stop = () => Promise.resolve();
  const used = {
    clock: new TestClock(),
    events: [] as string[],
    /** Starts a push to a server. The end of the test stops both. */
    start<Push extends Pushed>(server: { readonly url: string; close(): Promise<void> }, make: MakePush<Push>): Push {
      const events = {
        failed: (kind: string) => void used.events.push(kind),
        recovered: () => void used.events.push("recovered"),
      };
      const client = createServerClient(server.url, () => "sk_live_test");
      const push = make(client, events, { setTimer: used.clock.setTimer, random: () => 0.5 });
      stop = async () => {
        await push.stop();
        await server.close();
      };
      return push;
    },
  };
  beforeEach(() => {
    [used.clock, used.events] = [new TestClock(), []];
    stop = () => Promise.resolve();
  });
  afterEach(() => stop());
  return used;
}
