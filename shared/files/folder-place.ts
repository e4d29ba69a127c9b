import fs from "node:fs";
import os from "node:os";
import path from "node:path";

// Places where a data folder does not belong. A program that copies a folder to a cloud copies half of a commit and brings old
// files back. A network share does not keep SQLite's locks and its write-ahead log (sqlite.org/wal.html). A memory disk is empty
// after a restart.

/** The code of a place, and its program or file system. */
export interface FolderRisk {
  readonly code: "folder.synced" | "folder.network" | "folder.memory";
  readonly by: string;
}

/** A machine's report about its folders. */
export interface PlaceFacts {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of /proc/self/mountinfo; "" elsewhere. */
  readonly mounts: string;
  /** Texts of Dropbox's info.json. */
  readonly dropbox: readonly string[];
}

/** Names of the folders that programs copy to a cloud. A service runs without the environment of the user who chose them. */
const SYNCED: readonly (readonly [RegExp, string])[] = [
  [/^OneDrive( ?- ?.+)?$/i, "OneDrive"],
  [/^Dropbox( ?[-(].+)?$/i, "Dropbox"],
  [/^(iCloud ?Drive.*|Mobile Documents|com~apple~CloudDocs)$/i, "iCloud Drive"],
  [/^(Google ?Drive.*|My Drive)$/i, "Google Drive"],
  [/^(Nextcloud|ownCloud|pCloud ?Drive|Box Sync|Yandex\.?Disk|MEGA ?sync)$/i, "a cloud"],
];

/** File systems of other machines (the type in /proc/self/mountinfo). */
const NETWORK =
  /^(nfs4?|cifs|smb[23]?|smbfs|9p|afs|ceph|gluster|glusterfs|lustre|beegfs|gfs2?|ocfs2|ncpfs|davfs2?|coda|vboxsf|prl_fs|virtiofs|fuse\.(sshfs|rclone|s3fs|glusterfs|ceph|davfs2?|curlftpfs|smbnetfs|gvfsd-fuse|vmhgfs-fuse|google-drive-ocamlfuse|onedriver|gcsfuse|blobfuse2?))$/;
const MEMORY = /^(tmpfs|ramfs|devtmpfs)$/;

/** Decides about a folder by its real path. @returns null for a place without a known risk */
export function riskOf(folder: string, facts: PlaceFacts): FolderRisk | null {
  const isWindows = facts.platform === "win32";
  if (isWindows && /^[\\/]{2}(?![.?][\\/])|^\\\\\?\\UNC\\/i.test(folder))
    return { code: "folder.network", by: "a network share" };
  const synced = syncedBy(folder, facts);
  if (synced !== null) return { code: "folder.synced", by: synced };
  const type = fileSystemOf(folder, facts.mounts);
  if (NETWORK.test(type)) return { code: "folder.network", by: type };
  return MEMORY.test(type) ? { code: "folder.memory", by: type } : null;
}

function syncedBy(folder: string, { platform, env, dropbox }: PlaceFacts): string | null {
  const { sep } = platform === "win32" ? path.win32 : path.posix;
  // Windows and macOS do not distinguish upper and lower case.
  const form = (text: string) => (platform === "linux" ? text : text.toLowerCase());
  const isIn = (root: string | undefined) =>
    root !== undefined && root !== "" && `${form(folder)}${sep}`.startsWith(form(root + sep));
  if ([env["OneDrive"], env["OneDriveConsumer"], env["OneDriveCommercial"]].some(isIn)) return "OneDrive";
  if (dropbox.flatMap(rootsOf).some(isIn)) return "Dropbox";
  const steps = folder.split(/[\\/]/);
  return SYNCED.find(([name]) => steps.some((step) => name.test(step)))?.[1] ?? null;
}

/** Dropbox's info.json: `{"personal": {"path": "/home/ayla/Dropbox"}, "business": ...}`. */
function rootsOf(text: string): string[] {
  try {
    const accounts = Object.values((JSON.parse(text) ?? {}) as Record<string, { path?: unknown } | null>);
    return accounts.flatMap((account) => (typeof account?.path === "string" ? [account.path] : []));
  } catch {
    return [];
  }
}

/** The type of the mount with the longest path above a folder (proc_pid_mountinfo(5)); "" if unknown. */
function fileSystemOf(folder: string, mounts: string): string {
  let [longest, type] = [-1, ""];
  for (const line of mounts.split("\n")) {
    const [mount = "", system = ""] = line.split(" - ");
    const point = (mount.split(" ")[4] ?? "").replaceAll(/\\([0-7]{3})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 8)),
    );
    const isAbove = point !== "" && `${folder}/`.startsWith(point === "/" ? point : `${point}/`);
    // A later mount at the same path hides the one before.
    if (isAbove && point.length >= longest) [longest, type] = [point.length, system.split(" ")[0] ?? ""];
  }
  return type;
}

/** Looks where a folder is, also one that does not exist yet. @returns null for a place without a known risk */
export function folderRisk(folder: string): FolderRisk | null {
  const home = os.homedir();
  const { env, platform } = process;
  const info = [env["APPDATA"], env["LOCALAPPDATA"]].flatMap((root) =>
    root === undefined ? [] : [path.join(root, "Dropbox/info.json")],
  );
  return riskOf(realPath(path.resolve(folder)), {
    platform,
    env,
    mounts: platform === "linux" ? textOf("/proc/self/mountinfo") : "",
    dropbox: [path.join(home, ".dropbox/info.json"), ...info].map(textOf),
  });
}

/** Returns the path behind links; on Windows the share of a mapped drive. */
function realPath(folder: string): string {
  try {
    return fs.realpathSync.native(folder);
  } catch {
    const above = path.dirname(folder);
    return above === folder ? folder : path.join(realPath(above), path.basename(folder));
  }
}

function textOf(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Formats a risk as what is wrong and what to do. */
export function riskWords(
  { code, by }: FolderRisk,
  folder: string,
): { readonly fault: string; readonly remedy: string } {
  switch (code) {
    case "folder.synced":
      return {
        fault: `${by} copies the data folder ${folder}, which damages its database and brings results to others`,
        remedy: "choose a folder of this machine that no program copies",
      };
    case "folder.network":
      return {
        fault: `the data folder ${folder} is on another machine (${by}), whose shares damage a database`,
        remedy: "choose a folder on a disk of this machine",
      };
    case "folder.memory":
      return {
        fault: `the data folder ${folder} is in memory (${by}), which is empty after a restart of this machine`,
        remedy: "choose a folder on a disk",
      };
  }
}

/** @returns a sentence about the place of a data folder, with its code; null for one without a known risk */
export function placeWarning(folder: string): { readonly code: FolderRisk["code"]; readonly sentence: string } | null {
  const risk = folderRisk(folder);
  if (risk === null) return null;
  const { fault, remedy } = riskWords(risk, folder);
  return { code: risk.code, sentence: `${fault}: ${remedy}` };
}
