import { expect, test } from "vitest";
import { study } from "../../harness.ts";
import { dog, ok, world } from "./world.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";

test("the delivery that a push caused is in the trace of the push, in each of its attempts", async () => {
  const { server, receiver, key, drain, clock } = await world();
  const push = async (traceparent: string) => {
    const response = await server.app.inject({
      ...{ method: "POST", url: "/agent/v1/studies", headers: { "x-api-key": key, traceparent } },
      payload: { studies: [study({ patient_fp: dog.fp })] },
    });
    expect(response.json()).toMatchObject({ outcomes: [{ outcome: "filed" }] });
  };
  receiver.answer = (_request, response) => void response.writeHead(500).end();
  await push(`00-${traceId}-${parentId}-01`);
  await drain();
  receiver.answer = ok;
  clock.now += 3_600_000;
  await drain();
  const traces = () => receiver.bodies.map(([, { traceparent }]) => String(traceparent).split("-"));
  const [failed, delivered] = traces();
  expect([failed, delivered]).toEqual([
    ["00", traceId, failed?.[2], "01"],
    ["00", traceId, delivered?.[2], "01"],
  ]);
  expect(new Set([parentId, failed?.[2], delivered?.[2]]).size).toBe(3);

  await push(`00-${"0".repeat(32)}-${parentId}-01`);
  await drain();
  const other = traces()[2]?.[1];
  expect(other).toMatch(/^(?!0{32})[\da-f]{32}$/);
  expect(other).not.toBe(traceId);
});

test("the deliveries of two simultaneous pushes keep the traces apart", async () => {
  const { server, receiver, key, drain } = await world();
  const ids = Array.from({ length: 8 }, (_, index) => `${index + 1}`.repeat(32));
  const fps = await Promise.all(
    ids.map(async (id) => {
      const pushed = study({ patient_fp: dog.fp });
      const headers = { "x-api-key": key, traceparent: `00-${id}-${parentId}-00` };
      const request = { method: "POST", url: "/agent/v1/studies", headers, payload: { studies: [pushed] } } as const;
      // PostgreSQL refuses a push that others overtook again and again. The agent sends it again.
      await expect.poll(async () => (await server.app.inject(request)).statusCode).toBe(200);
      return pushed.fp;
    }),
  );
  await drain();
  const traced = receiver.bodies.map(([body, headers]) => [
    (JSON.parse(body) as { data: { fp: string } }).data.fp,
    String(headers["traceparent"]).replace(/-[\da-f]{16}-/, "-"),
  ]);
  const wanted = fps.map((fp, index) => [fp, `00-${ids[index]}-00`]);
  expect(Object.fromEntries(traced)).toEqual(Object.fromEntries(wanted));
});
