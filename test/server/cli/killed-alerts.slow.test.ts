import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readAlertBook, saveNotifications } from "../../../server/store/alerts.ts";
import { openStore } from "../../../server/store/database/open.ts";
import { findClinic } from "../../../server/store/keys.ts";
import { newWebhookSecret } from "../../../shared/webhook/sign.ts";
import { CLINIC, freePort, runServerCommand, SERVER, start, temporaryFolder, until } from "../../support/processes.ts";

// Goal: a server that is killed between storing and sending loses no alert, and opens none twice. Method: a receiver that never
// answers, SIGKILL, and a second process. Its first attempt is repeated when the time of the one before is over.

test("a server that is killed while it tells of an alert tells again under the same id, and opens it once", async () => {
  const data = temporaryFolder();
  onTestFinished(() => fs.rmSync(data, { recursive: true, force: true }));
  const file = path.join(data, "import.ndjson");
  fs.writeFileSync(file, JSON.stringify({ type: "clinic", fp: CLINIC, name: "A clinic" }));
  runServerCommand("import", file, "--data", data);
  // A key that ends within 14 days is an alert at once.
  const wanted = ["--name", "reception", "--permissions", "clinic.lab.ingest", "--expires", "10d"];
  runServerCommand("keys", "create", "--clinic", CLINIC, ...wanted, "--data", data);

  const hook = { ids: [] as string[], isSilent: true };
  const receiver = http.createServer((request, response) => {
    hook.ids.push(String(request.headers["webhook-id"]));
    request.resume();
    if (!hook.isSilent) response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const inStore = async <T>(work: (store: Awaited<ReturnType<typeof openStore>>, clinicId: number) => Promise<T>) => {
    const store = await openStore(data);
    try {
      return await work(store, (await findClinic(store, CLINIC))?.id ?? 0);
    } finally {
      await store.close();
    }
  };
  await inStore((store, clinicId) =>
    store.transaction((session) => {
      const receivers = [{ id: "hook", type: "webhook" as const, target, secret: newWebhookSecret() }];
      return saveNotifications(session, clinicId, { quiet: null, receivers }, Date.now());
    }),
  );

  const run = async () => {
    const options = ["run", "--port", String(await freePort()), "--data", data, "--allow-private-webhooks"];
    const server = start(SERVER, options);
    onTestFinished(() => void server.end("SIGKILL"));
    return server;
  };
  const first = await run();
  await until("the server waits for the receiver", () => hook.ids.length === 1, 60_000);
  await first.end("SIGKILL");
  hook.isSilent = false;
  const second = await run();
  await until("the receiver is told again", () => second.output().includes("people were told of alerts"), 120_000);
  await second.end();
  expect(hook.ids).toHaveLength(2);
  expect(new Set(hook.ids).size).toBe(1);
  const book = await inStore(readAlertBook);
  expect(book).toMatchObject({ open: [{ kind: "key-ends", subject: "reception" }], messages: [] });
}, 240_000);
