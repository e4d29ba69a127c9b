// Links to a study in the viewer of the clinic's archive, made of a template that an admin typed.

/** Where the template has the Study Instance UID. */
export const VIEWER_UID = "{study_instance_uid}";

export const VIEWER_TEMPLATE_CHARS_MAX = 500;

/** Programs that a template may open. Others, such as javascript:, would run in the dashboard or on the PC. */
const SCHEMES: readonly string[] = ["https:", "http:", "weasis:"];

/** The forms of known viewers, with a server to replace. */
export const VIEWER_PRESETS = {
  OHIF: `https://pacs.example/viewer?StudyInstanceUIDs=${VIEWER_UID}`,
  Stone: `https://pacs.example/stone-webviewer/index.html?study=${VIEWER_UID}`,
  Weasis: `weasis://%24dicom%3Ars%20--url%20%22https%3A%2F%2Fpacs.example%2Fdicom-web%22%20-r%20%22studyUID%3D${VIEWER_UID}%22`,
} as const;

export type ViewerFault = "too long" | "no uid" | "no address" | "scheme";

/** Returns why a template makes no links; null if it does. */
export function viewerFault(template: string): ViewerFault | null {
  if (template.length > VIEWER_TEMPLATE_CHARS_MAX) return "too long";
  if (!template.includes(VIEWER_UID)) return "no uid";
  if (/[\s\p{C}]/u.test(template)) return "no address";
  const [one, other] = ["1.2", "3.4"].map((uid) => addressOf(linkOf(template, uid)));
  if (one === null || other === null || one === undefined || other === undefined) return "no address";
  if (!SCHEMES.includes(one.protocol)) return "scheme";
  // A device names the UID, so it must not name the server.
  if (one.protocol !== "weasis:" && one.origin !== other.origin) return "no address";
  return one.username === "" && one.password === "" ? null : "no address";
}

/** The address of a study in the archive's viewer; null without a usable template. */
export function viewerLink(template: string | null, uid: string): string | null {
  return template === null || viewerFault(template) !== null ? null : linkOf(template, uid);
}

function linkOf(template: string, uid: string): string {
  return template.replaceAll(VIEWER_UID, encodeURIComponent(uid));
}

function addressOf(link: string): URL | null {
  try {
    return new URL(link);
  } catch {
    return null;
  }
}
