import { afterEach } from "vitest";
import { Connection } from "../../../agent/connection/connection.ts";
import type { Profile } from "../../../agent/devices/profile.ts";
import { type SimulatorLine, openLine } from "../../../agent/tools/simulator/line.ts";
import { listenTransport } from "../../../agent/transport/tcp.ts";
import type { Transport } from "../../../agent/transport/transport.ts";
import { freePort, until } from "../machine/processes.ts";
import type { useSpool } from "../spool.ts";
import { NO_EVENTS } from "./wire.ts";

/** Opens simulator lines and agent connections for the tests of a file, and closes them after each test. */
export function useLines(used: ReturnType<typeof useSpool>) {
  const transports: Transport[] = [];
  const lines: SimulatorLine[] = [];

  afterEach(async () => {
    await Promise.all(lines.splice(0).map((line) => line.close()));
    await Promise.all(transports.splice(0).map((transport) => transport.close()));
  });

  /** Opens the agent's connection to a device. @returns its messages and warnings */
  function serve(transport: Transport, profile: Profile) {
    transports.push(transport);
    const seen = { messages: [] as string[], warnings: [] as string[] };
    new Connection({ id: "device-1", profile, timeZone: "UTC" }, transport, {
      spool: used.spool,
      events: { ...NO_EVENTS, warning: (reason) => seen.warnings.push(reason) },
      messages: { message: ({ bytes }) => seen.messages.push(Buffer.from(bytes).toString("latin1")) },
    }).open();
    return seen;
  }

  async function listening(profile: Profile) {
    const port = await freePort();
    const seen = serve(listenTransport({ host: "127.0.0.1", port }, []), profile);
    return { target: `tcp://127.0.0.1:${port}`, seen };
  }

  async function open(target: string): Promise<SimulatorLine> {
    const line = await openLine(target);
    lines.push(line);
    return line;
  }

  const dial = (target: string) => until("the peer listens", () => open(target).catch(() => null));

  /** @returns the two ends of one TCP connection */
  async function twoEnds(): Promise<[SimulatorLine, SimulatorLine]> {
    const port = await freePort();
    const listener = open(`listen://127.0.0.1:${port}`);
    const dialler = await dial(`tcp://127.0.0.1:${port}`);
    return [await listener, dialler];
  }

  return { serve, listening, open, dial, twoEnds };
}
