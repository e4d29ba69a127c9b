import { expect, test } from "vitest";
import type { HostedClinics, OperatorAudit } from "../../../server/dashboard/types/operator.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { makeOperator, makeUser } from "../../dashboard/harness.ts";
import { clinic, startServer } from "../harness.ts";

const ours = newFp("clinic");

test("an operator announces to all clinics in two languages until a time, and the operators' audit has it", async () => {
  const server = await startServer(clinic(ours));
  const [operator, reader] = [await makeOperator(server), await makeUser(server, "reader", ours)];
  const at = (hours: number) => new Date(server.clock.now + hours * 3_600_000).toISOString();
  const texts = { english: "Closed tonight", turkish: "Bu gece kapalı" };
  const notice = async () => (await reader.call<{ notice: unknown }>("GET", "/menu")).body.notice;
  const announce = (from: string, until: string) => operator.call("PUT", "/announcement", { ...texts, from, until });
  expect(await notice()).toBeNull();
  expect((await announce(at(2), at(1))).status).toBe(409);
  expect((await announce(at(-2), at(-1))).status).toBe(409);
  expect((await announce(at(1), "2026-99-01T00:00:00.000Z")).status).toBe(400);
  expect((await announce("2026-02-30T00:00:00.000Z", at(1))).status).toBe(400);
  expect(
    (await operator.call("PUT", "/announcement", { ...texts, turkish: " ", from: at(1), until: at(2) })).status,
  ).toBe(400);
  const until = at(2);
  expect((await announce(at(1), until)).status).toBe(200);
  expect((await operator.call<HostedClinics>("GET", "/clinics")).body.announcement).toMatchObject(texts);
  expect(await notice()).toBeNull();
  server.clock.now += 3_600_000;
  expect(await notice()).toEqual({ id: expect.any(String), en: texts.english, tr: texts.turkish });
  server.clock.now += 3_600_000;
  expect(await notice()).toBeNull();
  await announce(at(0), at(1));
  expect(await notice()).toMatchObject({ en: texts.english });
  expect((await operator.call("DELETE", "/announcement")).status).toBe(200);
  expect(await notice()).toBeNull();
  expect((await operator.call<OperatorAudit>("GET", "/audit")).body.commands).toMatchObject([
    { command: "clinics announce: ended", clinic: "clinic_all", by: operator.name },
    { command: expect.stringContaining("Closed tonight") },
    { command: `clinics announce until ${until}: Closed tonight` },
  ]);
});
