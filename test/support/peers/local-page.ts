import net from "node:net";
import { onTestFinished } from "vitest";
import { until } from "../machine/processes.ts";
import { emptyServer, type TestAgent } from "./running-agent.ts";
import type { ScriptedRequest, Step } from "./scripted-server.ts";

// Messages for the tests of the agent's page.

/** Responds as a server without patients that takes each study as unmatched. */
export function takingServer(request: ScriptedRequest): Step {
  if (!request.url.startsWith("/agent/v1/studies")) return emptyServer(request);
  const { studies } = request.body as { studies: { fp: string }[] };
  return {
    status: 200,
    body: { outcomes: studies.map(({ fp }) => ({ fp, outcome: "unmatched", reason: "no such patient" })) },
  };
}

const GIVEN = [["6690-2^WBC^LN", "9.81", "10*9/L"]] as const;

/** A result in HL7, of a patient with a name. Each result is its code, value and unit. */
export function hl7Result(name: string, results: readonly (readonly [string, string, string])[] = GIVEN): string {
  const id = Math.random().toString(36).slice(2, 10);
  const segments = [
    `MSH|^~\\&|HEMA-1|Vendor|||20261121113100||ORU^R01|${id}|P|2.3.1||||||UNICODE`,
    `PID|1||4711^^^^MR||${name}||20190504|F`,
    `OBR|1||S-${id}|00001^Automated Count^99MRC|||20261121113015||||||||||||||||||HM`,
    ...results.map(([code, value, unit], index) => `OBX|${index + 1}|NM|${code}||${value}|${unit}||||F`),
  ];
  return `\x0b${segments.map((segment) => `${segment}\r`).join("")}\x1c\r`;
}

/** Sends bytes to a port of this machine over a connection that stays open. @returns the connection */
export async function send(port: number, text: string): Promise<net.Socket> {
  const socket = net.connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined); // the agent may refuse the caller before the bytes have come
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(text);
  return socket;
}

/** Waits until the agent has stored that many messages and the server's outcome of each one. */
export function settled(agent: TestAgent, count: number): Promise<true> {
  return until(`${count} settled messages`, () => {
    const counts = agent.device()?.counts;
    if (counts === undefined || counts.pending > 0) return null;
    return Object.values(counts).reduce((sum, one) => sum + one, 0) === count ? true : null;
  });
}
