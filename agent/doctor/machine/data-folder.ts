import fs from "node:fs";
import path from "node:path";
import { isOpenToOthers } from "../../../shared/files/private-folder.ts";
import { folderRisk, riskWords } from "../../../shared/files/folder-place.ts";
import { rightsFault } from "../../../shared/files/rights-advice.ts";
import { type Config, DICOM } from "../../config/values/schema.ts";
import { requireFreeSpace } from "../../imaging/free-space.ts";
import { errorCode, errorMessage } from "../../../shared/runtime/error-message.ts";
import { configCheck } from "../check/check.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { ok, problem, skipped, warning } from "../check/finding.ts";

/** Free bytes below which the agent soon refuses messages: its reserve, its log and some hours of results. */
const FREE_BYTES_MIN = 200e6;
/** Free bytes below which a person should make room. */
const FREE_BYTES_LOW = 1e9;

/** Checks that the agent can write its data folder, and that no other user reads it. Rights of Windows are not checked. */
export const dataFolder = configCheck("folder", "Data folder", ({ data }) => {
  const fault = folderFault(data);
  if (fault !== null) return [fault];
  const risk = folderRisk(data);
  const words = risk === null ? null : riskWords(risk, data);
  return [
    ...(risk === null || words === null ? [] : [warning(risk.code, words.fault, words.remedy)]),
    ...rightsOf(data),
  ];
});

function rightsOf(data: string): Finding[] {
  if (!fs.existsSync(data)) return [ok("folder.new", `${data} does not exist yet: the agent creates it`)];
  if (process.platform === "win32") return [ok("folder.writable", `${data} is writable`)];
  const rights = `chmod 700 ${data}`;
  return isOpenToOthers(data)
    ? [warning("folder.open", `other users of this machine can read ${data}, which holds results`, rights)]
    : [ok("folder.writable", `${data} is writable, and no other user reads it`)];
}

/** Tries to write, because rights alone prove nothing: the disk may be read-only, and root may do all. */
function folderFault(folder: string): Finding | null {
  const parent = existingParent(folder);
  if (!fs.statSync(parent).isDirectory()) {
    return problem("folder.not-a-folder", `${parent} is a file`, "name a folder as data in agent.yaml");
  }
  const file = path.join(parent, `.vetwire-doctor-${process.pid}`);
  try {
    fs.writeFileSync(file, "", { mode: 0o600 });
    fs.rmSync(file);
    return null;
  } catch (error) {
    return writeFault(parent, error);
  }
}

function writeFault(folder: string, error: unknown): Finding {
  const code = errorCode(error);
  const rights = rightsFault(error, folder);
  if (rights !== null) {
    return problem(code === "EROFS" ? "folder.read-only" : "folder.no-permission", rights.fault, rights.remedy);
  }
  switch (code) {
    case "ENOSPC":
      return problem("folder.full", `the disk of ${folder} is full`, "delete or move files of other programs");
    default:
      return problem(
        "folder.fault",
        `${folder} cannot be written: ${errorMessage(error)}`,
        "name another folder in agent.yaml",
      );
  }
}

function existingParent(folder: string): string {
  return fs.existsSync(folder) ? folder : existingParent(path.dirname(folder));
}

/** Checks the free space for results, and for images if a device sends them. */
export const freeSpace = configCheck("space", "Free space", (config) => {
  const { bavail, bsize } = fs.statfsSync(existingParent(config.data));
  const free = bavail * bsize;
  const sentence = `${Math.round(free / 1e6)} MB are free for ${config.data}`;
  const remedy = "delete or move files of other programs, or name a folder on a larger disk as data in agent.yaml";
  if (free < FREE_BYTES_MIN) return [problem("space.full", `only ${sentence}`, remedy), ...imageSpace(config)];
  if (free < FREE_BYTES_LOW) return [warning("space.low", `only ${sentence}`, remedy), ...imageSpace(config)];
  return [ok("space.enough", sentence), ...imageSpace(config)];
});

function imageSpace({ data, devices, images }: Config): Finding[] {
  if (!devices.some(({ profile }) => profile === DICOM)) return [skipped("space.images", "no device sends images")];
  try {
    requireFreeSpace(existingParent(data), images.freeBytes);
    return [ok("space.images", "there is room for images")];
  } catch (error) {
    const remedy = "make room, or set retainDays or maxGigabytes under images in agent.yaml, so that old ones go";
    return [problem("space.images", `images are refused: ${errorMessage(error)}`, remedy)];
  }
}
