import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import type { PairingCode } from "../../../shared/dashboard/devices.ts";
import { listAgents } from "../../../server/store/agents/agents.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { clinic, startServer, temporaryFolder } from "../../server/harness.ts";
import { ACTIVE_KEYS_MAX } from "../../../server/http/auth/api-keys.ts";
import { listKeys, findClinic } from "../../../server/store/keys.ts";
import { AGENT, until } from "../../support/processes.ts";

// Method: `agent pair` runs from the build as a real process. Each round kills it 8 ms later than the last one, from
// its first trace on the disk on. The same command then ends the pairing.

const ROUNDS = 20;

test(`a pairing that is killed ${ROUNDS} times leaves no key file or a working one, and the same code ends it`, async () => {
  expect(ROUNDS).toBeLessThan(ACTIVE_KEYS_MAX);
  const fp = newFp("clinic");
  const server = await startServer(clinic(fp));
  await server.app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`;
  const admin = await makeUser(server, "admin", fp);
  const works = async (key: string) => (await server.get(key, "/agent/v1/ranges")).status === 200;
  const start = (code: string, keyFile: string) =>
    spawn(process.execPath, [AGENT, "pair", "--server", url, "--code", code, "--key-file", keyFile], {
      stdio: "ignore",
    });

  const found = { nothing: 0, draft: 0, key: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const { body } = await admin.call<PairingCode>("POST", "/pairing-code", {});
    // One address has 20 tries in 15 minutes, and a round takes up to two.
    server.clock.now += 120_000;
    const folder = temporaryFolder();
    const keyFile = path.join(folder, "agent.key");
    const child = start(body.code, keyFile);
    const ended = once(child, "exit");
    // The draft precedes the request; the rest of the pairing takes some milliseconds.
    await until("the draft", () => child.exitCode !== null || fs.readdirSync(folder).length > 0, 20_000, 1);
    await sleep(round * 8);
    child.kill("SIGKILL");
    await ended;
    const left = fs.readdirSync(folder);
    const hasKey = left.includes("agent.key");
    found[hasKey ? "key" : left.length === 0 ? "nothing" : "draft"] += 1;
    expect(!hasKey || (await works(fs.readFileSync(keyFile, "utf8").trim()))).toBe(true);
    const [exit] = (await once(start(body.code, keyFile), "exit")) as [number | null];
    // A pairing that ended before the kill used the code up, and its key stays.
    expect(hasKey ? [0, 1] : [0]).toContain(exit);
    expect(await works(fs.readFileSync(keyFile, "utf8").trim())).toBe(true);
    expect(fs.readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
  }
  process.stderr.write(`killed pairings left: ${JSON.stringify(found)}\n`);
  const clinicId = (await findClinic(server.store, fp))?.id ?? 0;
  expect(await listKeys(server.store, clinicId)).toHaveLength(ROUNDS);
  expect(await listAgents(server.store)).toHaveLength(ROUNDS);
}, 180_000);
