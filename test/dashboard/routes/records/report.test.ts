import { crc32, deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import type { StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import { listClinics } from "../../../../server/records/clinics/clinics.ts";
import { ownerId, storeOwnerFacts } from "../../../../server/records/registry/owners.ts";
import { loadReportContext } from "../../../../server/records/results/report-context.ts";
import { importEntities, keyPermissions, patient, startServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";
import { chemistry, resultsClinic } from "../../results-clinic.ts";

const redPixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

function pngChunk(name: string, data: Buffer): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  const named = Buffer.concat([Buffer.from(name), data]);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

async function startReports() {
  const names = resultsClinic();
  const server = await startServer(...names.entities);
  const user = await makeUser(server, "admin", names.ours);
  const filed = chemistry(names.dog);
  const key = await server.makeKey(names.ours, [...keyPermissions, "clinic.lab.view"]);
  await server.push(key, filed);
  const read = async () => (await user.call<StudyPage>("GET", `/results/${filed.fp}`)).body;
  return { ...names, server, user, filed, key, read };
}

test("a remark has its author, is edited and removed, and a second tab does not overwrite it", async () => {
  const { user, filed, read, server, key } = await startReports();
  const url = `/results/${filed.fp}/remark`;
  const write = async (text: string, seen: string | null) => (await user.call("PUT", url, { text, seen })).status;
  expect(await write(" Bol su verin. ", null)).toBe(200);
  const { remark } = await read();
  expect(remark).toMatchObject({ text: "Bol su verin.", by: expect.any(String) });
  expect(await write("other", null)).toBe(409);
  expect(await write("Yarın arayın.", remark!.at)).toBe(200);
  const second = (await read()).remark;
  expect(second?.text).toBe("Yarın arayın.");
  const api = await server.app.inject({
    url: `/api/v1/lab/diagnostics/${filed.fp}`,
    headers: { authorization: `Bearer ${key}` },
  });
  expect([api.statusCode, api.body.includes("Yarın")]).toEqual([200, false]);
  expect(await write("", second!.at)).toBe(200);
  expect((await read()).remark).toBeNull();
  const events = (await listRowsOf(server.store, filed.fp)).filter(({ method }) => method === "COMMAND");
  expect(events.map(({ route }) => route)).toEqual(["remark written", "remark written", "remark removed"]);
});

test("a remark on one animal is not shown for the animal that the study moves to", async () => {
  const { ours, user, filed, read, server } = await startReports();
  await user.call("PUT", `/results/${filed.fp}/remark`, { text: "For Karabaş.", seen: null });
  const other = patient({ name: "Boncuk" });
  await importEntities(server.store, other, {
    ...{ type: "connection", patient_fp: other.fp, clinic_fp: ours, active: true },
  });
  await user.call("POST", `/results/${filed.fp}/move`, { revision: 1, patient_fp: other.fp, reason: "mixed up" });
  expect([(await read()).patient?.name, (await read()).remark]).toEqual(["Boncuk", null]);
});

test("the head of the report keeps its logo, and refuses what is not a complete picture", async () => {
  const { ours, user, server, read } = await startReports();
  const put = async (logo?: string | null) =>
    (await user.call("PUT", "/settings/report", { address: "Örnek Cad. 1", phone: "0216", logo })).status;
  const cut = Buffer.from(redPixel, "base64").subarray(0, 50).toString("base64");
  const broken = Buffer.from(redPixel, "base64");
  broken.fill(0, 43, 50);
  // Complete, but its row has a filter that no decoder knows.
  const head = Buffer.from(redPixel, "base64").subarray(0, 33);
  const rows = deflateSync(Buffer.from([9, 255, 0, 0, 255]));
  const filtered = Buffer.concat([head, pngChunk("IDAT", rows), pngChunk("IEND", Buffer.alloc(0))]);
  expect([
    await put(redPixel),
    await put(cut),
    await put(broken.toString("base64")),
    await put(filtered.toString("base64")),
    await put(btoa("GIF89a")),
  ]).toEqual([...[200, 409, 409, 409, 409]]);
  expect(await put()).toBe(200);
  const clinicId = (await listClinics(server.store)).find(({ fp }) => fp === ours)!.id;
  const study = await read();
  const context = await loadReportContext(server.store, { language: "tr", zone: "UTC", clinicId, study, now: 0 });
  expect(context).toMatchObject({ address: "Örnek Cad. 1", phone: "0216", logo: `data:image/png;base64,${redPixel}` });
  expect((await user.call("PUT", "/settings/report", { phone: "0212" })).status).toBe(200);
  const stored = { address: "Örnek Cad. 1", phone: "0212", has_logo: true };
  expect((await user.call("GET", "/settings/report")).body).toEqual(stored);
  expect((await user.call("PUT", "/settings/report", { address: "Yeni Cad. 2" })).status).toBe(200);
  expect((await user.call("GET", "/settings/report")).body).toEqual({ ...stored, address: "Yeni Cad. 2" });
  expect(await put(null)).toBe(200);
  expect((await user.call("GET", "/settings/report")).body).toMatchObject({ has_logo: false });
});

test("the report names the owner to the clinic that lists the animal, and to no other", async () => {
  const { ours, theirs, dog, server, read } = await startReports();
  await server.store.transaction(async (session) => {
    const id = await ownerId(session, dog.owner_customer_fp);
    await storeOwnerFacts(session, id, { name: "Elif Örnek", phone: "0555" }, { batch: null });
  });
  const [study, clinics] = [await read(), await listClinics(server.store)];
  const ownerFor = async (clinic: string) => {
    const clinicId = clinics.find(({ fp }) => fp === clinic)!.id;
    return (await loadReportContext(server.store, { language: "tr", zone: "UTC", clinicId, study, now: 0 })).owner;
  };
  expect(await ownerFor(ours)).toEqual({ name: "Elif Örnek", phone: "0555" });
  expect(await ownerFor(theirs)).toBeNull();
});
