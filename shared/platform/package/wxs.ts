import path from "node:path";
import { nameGuid, serviceArguments, type WindowsProgram } from "./windows-program.ts";

// Describes the Windows package in the XML of WiX, which wixl reads. wixl knows a part of WiX only: msi-tables.ts has the rest.

/** The program files that the description refers to by name. */
const SHAWL = "runtime/shawl.exe";
export const COMMAND = "bin/vetwire.cmd";

/** Keys of the folders that other tables refer to. */
export const PROGRAM_DIRECTORY = "INSTALLDIR";
export const DATA_DIRECTORY = "DATADIR";
/** The data folder of the server is inside the one of Vetwire. */
export const SERVER_DIRECTORY = "SERVERDIR";

const MENU = "StartMenu";

interface Wxs {
  readonly program: WindowsProgram;
  readonly version: string;
  /** The files of the program with `/`, relative to the folder where wixl runs. */
  readonly files: readonly string[];
  /** The folder of the files, and the shortcut of the start menu. Both are relative too. */
  readonly source: string;
  readonly shortcut: string;
}

/** Returns the description. Every GUID follows from the path of its file, so that each version has the same ones. */
export function wxs({ program, version, files, source, shortcut }: Wxs): string {
  const component = (id: string, inner: string): string =>
    `<Component Id="${id}" Guid="{${nameGuid(program.upgradeCode, id)}}" Win64="yes">${inner}</Component>`;
  const file = (name: string): string => {
    const id = `F${componentKey(name).slice(1)}`;
    const words = `Id="${id}" Name="${escaped(path.posix.basename(name))}" Source="${escaped(`${source}/${name}`)}"`;
    const service = name === SHAWL ? serviceElements(program) : "";
    return component(componentKey(name), `<File ${words} KeyPath="yes"/>${service}`);
  };
  const menuFile = `<File Id="Shortcut" Name="${program.title}.url" Source="${escaped(shortcut)}" KeyPath="yes"/>`;
  const dataFolders = program.service.program === "server" ? [DATA_DIRECTORY, SERVER_DIRECTORY] : [DATA_DIRECTORY];
  const components = [...files.map(componentKey), MENU, ...dataFolders.map((key) => `${key}_`)];
  const serverFolder = `<Directory Id="${SERVER_DIRECTORY}" Name="server">${component(`${SERVER_DIRECTORY}_`, "<CreateFolder/>")}</Directory>`;
  return `<?xml version="1.0" encoding="utf-8"?>
<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">
<Product Id="{${nameGuid(program.upgradeCode, `product ${version}`)}}" Name="${program.title}" Language="1033" Version="${version}" Manufacturer="Vetwire" UpgradeCode="{${program.upgradeCode}}">
<Package InstallerVersion="500" Compressed="yes" InstallScope="perMachine" Comments="${program.description}"/>
<MajorUpgrade DowngradeErrorMessage="A newer version of ${program.title} is installed. Uninstall it first if you want this older one: its configuration and its data stay."/>
<Media Id="1" Cabinet="files.cab" EmbedCab="yes"/>
<Directory Id="TARGETDIR" Name="SourceDir">
<Directory Id="ProgramFiles64Folder"><Directory Id="${PROGRAM_DIRECTORY}" Name="${program.title}">
${folderElements(files, file)}
</Directory></Directory>
<Directory Id="CommonAppDataFolder"><Directory Id="${DATA_DIRECTORY}" Name="Vetwire">
${component(`${DATA_DIRECTORY}_`, "<CreateFolder/>")}${program.service.program === "server" ? serverFolder : ""}
</Directory></Directory>
<Directory Id="ProgramMenuFolder">${component(MENU, menuFile)}</Directory>
</Directory>
<Feature Id="Program" Title="${program.title}" Level="1">
${components.map((id) => `<ComponentRef Id="${id}"/>`).join("\n")}
</Feature>
</Product>
</Wix>
`;
}

/** The key of a file and of its component: MSI allows 72 letters, digits, dots and underscores. */
export function componentKey(name: string): string {
  return `C${nameGuid("", name).replaceAll("-", "")}`;
}

function serviceElements(program: WindowsProgram): string {
  const { name } = program.service;
  // Windows makes this account with the service: it has no password, and no other service has it. Its name has no translations.
  const account = `NT SERVICE\\${name}`;
  const words = [
    `Id="Service" Name="${name}" DisplayName="${program.title}" Description="${program.description}"`,
    `Type="ownProcess" Start="auto" ErrorControl="normal" Account="${account}"`,
    `Arguments="${escaped(serviceArguments(program))}"`,
  ];
  // Without Start="install", the service stays stopped after an upgrade.
  const control = `Name="${name}" Start="install" Stop="both" Remove="uninstall" Wait="yes"`;
  return `<ServiceInstall ${words.join(" ")}/><ServiceControl Id="ServiceControl" ${control}/>`;
}

function folderElements(files: readonly string[], file: (name: string) => string, folder = ""): string {
  const inner = files.filter((name) => name.startsWith(folder)).map((name) => name.slice(folder.length));
  const own = inner.filter((name) => !name.includes("/")).map((name) => file(folder + name));
  const folders = [...new Set(inner.filter((name) => name.includes("/")).map((name) => name.split("/")[0] ?? ""))];
  const nested = folders.map((name) => {
    const key = `D${componentKey(`${folder}${name}/`).slice(1)}`;
    return `<Directory Id="${key}" Name="${escaped(name)}">\n${folderElements(files, file, `${folder}${name}/`)}\n</Directory>`;
  });
  return [...own, ...nested].join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
