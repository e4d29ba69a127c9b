import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { PROFILE_CHARS_MAX } from "../../../shared/api/configuration.ts";
import { listOwnProfiles, OWN_PROFILES_MAX, profilesNamed } from "../../../server/records/agents/own-profiles.ts";
import { clinic, startServer } from "../harness.ts";

// Goal: a profile that was made on one PC reaches the clinic's other PCs with its revision and hash, and a revision never changes.

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const textOf = (revision: number, more = "") => `schema: 1\nprofile: own/acme-x1\nrevision: ${revision}\n${more}`;
const sentBy = (revision: number, more = "") => {
  const text = textOf(revision, more);
  return { profile: `own/acme-x1@${revision}`, sha256: hashOf(text), text };
};

async function started() {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const server = await startServer(clinic(ours), clinic(theirs));
  const keys = await Promise.all([ours, theirs].map((fp) => server.makeKey(fp, ["clinic.lab.ingest"])));
  const send = async (payload: object, key = keys[0]) => {
    const headers = { "x-api-key": key ?? "" };
    const response = await server.app.inject({ method: "POST", url: "/agent/v1/profiles", headers, payload });
    return response.statusCode === 200 ? (response.json() as object) : response.statusCode;
  };
  return { server, send, keys };
}

const ID = 1;

test("a sent profile is kept with its revision and hash, for the devices of the clinic's PCs alone", async () => {
  const { server, send, keys } = await started();
  expect(await send(sentBy(1))).toEqual({ outcome: "stored", code: null });
  const named = await profilesNamed(server.store, "- { id: a, profile: own/acme-x1@1 }", ID);
  expect(named).toMatchObject([sentBy(1)]);
  expect(await profilesNamed(server.store, "own/acme-x1@1", ID + 1)).toEqual([]);
  // The other clinic has revisions of its own.
  expect(await send(sentBy(1, "# theirs\n"), keys[1])).toEqual({ outcome: "stored", code: null });
  expect(await profilesNamed(server.store, "own/acme-x1@1", ID)).toMatchObject([sentBy(1)]);
});

test("the same text again changes nothing; another one under a known revision is refused with its code", async () => {
  const { server, send } = await started();
  await send(sentBy(1));
  const before = await listOwnProfiles(server.store, ID);
  expect(await send(sentBy(1))).toEqual({ outcome: "known", code: null });
  expect(await send(sentBy(1, "# other\n"))).toEqual({ outcome: "refused", code: "PROFILE.STORED" });
  expect(await listOwnProfiles(server.store, ID)).toEqual(before);
  expect(await send(sentBy(2, "# other\n"))).toEqual({ outcome: "stored", code: null });
});

test("form, hash, name and size are checked", async () => {
  const { server, send } = await started();
  const { text, ...named } = sentBy(1);
  expect(await send(named)).toBe(400);
  expect(await send({ ...named, text: `${text}#` })).toEqual({ outcome: "refused", code: "PROFILE.HASH" });
  expect(await send({ ...sentBy(2), profile: "own/acme-x1@1" })).toEqual({
    outcome: "refused",
    code: "PROFILE.NAMELESS",
  });
  expect(await send({ ...named, profile: "generic-hl7@1", text })).toBe(400);
  // PostgreSQL stores no NUL, and half a pair comes back as another text.
  for (const odd of ["#\0\n", "#\ud800\n"]) expect([odd, await send(sentBy(1, odd))]).toEqual([odd, 400]);
  expect(await send(sentBy(1, "#".repeat(PROFILE_CHARS_MAX)))).toBe(400);
  expect(await listOwnProfiles(server.store, ID)).toEqual([]);
  for (let revision = 1; revision <= OWN_PROFILES_MAX; revision += 1) await send(sentBy(revision));
  expect(await send(sentBy(OWN_PROFILES_MAX + 1))).toEqual({ outcome: "refused", code: "PROFILE.TOO_MANY" });
  // A full list knows what it has.
  expect(await send(sentBy(3))).toEqual({ outcome: "known", code: null });
});
