import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, startServer, study } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";

const [own, other] = [newFp("clinic"), newFp("clinic")];

async function listen() {
  const server = await startServer(clinic(own), clinic(other));
  await server.app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = server.app.server.address() as AddressInfo;
  const { cookie } = await makeUser(server, "reader", own);
  const open = (fp: string) =>
    fetch(`http://127.0.0.1:${port}/clinic/v1/clinics/${fp}/events`, { headers: { cookie } });
  return { ...server, open };
}

/** Reads a stream. `until` resolves when the rest holds the text, and drops all up to it: two events may come in one part. */
function reader(response: Response) {
  const stream = response.body?.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  return {
    async until(text: string): Promise<void> {
      while (!rest.includes(text)) {
        const { done, value } = (await stream?.read()) ?? { done: true, value: undefined };
        if (done) throw new Error(`the stream ended with ${JSON.stringify(rest)}, expected ${text}`);
        rest += decoder.decode(value as Uint8Array);
      }
      rest = rest.slice(rest.indexOf(text) + text.length);
    },
  };
}

test("an open page is notified once that it may have missed a change, and then of each pushed study", async () => {
  const server = await listen();
  const response = await server.open(own);
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const stream = reader(response);
  await stream.until("event: ready");
  await stream.until("event: changed");
  const key = await server.makeKey(own, ["clinic.lab.ingest"]);
  for (let count = 0; count < 2; count += 1) {
    await server.push(key, study());
    await stream.until("event: changed");
  }
});

test("a page gets no news of a clinic that its user does not belong to", async () => {
  const { open } = await listen();
  expect((await open(other)).status).toBe(404);
});

test("closing the server ends the streams of open pages", async () => {
  const { open, app } = await listen();
  const response = await open(own);
  const stream = reader(response);
  await stream.until("event: ready");
  const [read] = await Promise.allSettled([stream.until("never"), app.close()]);
  expect(read).toMatchObject({
    status: "rejected",
    reason: { message: expect.stringContaining("the stream ended") as string },
  });
});
