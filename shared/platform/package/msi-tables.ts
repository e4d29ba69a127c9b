import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { dataFolderRights, recoveryLines, WINDOWS_PROGRAMS, type WindowsProgram } from "./windows-program.ts";
import { COMMAND, componentKey, DATA_DIRECTORY, PROGRAM_DIRECTORY, SERVER_DIRECTORY } from "./wxs.ts";

// Adds to an installer what wixl cannot write: PATH, rights of folders, recovery of the service, and fixed marks of its making.

/** Deferred, as the system, result ignored: a command line in a folder. (Windows Installer, custom action type 34) */
const COMMAND_AS_SYSTEM = 34 + 0x400 + 0x800 + 0x40;
type Row = readonly (string | number)[];

/** A table in the text form of the Windows Installer (IDT): names, types, key columns, rows. */
interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly Row[];
}

function newTables({ service }: WindowsProgram): Table[] {
  const rights: Row[] = [["Data", DATA_DIRECTORY, "CreateFolder", dataFolderRights(WINDOWS_PROGRAMS.agent), ""]];
  const server = dataFolderRights(WINDOWS_PROGRAMS.server);
  if (service.program === "server") rights.push(["ServerData", SERVER_DIRECTORY, "CreateFolder", server, ""]);
  return [
    {
      name: "Environment",
      columns: ["Environment", "Name", "Value", "Component_"],
      types: ["s72", "l255", "L255", "s72"],
      // `=-*`: set for the machine, removed at the uninstallation. `[~]` is the value before.
      rows: [["Path", "=-*PATH", `[~];[${PROGRAM_DIRECTORY}]bin`, componentKey(COMMAND)]],
    },
    {
      name: "MsiLockPermissionsEx",
      columns: ["MsiLockPermissionsEx", "LockObject", "Table", "SDDLText", "Condition"],
      types: ["s72", "s72", "s32", "s0", "S255"],
      rows: rights,
    },
  ];
}

function queries(program: WindowsProgram): string[] {
  // Before RemoveFiles (3500), which removes the folders that it finds empty. An upgrade removes the old package so too.
  const removal = 'cmd.exe /c rd /s /q "app\\later"';
  // Between InstallServices (5800) and StartServices (5900).
  const recovery = recoveryLines(program).flatMap((line, index) => [
    commandAction(`Recovery${index}`, line),
    action(`Recovery${index}`, "NOT REMOVE", 5850 + index),
  ]);
  return [
    // A package replaces a newer file too. The old package is removed before the files are copied, so a file that the installer
    // does not copy would be missing. wixl gives no versions of files, and Windows keeps a file with a version.
    "INSERT INTO `Property` (`Property`, `Value`) VALUES ('REINSTALLMODE', 'amus')",
    // The programs list offers to uninstall, and nothing to change.
    "INSERT INTO `Property` (`Property`, `Value`) VALUES ('ARPNOMODIFY', '1')",
    // After InstallInitialize (1500), so that a failed upgrade brings the old version back.
    "UPDATE `InstallExecuteSequence` SET `Sequence` = 1501 WHERE `Action` = 'RemoveExistingProducts'",
    action("RemoveEnvironmentStrings", "", 3300),
    action("WriteEnvironmentStrings", "", 5200),
    commandAction("RemoveLater", `[System64Folder]${removal}`),
    action("RemoveLater", 'REMOVE="ALL"', 3490),
    ...recovery,
  ];
}

/** Runs a command line in the folder of the program. */
function commandAction(name: string, line: string): string {
  return `INSERT INTO \`CustomAction\` (\`Action\`, \`Type\`, \`Source\`, \`Target\`) VALUES ('${name}', ${COMMAND_AS_SYSTEM}, '${PROGRAM_DIRECTORY}', '${line}')`;
}

function action(name: string, condition: string, sequence: number): string {
  return `INSERT INTO \`InstallExecuteSequence\` (\`Action\`, \`Condition\`, \`Sequence\`) VALUES ('${name}', '${condition}', ${sequence})`;
}

/** Adds the tables, and gives the package its code: packages with equal codes have equal content. */
export function completeTables(file: string, program: WindowsProgram, packageCode: string, work: string): void {
  const imports = newTables(program).flatMap(({ name, columns, types, rows }) => {
    const lines = [columns, types, [name, columns[0] ?? ""], ...rows].map((line) => line.join("\t"));
    const draft = path.join(work, `${name}.idt`);
    fs.writeFileSync(draft, `${lines.join("\r\n")}\r\n`);
    return ["-i", draft];
  });
  const run = (...words: string[]): Buffer => execFileSync("msibuild", [file, ...words], { stdio: "pipe" });
  run(...imports);
  for (const query of queries(program)) run("-q", query);
  run("-s", program.title, "Vetwire", "x64;1033", `{${packageCode}}`);
}

/** FMTID_SummaryInformation, with its GUID in the byte order of COM. [MS-OLEPS] 2.21 */
const SUMMARY = Buffer.from("e0859ff2f94f6810ab9108002b27b3d9", "hex");
const CREATED = 12;
const SAVED = 13;
/** The time from 1601 to 1970, in s. */
const EPOCH_1601_S = 11_644_473_600n;

/** Replaces the times in the summary: wixl writes the time of its run, and msibuild keeps it. */
export function setSummaryTime(file: string, timeS: number): void {
  const bytes = fs.readFileSync(file);
  const format = bytes.indexOf(SUMMARY);
  // The header of the set has 28 bytes before the format's name. The offset of its properties follows the name.
  const section = format - 28 + bytes.readUInt32LE(format + SUMMARY.length);
  const count = bytes.readUInt32LE(section + 4);
  let written = 0;
  for (let at = section + 8; at < section + 8 + count * 8; at += 8) {
    const property = bytes.readUInt32LE(at);
    if (property !== CREATED && property !== SAVED) continue;
    // Four bytes of type come first.
    bytes.writeBigUInt64LE((BigInt(timeS) + EPOCH_1601_S) * 10_000_000n, section + bytes.readUInt32LE(at + 4) + 4);
    written += 1;
  }
  if (format < 0 || written !== 2) throw new Error(`${file} has no times in its summary: look for a changed wixl`);
  fs.writeFileSync(file, bytes);
}
