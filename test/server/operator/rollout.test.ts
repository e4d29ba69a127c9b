import { expect, test } from "vitest";
import type { BegunRollouts, HostedClinics, OperatorAudit } from "../../../server/dashboard/types/operator.ts";
import { addRelease } from "../../../server/operations/release-folder.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { makeOperator, makeUser } from "../../dashboard/harness.ts";
import { ReleaseKey } from "../../support/releases/signed-release.ts";
import { clinic, startServer, temporaryFolder } from "../harness.ts";

// The roll-out over clinics: some at a time, in each from PC to PC by the answers to heartbeats.

test("a roll-out begins in as many clinics as asked for, and stops in all", async () => {
  const clinics = [newFp("clinic"), newFp("clinic"), newFp("clinic")];
  const server = await startServer(clinics.map((fp) => clinic(fp)));
  const operator = await makeOperator(server);
  const keys = await Promise.all(
    clinics.map((fp) => server.makeFreshKey(fp, ["clinic.lab.ingest"], { type: "device" })),
  );
  /** Sends a heartbeat of each PC. @returns how many install the version */
  const beat = async () => {
    const answers = await Promise.all(
      keys.map((key) =>
        server.app.inject({
          ...{ method: "POST", url: "/agent/v1/heartbeat", headers: { "x-api-key": key } },
          payload: { version: "0.1.0", platform: "linux-x64" },
        }),
      ),
    );
    return answers.filter((answer) => answer.json<{ upgrade?: { version: string } }>().upgrade?.version === "0.2.0")
      .length;
  };
  const begin = (count: number) =>
    operator.call<BegunRollouts>("POST", "/rollout", { version: "0.2.0", clinics: count });
  const sums = async () => (await operator.call<HostedClinics>("GET", "/clinics")).body.sums;
  expect(await beat()).toBe(0);
  expect((await begin(2)).text).toContain("UPDATE.OTHER_VERSION");
  const signer = new ReleaseKey();
  const release = signer.write(temporaryFolder(), { version: "0.2.0", platform: "linux-x64" });
  await addRelease(server.releaseFolder, release, signer.publicKey);
  expect(await sums()).toMatchObject({ newest_version: "0.2.0", behind: 3, updating: 0 });
  expect(await begin(2)).toMatchObject({ status: 200, body: { clinics: 2 } });
  expect(await beat()).toBe(2);
  expect(await sums()).toMatchObject({ behind: 3, updating: 2, states: { behind: 3 } });
  expect((await begin(2)).body).toEqual({ clinics: 1 });
  expect((await begin(2)).text).toContain("UPDATE.NOTHING");
  expect((await operator.call<BegunRollouts>("POST", "/rollout/stop", {})).body).toEqual({ clinics: 3 });
  expect(await sums()).toMatchObject({ updating: 0 });
  const { commands } = (await operator.call<OperatorAudit>("GET", "/audit")).body;
  expect(commands.map(({ command }) => command)).toEqual([
    ...Array<string>(3).fill("clinics update: stopped"),
    ...Array<string>(3).fill("clinics update to 0.2.0"),
  ]);
  expect(new Set(commands.map((each) => each.clinic))).toEqual(new Set(clinics));
  const admin = await makeUser(server, "admin", clinics[0] ?? "");
  const { entries } = (await admin.call<{ entries: object[] }>("GET", "/audit?text=agents")).body;
  expect(entries).toContainEqual(expect.objectContaining({ route: "agents update to 0.2.0", user: operator.name }));
});

test("two operators who begin at the same moment begin each clinic once", async () => {
  const clinics = Array.from({ length: 4 }, () => newFp("clinic"));
  const server = await startServer(clinics.map((fp) => clinic(fp)));
  const [one, other] = [await makeOperator(server), await makeOperator(server)];
  for (const fp of clinics) {
    const key = await server.makeFreshKey(fp, ["clinic.lab.ingest"], { type: "device" });
    const payload = { version: "0.1.0", platform: "linux-x64" };
    await server.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers: { "x-api-key": key }, payload });
  }
  const signer = new ReleaseKey();
  const release = signer.write(temporaryFolder(), { version: "0.2.0", platform: "linux-x64" });
  await addRelease(server.releaseFolder, release, signer.publicKey);
  const begin = (operator: typeof one) =>
    operator.call<BegunRollouts>("POST", "/rollout", { version: "0.2.0", clinics: 4 });
  const both = await Promise.all([begin(one), begin(other)]);
  expect(both.reduce((sum, { body }) => sum + (body.clinics ?? 0), 0)).toBe(4);
});
