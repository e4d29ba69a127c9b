import net from "node:net";
import { expect, test } from "vitest";
import { listenTransport } from "../../../agent/transport/tcp.ts";
import { freePort } from "../../support/machine/processes.ts";

test("a listener that is closed while its address is looked up leaves the port free", async () => {
  const port = await freePort();
  const transport = listenTransport({ host: "127.0.0.1", port }, []);
  transport.open(
    () => ({ chunk: () => undefined, closed: () => undefined }),
    () => undefined,
  );
  await transport.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const socket = net.connect(port, "127.0.0.1");
  const outcome = await new Promise((resolve) => socket.once("connect", () => resolve("open")).once("error", resolve));
  socket.destroy();
  expect(outcome).toMatchObject({ code: "ECONNREFUSED" });
});
