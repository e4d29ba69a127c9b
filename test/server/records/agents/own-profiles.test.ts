import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { saveOwnProfile } from "../../../../server/records/agents/own-profiles.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { clinic, keyPermissions, startServer } from "../../harness.ts";

const savers = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("own_profile")
    .select(["profile", "user_id", "api_key_id"])
    .where("clinic_id", "=", p.clinicId)
    .orderBy("id"),
);

test("a revision names the user who saved it, or the key of the agent that sent it", async () => {
  const ours = newFp("clinic");
  const server = await startServer(clinic(ours));
  const clinicId = (await findClinic(server.store, ours))?.id ?? 0;
  const { id: userId } = await makeUser(server, "admin", ours);
  await server.makeKey(ours, keyPermissions);
  const [{ id: keyId } = { id: 0 }] = await server.store.all(keys, { clinicId });
  const saved = { text: "{}", now: server.clock.now, clinicId };
  await server.store.transaction(async (session) => {
    await saveOwnProfile(session, { ...saved, profile: "own-a@1", by: { userId } });
    await saveOwnProfile(session, { ...saved, profile: "own-b@1", by: { keyId } });
  });
  expect(await server.store.all(savers, { clinicId })).toEqual([
    { profile: "own-a@1", user_id: userId, api_key_id: null },
    { profile: "own-b@1", user_id: null, api_key_id: keyId },
  ]);
});

const keys = query((db, p: { clinicId: number }) =>
  db.selectFrom("api_key").select("id").where("clinic_id", "=", p.clinicId).limit(1),
);
