import type { RegistryFiles } from "../protocols/file/profile.ts";

/** Practice software that exports lists of animals, owners or stock into a folder. It has no results. */
export const practiceFiles: RegistryFiles = {
  id: "practice-files",
  protocol: "file",
  link: { kind: "file", extensions: ["csv", "txt", "xlsx"] },
  device_name: null,
  modality: null,
  content: "registry",
};
