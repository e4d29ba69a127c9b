import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { UNFILED_MAX } from "../../agent/connection/unfiled-messages.ts";
import { bloodCount, MllpClient, verdict } from "../support/hl7.ts";
import { until, World } from "../support/processes.ts";

// Goal: what one peer sends holds up no other device. Method: the agent's process, floods on the port of one HL7 device, and an
// honest device beside it.

async function twoDevices() {
  const world = await World.create(1);
  onTestFinished(() => world.end());
  const [port = 0, honestPort = 0] = await world.configureDevices(2, "generic-hl7");
  await world.startAgent();
  const honest = await MllpClient.connect(honestPort);
  onTestFinished(() => honest.close());
  return { world, port, honest };
}

/** Sends without ever reading an answer. */
function flood(port: number, bytes: string): net.Socket {
  const socket = net.connect(port, "127.0.0.1", () => socket.write(bytes));
  socket.on("error", () => undefined);
  socket.pause();
  onTestFinished(() => void socket.destroy());
  return socket;
}

const count = (id: number) => bloodCount({ id: String(id), patient: "5000", measured: `202601010900${id}`, wbc: 9.8 });

/** Each message and how it was answered. */
async function askTen(honest: MllpClient): Promise<string[]> {
  const answers: string[] = [];
  for (let id = 10; id < 20; id++) answers.push(verdict(await honest.ask(count(id))));
  return answers;
}

const ALL_ACCEPTED = Array.from({ length: 10 }, (_, index) => `AA ${index + 10}`);

test("1 MB of frames without an end is one message and a few warnings, and an honest device is answered", async () => {
  const { world, port, honest } = await twoDevices();
  const socket = flood(port, "a\x0b".repeat(525_000));
  const bytes = () => world.status().devices.find(({ id }) => id === "device-0")?.counters?.bytes ?? 0;
  expect(await askTen(honest)).toEqual(ALL_ACCEPTED);
  await until("all of the flood has come", () => bytes() === 1_050_000);
  socket.destroy();
  const messages = await world.drained();
  expect(messages.filter(({ device }) => device === "device-0").map(({ state, reason }) => [state, reason])).toEqual([
    ["quarantined", "incomplete: a new frame began before its end"],
  ]);
  expect(messages.filter(({ device }) => device === "device-1").map(({ state }) => state)).toEqual(
    ALL_ACCEPTED.map(() => "filed"),
  );
  const standing = world.status().devices.find(({ id }) => id === "device-0");
  expect(standing?.counters?.warnings).toBeLessThanOrEqual(3);
});

test("311 000 messages whose answers are not read wait on their own wire, and an honest device is answered", async () => {
  const { world, port, honest } = await twoDevices();
  const message = (id: number) => `\x0bMSH|^~\\&|||||||ORU^R01|${id}|P|2.3\r\x1c\r`;
  flood(port, Array.from({ length: 311_000 }, (_, id) => message(id)).join(""));
  const own = () => world.messages().filter(({ device }) => device === "device-0");
  await until("some are stored", () => own().length > UNFILED_MAX);
  expect(await askTen(honest)).toEqual(ALL_ACCEPTED);
  const waiting = own().filter(({ reason, state }) => state === "pending" && reason === null).length;
  // Beyond the bound, at most those of the chunk that reached it.
  expect(waiting).toBeLessThan(UNFILED_MAX + 65_536 / message(0).length);
  await until(
    "the honest device's are filed",
    () => world.messages().filter(({ device, state }) => device === "device-1" && state === "filed").length === 10,
  );
});
