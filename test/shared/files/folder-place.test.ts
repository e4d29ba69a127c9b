import fs from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { folderRisk, placeWarning, riskOf } from "../../../shared/files/folder-place.ts";

const MOUNTS = `
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 27 0:24 / /tmp rw,nosuid - tmpfs tmpfs rw
31 27 0:25 / /mnt/share rw - cifs //nas/clinic rw
32 27 0:26 / /mnt/my\\040nas rw master:2 - nfs4 nas:/export rw
33 27 0:27 / /home/ayla/remote rw - fuse.sshfs ayla@nas: rw
34 27 0:28 / /mnt/share/local rw - ext4 /dev/sdb1 rw
35 27 0:29 / /mnt/stick rw - cifs //old/one rw
36 27 0:30 / /mnt/stick rw - vfat /dev/sdc1 rw
37 27 0:31 / /mnt/c rw - 9p C: rw
38 27 0:32 / /run/ram rw - ramfs ramfs rw
`;
const linux = { platform: "linux", env: {}, mounts: MOUNTS, dropbox: [] } as const;
const windows = { platform: "win32", env: {}, mounts: "", dropbox: [] } as const;

describe("a data folder", () => {
  test.each([
    ["/var/lib/vetwire/agent", null],
    ["/mnt/share/local/vetwire", null],
    ["/mnt/shared", null],
    ["/mnt/stick/vetwire", null],
    ["/home/ayla/dropboxes/data", null],
    ["/tmp/vetwire", { code: "folder.memory", by: "tmpfs" }],
    ["/run/ram", { code: "folder.memory", by: "ramfs" }],
    ["/mnt/share/vetwire", { code: "folder.network", by: "cifs" }],
    ["/mnt/my nas/vetwire", { code: "folder.network", by: "nfs4" }],
    ["/home/ayla/remote/data", { code: "folder.network", by: "fuse.sshfs" }],
    ["/mnt/c/Vetwire", { code: "folder.network", by: "9p" }],
    ["/home/ayla/Dropbox/vetwire", { code: "folder.synced", by: "Dropbox" }],
    ["/home/ayla/Nextcloud/vetwire", { code: "folder.synced", by: "a cloud" }],
  ])("%s on Linux", (folder, risk) => {
    expect(riskOf(folder, linux)).toEqual(risk);
  });

  test.each([
    [String.raw`C:\ProgramData\Vetwire\data`, null],
    [String.raw`\\?\C:\ProgramData\Vetwire`, null],
    [String.raw`\\nas\clinic\vetwire`, { code: "folder.network", by: "a network share" }],
    [String.raw`\\?\UNC\nas\clinic`, { code: "folder.network", by: "a network share" }],
    ["//nas/clinic", { code: "folder.network", by: "a network share" }],
    [String.raw`C:\Users\Ayla\OneDrive\Vetwire`, { code: "folder.synced", by: "OneDrive" }],
    [String.raw`C:\Users\Ayla\OneDrive - Clinic Ltd\Vetwire`, { code: "folder.synced", by: "OneDrive" }],
    [String.raw`C:\Users\Ayla\Dropbox (Personal)\v`, { code: "folder.synced", by: "Dropbox" }],
    [String.raw`C:\Users\Ayla\iCloudDrive\v`, { code: "folder.synced", by: "iCloud Drive" }],
    [String.raw`G:\My Drive\v`, { code: "folder.synced", by: "Google Drive" }],
  ])("%s on Windows", (folder, risk) => {
    expect(riskOf(folder, windows)).toEqual(risk);
  });

  test.each([
    ["/Users/ayla/Library/Mobile Documents/com~apple~CloudDocs/v", "iCloud Drive"],
    ["/Users/ayla/Library/CloudStorage/OneDrive-Clinic/v", "OneDrive"],
    ["/Users/ayla/Library/CloudStorage/GoogleDrive-ayla@clinic.example/v", "Google Drive"],
  ])("%s on macOS", (folder, by) => {
    expect(riskOf(folder, { ...linux, platform: "darwin", mounts: "" })).toEqual({ code: "folder.synced", by });
  });

  test("in a folder of another name is known by OneDrive's environment and Dropbox's list", () => {
    const env = { OneDriveCommercial: String.raw`D:\Cloud` };
    expect(riskOf(String.raw`d:\cloud\Vetwire`, { ...windows, env })).toEqual({
      code: "folder.synced",
      by: "OneDrive",
    });
    expect(riskOf(String.raw`D:\Clouds\Vetwire`, { ...windows, env })).toBe(null);
    const dropbox = ['{"personal":{"path":"/srv/box"},"business":null}', "", "not JSON", "null", '{"x":{"path":7}}'];
    expect(riskOf("/srv/box/vetwire", { ...linux, dropbox })).toEqual({ code: "folder.synced", by: "Dropbox" });
    expect(riskOf("/srv/boxes", { ...linux, dropbox })).toBe(null);
  });
});

test.runIf(fs.existsSync("/dev/shm"))("the place of a folder is that of its real path, also before it exists", () => {
  const root = fs.mkdtempSync("/var/tmp/vetwire-place-");
  onTestFinished(() => fs.rmSync(root, { recursive: true }));
  fs.symlinkSync("/dev/shm", path.join(root, "link"));
  const folder = path.join(root, "link", "not/yet");
  expect(folderRisk(folder)).toEqual({ code: "folder.memory", by: "tmpfs" });
  expect(placeWarning(folder)).toEqual({
    code: "folder.memory",
    sentence: `the data folder ${folder} is in memory (tmpfs), which is empty after a restart of this machine: choose a folder on a disk`,
  });
});
