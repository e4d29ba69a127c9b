import { expect, test } from "vitest";
import type { PatientResults } from "../../../../server/dashboard/types/patients.ts";
import type { ResultsPage, StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import type { SharingState } from "../../../../server/dashboard/types/results/sharing.ts";
import { studyReport } from "../../../../server/dashboard/report/study-report.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import { listClinics } from "../../../../server/records/clinics/clinics.ts";
import { loadReportContext } from "../../../../server/records/results/report-context.ts";
import {
  isFailure,
  isReleased,
  markText,
  openFailures,
  studyQualityText,
} from "../../../../shared/clinical/control/study-quality.ts";
import { control, pushControls } from "../../../server/controls.ts";
import { connection, importEntities, keyPermissions, patient, startServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";
import { chemistry, measured, resultsClinic } from "../../results-clinic.ts";

// Goal: who reads a study sees that a control failed, in one sentence; nobody shares it before a person released it with a reason.

const noon = Date.parse("2026-11-20T12:00:00.000Z");

interface Refused {
  readonly error: { readonly details: { readonly code: string; readonly values: string[] } };
}

async function startClinic() {
  const names = resultsClinic();
  const server = await startServer(...names.entities);
  const key = await server.makeKey(names.ours, keyPermissions);
  const staff = await makeUser(server, "staff", names.ours);
  const sample = [measured("GLU", 90, "mg/dL"), measured("ALT", 40, "U/L"), measured("CREA", 1, "mg/dL")];
  const filed = chemistry(names.dog, sample);
  const controls = (at: string, z: Readonly<Record<string, number>>) =>
    pushControls(server, key, control(`2026-11-20T${at}:00.000Z`, z));
  await controls("08:00", { GLU: 0, ALT: 0 });
  await controls("09:12", { GLU: 4, ALT: -4 });
  await server.push(key, filed);
  const page = async (user = staff) => (await user.call<StudyPage>("GET", `/results/${filed.fp}`)).body;
  return {
    ...{ ...names, server, key, staff, filed, controls, page },
    release: async (reason: string, seen?: string[], user = staff) => {
      const { quality } = await page(user);
      const body = { reason, seen: seen ?? quality?.marks.filter(isFailure).map(markText) ?? [] };
      return user.call<Refused>("POST", `/results/${filed.fp}/release`, body);
    },
    sharing: async () => (await staff.call<SharingState>("GET", `/results/${filed.fp}/sharing`)).body.refusal,
  };
}

const timeOf = (ms: number) => new Date(ms).toISOString().slice(11, 16);

test("a study after a failed control has one sentence in both languages, and is marked in lists, comparison and trend", async () => {
  const { server, key, staff, dog, filed, page } = await startClinic();
  const { quality, can } = await page();
  expect(can.release).toBe(true);
  expect(studyQualityText(quality!, timeOf, "en")).toBe(
    "GLU, ALT: run after a failed control at 09:12 (1-3s); CREA: no control is known.",
  );
  expect(studyQualityText(quality!, timeOf, "tr")).toBe(
    "GLU, ALT: başarısız bir kontrolden sonra ölçüldü (09:12, 1-3s); CREA: bilinen bir kontrol yok.",
  );
  const list = async () => (await staff.call<ResultsPage>("GET", "/results")).body.items;
  expect((await list()).map(({ fp, control_failed }) => [fp, control_failed])).toEqual([[filed.fp, true]]);
  const trend = (await staff.call<PatientResults>("GET", `/patients/${dog.fp}/results?analyte=GLU`)).body;
  expect(trend.studies.map(({ values }) => values.map(({ text, control_failed }) => [text, control_failed]))).toEqual([
    [["90", true]],
  ]);
  const next = chemistry(dog, [measured("GLU", 95, "mg/dL"), measured("CREA", 1, "mg/dL")], {
    acquired_at: "2026-11-20T11:00:00.000Z",
  });
  await server.push(key, next);
  const later = (await staff.call<StudyPage>("GET", `/results/${next.fp}`)).body;
  expect(later.rows.map(({ before }) => before?.control_failed)).toEqual([true, undefined]);
});

test("a study is not shared until a person releases it with a reason, which page, report and audit have", async () => {
  const { server, ours, staff, filed, page, release, sharing } = await startClinic();
  expect(await sharing()).toEqual({ code: "SHARE.CONTROL", values: ["GLU, ALT"] });
  const link = { revision: 1, language: "en", zone: "UTC", days: 1 };
  const refused = await staff.call<Refused>("POST", `/results/${filed.fp}/links`, link);
  expect([refused.status, refused.body.error.details.code]).toEqual([409, "SHARE.CONTROL"]);
  expect((await release(" ")).status).toBe(400);

  const before = await page();
  expect((await release(" measured again, same value ")).status).toBe(200);
  const { quality, ...after } = await page();
  const { by, reason } = quality?.released ?? {};
  expect([by, reason, isReleased(quality!)]).toEqual([staff.name, "measured again, same value", true]);
  expect([after.revision, after.rows]).toEqual([before.revision, before.rows]);
  expect(await sharing()).toBeNull();
  expect((await staff.call<ResultsPage>("GET", "/results")).body.items[0]).not.toHaveProperty("control_failed");
  const rows = (await listRowsOf(server.store, filed.fp)).filter(({ method }) => method === "COMMAND");
  expect(rows.map(({ route, address }) => [route, address])).toEqual([["study release", staff.name]]);

  const clinicId = (await listClinics(server.store)).find(({ fp }) => fp === ours)?.id ?? 0;
  const printed = await page();
  const asked = { language: "tr", zone: "UTC", clinicId, study: printed, now: noon } as const;
  const text = JSON.stringify(studyReport(printed, await loadReportContext(server.store, asked)));
  expect(text).toContain("GLU, ALT: başarısız bir kontrolden sonra ölçüldü (09:12, 1-3s)");
  expect(text).toContain(`Serbest bırakan: ${staff.name}`);
  expect(text).toContain("measured again, same value");
  const csv = (await staff.call("GET", `/results/${filed.fp}/results.csv?language=en`)).text.split("\r\n");
  expect(csv.slice(0, 4).map((line) => line.split(",").at(-1))).toEqual(["quality", "failed", "failed", "none"]);
});

test("the owner's report keeps a warning from the owner, whom one control in twenty would worry; the vet reads it", async () => {
  const { server, key, dog, staff, ours, controls } = await startClinic();
  await controls("10:30", { GLU: 2.5, ALT: 0 });
  const sample = [measured("GLU", 90, "mg/dL"), measured("ALT", 40, "U/L")];
  const filed = chemistry(dog, sample, { acquired_at: "2026-11-20T11:00:00.000Z" });
  await server.push(key, filed);
  const { body: study } = await staff.call<StudyPage>("GET", `/results/${filed.fp}`);
  expect(studyQualityText(study.quality!, timeOf, "en")).toBe("GLU: a control was a little off at 10:30 (1-2s).");
  const clinicId = (await listClinics(server.store)).find(({ fp }) => fp === ours)?.id ?? 0;
  const asked = { language: "en", zone: "UTC", clinicId, study, now: noon } as const;
  const context = await loadReportContext(server.store, asked);
  expect(JSON.stringify(studyReport(study, context))).not.toMatch(/control|1-2s/);
  const quality = { marks: [...study.quality!.marks, { analyte: "ALT", quality: "none", since: null } as const] };
  const text = JSON.stringify(studyReport({ ...study, quality }, context));
  expect(text).toContain("ALT: no control is known.");
  expect(text).not.toContain("GLU: ");
});

test("a release holds for the failures that the person saw, and for no later one", async () => {
  const { server, key, dog, controls, page, release, sharing } = await startClinic();
  const seen = (await page()).quality?.marks.filter(isFailure).map(markText) ?? [];
  // It came late, and its time is before the one that the person saw.
  await controls("09:00", { GLU: 5 });
  expect((await release("looked at it", seen)).body.error.details.code).toBe("QUALITY.CHANGED");
  expect((await release("looked at it")).status).toBe(200);
  expect(await sharing()).toBeNull();
  await controls("08:30", { ALT: 5 });
  expect(await sharing()).toEqual({ code: "SHARE.CONTROL", values: ["ALT"] });
  // Nothing to release.
  const good = chemistry(dog, [measured("CREA", 1, "mg/dL")]);
  await server.push(key, good);
  expect((await sharing())?.code).toBe("SHARE.CONTROL");
});

test("a control that failed afterwards is remarked and dismissed by the same action, and keeps nothing from the owner", async () => {
  const { server, key, staff, dog, controls } = await startClinic();
  await controls("10:30", { GLU: 0, ALT: 0 });
  const sent = chemistry(dog, [measured("GLU", 90, "mg/dL")], { acquired_at: "2026-11-20T11:00:00.000Z" });
  await server.push(key, sent);
  const read = async () => (await staff.call<StudyPage>("GET", `/results/${sent.fp}`)).body;
  expect((await read()).quality).toEqual({ marks: [] });
  await controls("11:30", { GLU: 5 });
  const { quality } = await read();
  expect(studyQualityText(quality!, timeOf, "en")).toBe("GLU: a control failed afterwards, at 11:30 (1-3s).");
  const state = await staff.call<SharingState>("GET", `/results/${sent.fp}/sharing`);
  expect(state.body.refusal).toBeNull();
  const seen = quality?.marks.map(markText) ?? [];
  await staff.call("POST", `/results/${sent.fp}/release`, { reason: "value fits the animal", seen });
  const dismissed = (await read()).quality;
  expect([openFailures(dismissed!), dismissed?.released?.reason]).toEqual([[], "value fits the animal"]);
  const again = await staff.call<Refused>("POST", `/results/${sent.fp}/release`, { reason: "again", seen: [] });
  expect([again.status, again.body.error.details.code]).toEqual([409, "QUALITY.CHANGED"]);
});

test("another clinic of the animal sees the state and releases nothing", async () => {
  const { server, theirs, dog, filed, page, release } = await startClinic();
  await importEntities(server.store, connection(dog.fp, theirs));
  const other = await makeUser(server, "admin", theirs);
  const seen = await page(other);
  expect([seen.quality?.marks.length, seen.can.release]).toEqual([3, false]);
  const refused = await release("it is fine", undefined, other);
  expect([refused.status, refused.body.error.details.code]).toEqual([409, "STUDY.OTHER_CLINIC"]);
  expect((await page()).quality).not.toHaveProperty("released");
  expect(filed.fp).toBe(seen.fp);
});

test("an imported study gets the marks of the clinic's controls when a person moves it or takes it back", async () => {
  const { server, ours, dog, staff } = await startClinic();
  const other = patient({ name: "Duman" });
  const imported = () => {
    const { fp, modality, device_name, status, acquired_at, results, source } = chemistry(dog, [
      measured("GLU", 90, "mg/dL"),
    ]);
    return {
      ...{ type: "study", fp, patient_fp: dog.fp, modality, device_name, status, acquired_at },
      ...{ results: results.map((result) => ({ ...result, flag: null, reference_range: null })), source },
    };
  };
  const [moved, taken] = [imported(), imported()];
  await importEntities(server.store, other, connection(other.fp, ours), moved, taken);
  const read = async (fp: string) => (await staff.call<StudyPage>("GET", `/results/${fp}`)).body;
  expect((await read(moved.fp)).quality).toBeNull();
  const move = async (fp: string, patient_fp: string | null) =>
    (await staff.call("POST", `/results/${fp}/move`, { revision: 1, patient_fp, reason: "wrong animal" })).status;
  expect([await move(moved.fp, other.fp), await move(taken.fp, null)]).toEqual([200, 200]);
  for (const { fp } of [moved, taken]) expect((await read(fp)).quality?.marks).toMatchObject([{ quality: "failed" }]);
});

test("rules and schedules keep the marks of earlier studies until the next control", async () => {
  const { server, key, ours, dog, controls } = await startClinic();
  const admin = await makeUser(server, "admin", ours);
  const filed = chemistry(dog, [measured("CREA", 1, "mg/dL")], { acquired_at: "2026-11-20T11:00:00.000Z" });
  await controls("10:00", { CREA: 0 });
  await controls("10:30", { CREA: 2.5 });
  await server.push(key, filed);
  const read = async () => (await admin.call<StudyPage>("GET", `/results/${filed.fp}`)).body.quality?.marks;
  const warned = [expect.objectContaining({ quality: "warning", rule: "1-2s" })];
  expect(await read()).toEqual(warned);
  const choice = { "1-2s": "reject" };
  expect((await admin.call("PUT", "/quality/rules", { analyte: "CREA", choice, seen: null })).status).toBe(200);
  expect((await admin.call("PUT", "/quality/schedule", { device_id: "chem-1", every_days: 1 })).status).toBe(200);
  expect(await read()).toEqual(warned);
  await controls("11:30", { CREA: 0 });
  expect(await read()).toEqual([expect.objectContaining({ quality: "failed", rule: "1-2s" })]);
});
