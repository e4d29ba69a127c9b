import fs from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import type { LatestRelease } from "../../api/upgrade.ts";
import { WINDOWS_PROGRAMS } from "../package/windows-program.ts";

// Writes the manifests of the Windows packages for winget (schema 1.6.0), in the folders of microsoft/winget-pkgs.

const PUBLISHER = "Vetwire";
const SCHEMA = "1.6.0";
const LOCALE = "en-US";

/** Writes three files for each program with an .msi. @returns them @throws Error for a release without one */
export function writeWinget(folder: string, latest: LatestRelease, homepage: string): string[] {
  const packages = latest.files.filter(({ kind }) => kind === "msi");
  if (packages.length === 0) throw new Error("the release has no .msi: make it where wixl and msitools are installed");
  return packages.flatMap((file) => {
    const name = file.program === "server" ? "Server" : "Agent";
    const id = `${PUBLISHER}.${name}`;
    const target = path.join(folder, "manifests", "v", PUBLISHER, name, latest.version);
    fs.mkdirSync(target, { recursive: true });
    return manifests(id, file, latest, homepage).map(([kind, fields]) => {
      const suffix = { version: "", installer: ".installer", defaultLocale: `.locale.${LOCALE}` }[kind];
      const about = `# yaml-language-server: $schema=https://aka.ms/winget-manifest.${kind.toLowerCase()}.${SCHEMA}.schema.json\n`;
      const head = { PackageIdentifier: id, PackageVersion: latest.version };
      const manifest = path.join(target, `${id}${suffix}.yaml`);
      fs.writeFileSync(
        manifest,
        about + stringify({ ...head, ...fields, ManifestType: kind, ManifestVersion: SCHEMA }),
      );
      return manifest;
    });
  });
}

type Manifest = readonly [kind: "version" | "installer" | "defaultLocale", fields: Readonly<Record<string, unknown>>];

function manifests(
  id: string,
  file: LatestRelease["files"][number],
  latest: LatestRelease,
  homepage: string,
): Manifest[] {
  const { title, description, upgradeCode } = WINDOWS_PROGRAMS[file.program === "server" ? "server" : "agent"];
  const installer = {
    Architecture: "x64",
    InstallerUrl: file.url,
    InstallerSha256: file.sha256.toUpperCase(),
    // Windows keeps the program under this code over all versions.
    AppsAndFeaturesEntries: [{ DisplayName: title, Publisher: PUBLISHER, UpgradeCode: `{${upgradeCode}}` }],
  };
  return [
    ["version", { DefaultLocale: LOCALE }],
    [
      "installer",
      {
        InstallerType: "wix",
        Scope: "machine",
        UpgradeBehavior: "install",
        ReleaseDate: latest.released_on,
        Installers: [installer],
      },
    ],
    [
      "defaultLocale",
      {
        PackageLocale: LOCALE,
        Publisher: PUBLISHER,
        PublisherUrl: homepage,
        PackageName: title,
        License: "Apache-2.0",
        ShortDescription: description,
        Moniker: id.toLowerCase().replace(".", "-"),
      },
    ],
  ];
}
