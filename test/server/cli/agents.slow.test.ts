import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { newKey } from "../../../shared/runtime/api-key.ts";
import { makePairingCode, pairAgent } from "../../../server/http/auth/pairing.ts";
import { loadPepper } from "../../../server/http/auth/pepper.ts";
import type { AgentDescription } from "../../../server/records/agents/agents.ts";
import { openStore } from "../../../server/database/open.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { freePort, SERVER, start, until } from "../../support/machine/processes.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { clinic, importEntities, temporaryFolder } from "../harness.ts";
import { patiently } from "../../support/runner/patience.ts";

// Method: the commands run as real processes, from the build, while a server runs.

const fp = newFp("clinic");

async function pairedFolder() {
  const data = temporaryFolder();
  const store = await openStore(data);
  await importEntities(store, clinic(fp));
  const pepper = loadPepper(data, false);
  const now = Date.now();
  const clinicId = (await findClinic(store, fp))?.id ?? 0;
  const admin = await makeUser({ store, app: undefined as never, clock: { now } }, "admin", fp);
  const actor = { by: admin.name, now, userId: admin.id, clinicId };
  const made = await makePairingCode(store, pepper, { clinicId, clinicFp: fp, userId: admin.id, actor });
  const key = newKey();
  await pairAgent(store, pepper, { shown: { code: made?.code ?? "" }, name: "Lab PC", key, address: "10.0.0.7", now });
  await store.close();
  return { data, key };
}

const agents = (...command: string[]) =>
  execFileSync(process.execPath, [SERVER, "agents", ...command], { encoding: "utf8" });

test("agents are listed as text and JSON, and a revoked one is refused by the running server within a second", async () => {
  const { data, key } = await pairedFolder();
  const port = await freePort();
  const server = start(SERVER, ["run", "--port", String(port), "--data", data]);
  try {
    const ranges = async () =>
      (await fetch(`http://127.0.0.1:${port}/agent/v1/ranges`, { headers: { "x-api-key": key } })).status;
    await until("the server runs", () => ranges().catch(() => null));
    expect(await ranges()).toBe(200);
    const [agent] = JSON.parse(agents("list", "--json", "--data", data)) as AgentDescription[];
    const unheard = { last_heartbeat_at: null, version: null, upgrade: null };
    expect(agent).toMatchObject({ clinic_fp: fp, name: "Lab PC", revoked_at: null, ...unheard });
    expect(agents("list", "--clinic", fp, "--data", data)).toMatch(/^agent_.*never heard {2}Lab PC\n$/);
    const upgrade = { to: "0.2.0", state: "rolled back", reason: "it crashed" };
    const beat = await fetch(`http://127.0.0.1:${port}/agent/v1/heartbeat`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ version: "0.1.0", platform: "linux-x64", upgrade }),
    });
    expect([beat.status, await beat.json()]).toEqual([200, {}]);
    expect(agents("list", "--data", data)).toMatch(/ 0\.1\.0 +0\.2\.0 rolled back: it crashed +heard /);
    expect(JSON.parse(agents("list", "--json", "--data", data))).toMatchObject([{ version: "0.1.0", upgrade }]);
    agents("revoke", agent?.fp ?? "", "--data", data);
    await until("the key is refused", async () => (await ranges()) === 401, patiently(1_000));
    expect(agents("list", "--data", data)).toContain("revoked");
    const audit = execFileSync(process.execPath, [SERVER, "audit", "--data", data], { encoding: "utf8" });
    expect(audit).toContain("agents revoke");
    expect(audit).toContain("agents pair");
  } finally {
    await server.end();
  }
  const unknown = spawnSync(process.execPath, [SERVER, "agents", "revoke", newFp("agent"), "--data", data], {
    encoding: "utf8",
  });
  expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining("expected one of agents list")]);
  expect(fs.existsSync(path.join(data, "vetwire.db"))).toBe(true);
});
