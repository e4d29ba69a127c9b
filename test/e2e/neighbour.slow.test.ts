import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { UNFILED_MAX } from "../../agent/connection/device-bound.ts";
import { bloodCount, MllpClient, verdict } from "../support/hl7.ts";
import { until, World } from "../support/processes.ts";

// Goal: a flood from one peer delays no other device. Method: an agent process with floods on the port of one HL7 device, and a
// second device.

async function twoDevices() {
  const world = await World.create(1);
  onTestFinished(() => world.end());
  const [port = 0, otherPort = 0] = await world.configureDevices(2, "generic-hl7");
  await world.startAgent();
  const other = await MllpClient.connect(otherPort);
  onTestFinished(() => other.close());
  return { world, port, other };
}

/** Sends bytes and reads no reply. */
function flood(port: number, bytes: string): net.Socket {
  const socket = net.connect(port, "127.0.0.1", () => socket.write(bytes));
  socket.on("error", () => undefined);
  socket.pause();
  onTestFinished(() => void socket.destroy());
  return socket;
}

const count = (id: number) => bloodCount({ id: String(id), patient: "5000", measured: `202601010900${id}`, wbc: 9.8 });

/** Sends ten messages. @returns MSA-1 and MSA-2 of each reply */
async function sendTen(other: MllpClient): Promise<string[]> {
  const replies: string[] = [];
  for (let id = 10; id < 20; id++) replies.push(verdict(await other.exchange(count(id))));
  return replies;
}

const ALL_ACCEPTED = Array.from({ length: 10 }, (_, index) => `AA ${index + 10}`);

test("1 MB of unterminated frames becomes one message and a few warnings, and another device gets its ACKs", async () => {
  const { world, port, other } = await twoDevices();
  const socket = flood(port, "a\x0b".repeat(525_000));
  const bytes = () => world.status().devices.find(({ id }) => id === "device-0")?.counters?.bytes ?? 0;
  expect(await sendTen(other)).toEqual(ALL_ACCEPTED);
  await until("the agent has read the whole flood", () => bytes() === 1_050_000);
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

test("311 000 messages from a peer that reads no reply wait on its own connection, and another device gets its ACKs", async () => {
  const { world, port, other } = await twoDevices();
  const message = (id: number) => `\x0bMSH|^~\\&|||||||ORU^R01|${id}|P|2.3\r\x1c\r`;
  flood(port, Array.from({ length: 311_000 }, (_, id) => message(id)).join(""));
  const own = () => world.messages().filter(({ device }) => device === "device-0");
  await until("messages up to the limit are stored", () => own().length > UNFILED_MAX);
  expect(await sendTen(other)).toEqual(ALL_ACCEPTED);
  const waiting = own().filter(({ reason, state }) => state === "pending" && reason === null).length;
  // The limit is exceeded at most by the messages of one chunk.
  expect(waiting).toBeLessThan(UNFILED_MAX + 65_536 / message(0).length);
  await until(
    "the messages of the other device are filed",
    () => world.messages().filter(({ device, state }) => device === "device-1" && state === "filed").length === 10,
  );
});
