import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { openStore } from "../../../../server/database/open.ts";
import { query } from "../../../../server/database/query.ts";
import { createKey } from "../../../../server/http/auth/api-keys.ts";
import { loadPepper } from "../../../../server/http/auth/pepper.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { insertDestination } from "../../../../server/records/destinations/destinations.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { fieldOf, startReceiver } from "../../hl7-receiver.ts";
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

// Method: a real server from the build is killed with SIGKILL by its own receiver, and started again.

const states = query((db) => db.selectFrom("destination_delivery").select("state"));

const own = newFp("clinic");
const dog = patient();

async function makeClinic(address: string) {
  const folder = temporaryFolder();
  const store = await openStore(folder);
  await importEntities(store, clinic(own), dog, connection(dog.fp, own));
  const clinicId = (await findClinic(store, own))?.id ?? 0;
  const destination = { clinicId, agentId: null, slug: "PIMS", kind: "hl7", address, options: "{}", now: 0 } as const;
  await store.transaction((session) => insertDestination(session, destination));
  const wanted = { clinicId, name: "test", type: "device" as const, permissions: keyPermissions, expiresAt: null };
  const key = await createKey(store, loadPepper(folder, false), { ...wanted, now: noon });
  await store.close();
  return { folder, key };
}

test.each(["before", "after"])(
  "a server that is killed %s the acknowledgement sends every result in order, and the one in flight again with its bytes",
  async (moment) => {
    let running: ChildProcess | undefined;
    const receiver = await startReceiver((index) => {
      if (index !== 1) return "AA";
      if (moment === "before") {
        running?.kill("SIGKILL");
        return "silence";
      }
      setImmediate(() => running?.kill("SIGKILL"));
      return "AA";
    });
    const { folder, key } = await makeClinic(receiver.address);
    const first = await startBuiltServer(folder);
    running = first.child;
    const ended = once(first.child, "close");
    const studies = Array.from({ length: 4 }, () => study({ patient_fp: dog.fp }));
    const pushed = await fetch(`${first.address}/agent/v1/studies`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ studies }),
    }).catch(() => null);
    // The kill may cut the response off: the studies are stored before their messages go.
    expect(pushed?.status ?? 200).toBe(200);
    await ended;

    // The lease of the killed server ends.
    const database = await connectTo(folder);
    await database.run("update destination_delivery set next_at = 0 where state = 'sending'");
    await database.close();
    running = undefined;
    const second = await startBuiltServer(folder);
    const fps = studies.map(({ fp }) => `${fp}^VETWIRE`);
    const got = () => receiver.messages.map((message) => fieldOf(message, "OBR", 3));
    const store = await openStore(folder);
    const isDone = async () => (await store.all(states, {})).every(({ state }) => state === "acknowledged");
    await expect.poll(isDone).toBe(true);
    second.child.kill("SIGTERM");
    await once(second.child, "close");

    // The second one comes twice unless its acknowledgement was stored.
    const isRepeated = got().length === 5;
    expect(got()).toEqual(isRepeated ? [fps[0], fps[1], ...fps.slice(1)] : fps);
    expect(isRepeated || moment === "after").toBe(true);
    expect(new Set(receiver.messages).size).toBe(fps.length);
    const rows = await store.all(states, {});
    await store.close();
    expect(rows.map(({ state }) => state)).toEqual(fps.map(() => "acknowledged"));
  },
);
