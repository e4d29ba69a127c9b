import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createKey } from "../../../../server/http/auth/api-keys.ts";
import { loadPepper } from "../../../../server/http/auth/pepper.ts";
import { openStore } from "../../../../server/database/open.ts";
import { listDeliveries } from "../../../../server/records/webhooks/webhooks.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  clinic,
  connection,
  connectTo,
  importEntities,
  keyPermissions,
  noon,
  patient,
  study,
  temporaryFolder,
} from "../../harness.ts";
import { startBuiltServer } from "../../started-server.ts";
import { addWebhook } from "../../webhooks.ts";

// Method: a real server from the build is killed with SIGKILL by its own receiver, and started again.

const own = newFp("clinic");
const dog = patient();

async function makeClinic(url: string) {
  const folder = temporaryFolder();
  const store = await openStore(folder);
  await importEntities(store, clinic(own), dog, connection(dog.fp, own));
  const { clinicId } = await addWebhook(store, own, { url, types: ["study.filed"] });
  const wanted = { clinicId, name: "test", type: "device" as const, permissions: keyPermissions, expiresAt: null };
  const key = await createKey(store, loadPepper(folder, false), { ...wanted, now: noon });
  await store.close();
  return { folder, key };
}

test.each(["before the answer", "after the answer"])(
  "a server that is killed %s loses no event, and its log has every request that the receiver got",
  async (moment) => {
    const got: { id: string; fp: string }[] = [];
    let running: ChildProcess | undefined;
    const receiver = http.createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { data } = JSON.parse(body) as { data: { fp: string } };
        got.push({ id: String(request.headers["webhook-id"]), fp: data.fp });
        const isFatal = got.length === 2;
        if (isFatal && moment === "before the answer") running?.kill("SIGKILL");
        response.writeHead(204).end(() => {
          if (isFatal) running?.kill("SIGKILL");
        });
      });
    });
    await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void receiver.close());
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const { folder, key } = await makeClinic(url);

    const first = await startBuiltServer(folder);
    running = first.child;
    const ended = once(first.child, "close");
    const studies = Array.from({ length: 8 }, () => study({ patient_fp: dog.fp }));
    const pushed = await fetch(`${first.address}/agent/v1/studies`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ studies }),
    }).catch(() => null);
    // The kill may cut the response off: the studies are stored before their webhooks go.
    expect(pushed?.status ?? 200).toBe(200);
    await ended;

    // The lease of the killed server ends.
    const database = await connectTo(folder);
    await database.run("update webhook_delivery set next_at = 0 where state = 'sending'");
    await database.close();
    running = undefined;
    const second = await startBuiltServer(folder);
    const fps = studies.map(({ fp }) => fp).toSorted();
    const store = await openStore(folder);
    const log = async () =>
      (await listDeliveries(store, { clinicId: 1, id: `wh_${own}`, page: 1, pageSize: 100 })).deliveries;
    const isDone = async () => (await log()).every(({ state }) => state === "delivered");
    await expect.poll(isDone).toBe(true);
    second.child.kill("SIGTERM");
    await once(second.child, "close");

    const deliveries = await log();
    expect(deliveries.map(({ fp }) => fp).toSorted()).toEqual(fps);
    expect([...new Set(got.map(({ fp }) => fp))].toSorted()).toEqual(fps);
    // A repeat has the id of its first message.
    expect(new Set(got.map(({ id }) => id)).size).toBe(fps.length);
    // A killed server may have stored an attempt whose request never left.
    for (const { fp, attempts } of deliveries) {
      const requests = got.filter((one) => one.fp === fp).length;
      expect(requests).toBeGreaterThan(0);
      expect(attempts.length).toBeGreaterThanOrEqual(requests);
      expect(attempts.length - requests).toBeLessThanOrEqual(1);
      expect(attempts.filter(({ status }) => status === 204)).toHaveLength(1);
    }
    await store.close();
  },
);
