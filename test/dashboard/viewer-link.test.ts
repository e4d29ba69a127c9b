import { expect, test } from "vitest";
import { VIEWER_PRESETS, viewerFault, viewerLink } from "../../server/dashboard/types/results/viewer-link.ts";
import { newFp } from "../../shared/api/fp.ts";
import { clinic, startServer } from "../server/harness.ts";
import { makeUser, type Refused } from "./harness.ts";

const UID = "{study_instance_uid}";

test("the preset of each viewer makes the link that the viewer documents", () => {
  const links = Object.values(VIEWER_PRESETS).map((preset) => viewerLink(preset, "1.2.840.7"));
  expect(links).toEqual([
    "https://pacs.example/viewer?StudyInstanceUIDs=1.2.840.7",
    "https://pacs.example/stone-webviewer/index.html?study=1.2.840.7",
    "weasis://%24dicom%3Ars%20--url%20%22https%3A%2F%2Fpacs.example%2Fdicom-web%22%20-r%20%22studyUID%3D1.2.840.7%22",
  ]);
});

test("the UID of a device stays a value", () => {
  const link = viewerLink(VIEWER_PRESETS.OHIF, `1.2&x=1#"'</a> ../`);
  expect(link).toBe("https://pacs.example/viewer?StudyInstanceUIDs=1.2%26x%3D1%23%22'%3C%2Fa%3E%20..%2F");
});

test.each([
  ["https://pacs.example/viewer", "no uid"],
  [`javascript:alert("${UID}")`, "scheme"],
  [`data:text/html,${UID}`, "scheme"],
  [`file:///etc/${UID}`, "scheme"],
  [`/dashboard/${UID}`, "no address"],
  [`https://${UID}/viewer`, "no address"],
  [`https://pacs${UID}.example/`, "no address"],
  [`https://vet:secret@pacs.example/${UID}`, "no address"],
  [`https://pacs.example/a b?${UID}`, "no address"],
  [`https://pacs.example/\u202e${UID}`, "no address"],
  [`https://pacs.example/${"a".repeat(500)}${UID}`, "too long"],
])("the template %s is refused: %s", (template, fault) => {
  expect(viewerFault(template)).toBe(fault);
  expect(viewerLink(template, "1.2")).toBeNull();
});

test("an admin sets, keeps and removes the template of the clinic", async () => {
  const fp = newFp("clinic");
  const server = await startServer(clinic(fp));
  const admin = await makeUser(server, "admin", fp);
  const answer = (change: object) =>
    admin.call<Refused>("PUT", "/settings/clinic", { language: null, time_zone: null, ...change });
  const put = async (change: object) => (await answer(change)).status;
  const stored = async () =>
    (await admin.call<{ clinics: { viewer_template: string | null }[] }>("GET", "/clinic/v1/session")).body.clinics[0]
      ?.viewer_template;
  expect(await stored()).toBeNull();
  expect(await put({ viewer_template: VIEWER_PRESETS.Stone })).toBe(200);
  expect(await put({})).toBe(200);
  const refused = await answer({ viewer_template: `javascript:${UID}` });
  expect([refused.status, refused.body.error.details]).toEqual([400, { code: "VIEWER.ADDRESS", values: [UID] }]);
  expect(await stored()).toBe(VIEWER_PRESETS.Stone);
  expect(await put({ viewer_template: null })).toBe(200);
  expect(await stored()).toBeNull();
});
