import { once } from "node:events";
import { copyFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../server/database/open.ts";
import { query } from "../../../server/database/query.ts";
import { createKey } from "../../../server/http/auth/api-keys.ts";
import { loadPepper } from "../../../server/http/auth/pepper.ts";
import { newWebhookSecret } from "../../../server/operations/webhooks/sign.ts";
import { storeHeartbeat } from "../../../server/records/agents/heartbeats.ts";
import { saveNotifications } from "../../../server/records/alerts/alerts.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { Heartbeat } from "../../../shared/api/study.ts";
import { Postgres, postgresProblem } from "../../support/machine/postgres.ts";
import { clinic, importEntities, keyPermissions, temporaryFolder } from "../harness.ts";
import { startBuiltServer } from "../started-server.ts";
import { patiently } from "../../support/runner/patience.ts";

// Method: two real servers from the build on one PostgreSQL. The one that watches the alerts is killed with SIGKILL.

const holder = query((db) => db.selectFrom("lease").select("holder"));
const keys = query((db) => db.selectFrom("api_key").select("id"));
const noPostgres = postgresProblem();
if (noPostgres !== null) process.stderr.write(`no leader is killed: ${noPostgres}\n`);

test.skipIf(noPostgres !== null)(
  "after a SIGKILL of the server that watches, the other one does: no alert is lost or sent twice",
  async () => {
    const cluster = await Postgres.start();
    onTestFinished(() => cluster.end());
    const received: string[] = [];
    const receiver = http.createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { type, data } = JSON.parse(body) as { type: string; data: { kind: string } };
        received.push(`${type} ${data.kind}`);
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void receiver.close());

    const own = newFp("clinic");
    const [folder, other] = [temporaryFolder(), temporaryFolder()];
    const store = await openStore(cluster.url());
    onTestFinished(() => store.close());
    await importEntities(store, clinic(own), clinic(newFp("clinic")));
    const clinicId = (await findClinic(store, own))?.id ?? 0;
    const pepper = loadPepper(folder, false);
    const wanted = { clinicId, name: "pc", type: "device" as const, permissions: keyPermissions, expiresAt: null };
    await createKey(store, pepper, { ...wanted, now: Date.now() });
    const keyId = (await store.first(keys, {}))?.id ?? 0;
    copyFileSync(join(folder, "pepper"), join(other, "pepper"));
    const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const hook = { id: "hook", type: "webhook" as const, target, secret: newWebhookSecret() };
    const beat = async (heartbeat: Heartbeat) =>
      store.transaction((session) => storeHeartbeat(session, clinicId, keyId, heartbeat, Date.now()));
    await store.transaction((session) =>
      saveNotifications(session, clinicId, { quiet: null, receivers: [hook] }, Date.now()),
    );
    const full: Heartbeat = { disk: { free_bytes: 1, problem: null } };
    await beat(full);

    const env = { DATABASE_URL: cluster.url() };
    const leader = await startBuiltServer(folder, env);
    await expect.poll(() => received).toEqual(["alert.opened disk-full"]);
    const follower = await startBuiltServer(other, env);
    const [before] = await store.all(holder, {});
    const ended = once(leader.child, "close");
    leader.child.kill("SIGKILL");
    await ended;

    const backup = { at: new Date().toISOString(), succeeded_at: null, bytes: null, error: "The disk is full." };
    await beat({ ...full, backup });
    await expect.poll(() => received, { timeout: patiently(90_000) }).toContain("alert.opened backup-failed");
    const [after] = await store.all(holder, {});
    expect(after?.holder).not.toBe(before?.holder);
    follower.child.kill("SIGTERM");
    await once(follower.child, "close");
    expect(await store.all(holder, {})).toEqual([{ holder: "" }]);
    expect(received).toEqual(["alert.opened disk-full", "alert.opened backup-failed"]);
  },
  patiently(240_000),
);
