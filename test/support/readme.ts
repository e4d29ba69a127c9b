import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { ROOT } from "./processes.ts";

// Commands in the READMEs: fenced blocks, and rows of the command tables.

export interface Block {
  /** `README.md:67` */
  readonly place: string;
  /** The word after the fence. */
  readonly language: string;
  /** The second word after the fence: the file with this content; "" if there is none. */
  readonly file: string;
  readonly text: string;
}

export interface Row {
  readonly place: string;
  /** `npm run server -- export [FILE.ndjson]`. A row that begins with `...` continues the command of the previous row. */
  readonly usage: string;
}

/** @returns the paths of all READMEs, README.md first */
export function readmes(): string[] {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*README.md"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return files
    .trim()
    .split("\n")
    .toSorted((a, b) => a.split("/").length - b.split("/").length);
}

export function blocksOf(readme: string): Block[] {
  const text = fs.readFileSync(path.join(ROOT, readme), "utf8");
  return [...text.matchAll(/^( *)```(\w*) *(\S*)\n([^]*?)\n\1```$/gm)].map((found) => {
    const [, indent = "", language = "", file = "", content = ""] = found;
    const line = text.slice(0, found.index).split("\n").length;
    return { place: `${readme}:${line}`, language, file, text: content.replaceAll(new RegExp(`^${indent}`, "gm"), "") };
  });
}

/** @returns the number of fences: two per block, unless `blocksOf` misses a block */
export function fencesOf(readme: string): number {
  return fs.readFileSync(path.join(ROOT, readme), "utf8").match(/^\s*(?:```|~~~)/gm)?.length ?? 0;
}

/** @returns the table rows with commands in the first cell, `|` unescaped */
export function rowsOf(readme: string): Row[] {
  const lines = fs.readFileSync(path.join(ROOT, readme), "utf8").split("\n");
  return lines.flatMap((line, index) => {
    const [, cell = ""] = /^\| *((?:[^|\\]|\\.)*?) *\|/.exec(line) ?? [];
    const codes = [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code.replaceAll("\\|", "|"));
    const isCommand = /^(npm|npx|node|\.\.\.) /.test(codes[0] ?? "");
    return isCommand ? [{ place: `${readme}:${index + 1}`, usage: codes.join(" ") }] : [];
  });
}

/** @returns the words that a line for the row must contain: options and literal words, without placeholders and examples */
export function wordsOf({ usage }: Row): string[] {
  const words = usage.replaceAll(/[[\]|]/g, " ").split(/\s+/);
  return [...new Set(words.filter((word) => /^(--[a-z-]+|[a-z]+)$/.test(word)))];
}

/** @returns the commands of a block: one per line, without comments. A backslash continues a line. */
export function commandsOf({ text }: Block): string[] {
  return text
    .replaceAll("\\\n", " ")
    .split("\n")
    .flatMap((line) => line.replace(/ +# .*$/, "").split(" && "))
    .map((command) => command.trim())
    .filter((command) => command !== "");
}

/** The languages of the blocks that install packages: of cmd, and of a Debian. The second word names the system. */
export const INSTALLING: readonly string[] = ["bat", "bash"];

/** Commands that the README test does not run, each with the reason. */
export const EXCLUDED: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^npm ci$/, ".ci/run installs from the lock file before the suite"],
  [/^npm test$/, "npm test runs this test"],
  [/^npm run check$/, "npm test includes it"],
  [/^npm run check:changed$/, "npm test includes it"],
  [/^npm run contract$/, "test/server/http/openapi/document.test.ts compares the file that it writes"],
  [/npx vitest run /, "the suite runs that test file"],
  [/^npm run conformance$/, "it takes minutes"],
  [/^npm run bench /, "it measures the machine for minutes"],
  [/^npm run test:soak$/, "it is npm test with more cases"],
  [/^npm run agent -- pair /, "it needs a code of the dashboard: test/dashboard/browser/pairing.slow.test.ts runs it"],
  [/^npm run server -- agents /, "it ends the access of the agent: test/server/cli/agents.slow.test.ts runs it"],
  [
    /^npm run server -- releases /,
    "it needs a signed release of the agent: test/server/cli/releases.slow.test.ts runs it",
  ],
  [/^node test\/make-release-fixtures\.ts$/, "test/releases.slow.test.ts runs the generator"],
  [/^npm run test:crash /, "test/e2e/crash.slow.test.ts runs fewer cycles of it"],
];

export function exclusionReason(command: string): string | null {
  return EXCLUDED.find(([pattern]) => pattern.test(command))?.[1] ?? null;
}

const DOG = "fixtures/abaxis-vetscan-vs2/dog.astm";
const CLINIC = "clinic_01K9DEM0000000000000C00001";
const PATIENT = "patient_01K9DEM0000000000000P00001";

/**
 * Commands for the rows of the command tables, in the order in which they run, beside the server and the agent of the README's
 * steps. `$NAME` is replaced by a value from the output of earlier commands.
 */
export const LINES: readonly string[] = [
  "npm start -- --once",
  "npm run server -- run --port 0 --host 127.0.0.1 --data ./data/second --rate-limit device=120/3000",
  `npm run server -- import data/demo/clinics.ndjson --owner ${CLINIC}`,
  "npm run server -- export",
  "npm run server -- export all.ndjson",
  `npm run server -- ranges import ranges.ndjson --clinic ${CLINIC} --low-quality`,
  `npm run server -- ranges list --clinic ${CLINIC}`,
  `npm run server -- ranges export --clinic ${CLINIC}`,
  `npm run server -- users create --clinic ${CLINIC} --role admin --name NAME`,
  `npm run server -- users list --clinic ${CLINIC}`,
  "npm run server -- users reset NAME",
  "npm run server -- unmatched list",
  "npm run server -- unmatched show $UNMATCHED",
  `npm run server -- unmatched assign $UNMATCHED --patient ${PATIENT}`,
  "npm run server -- unmatched reopen $UNMATCHED",
  'npm run server -- unmatched reject $UNMATCHED --reason "another clinic\'s"',
  `npm run server -- study add --patient ${PATIENT} --clinic ${CLINIC} --file study.json`,
  `printf 'biochemistry\\n\\n\\nALT 150 U/L\\n\\n' | npm run server -- study add --patient ${PATIENT} --clinic ${CLINIC} --interactive`,
  "npm run server -- study history $STUDY",
  "npm run server -- study conflicts",
  `npm run server -- codes list --clinic ${CLINIC} --json`,
  "npm run server -- explain $STUDY --json",
  `npm run server -- keys create --clinic ${CLINIC} --name reader --permissions clinic.lab.view`,
  `npm run server -- keys list --clinic ${CLINIC}`,
  "npm run server -- keys roll $KEY --grace 24h",
  "npm run server -- keys revoke $KEY",
  `npm run server -- audit --since 24h --until 2100-01-01 --clinic ${CLINIC} --format text`,
  "npm run server -- audit --key $KEY --format json",
  "npm run server -- audit --format csv",
  "npm run server -- audit --json",
  "npm run server -- backup server.backup && npm run server -- restore server.backup --check",
  "npm run agent -- check --config agent.yaml --json",
  "npm run agent -- messages --state filed --device chem-1 --since 24h --json",
  "npm run agent -- messages --follow",
  "npm run agent -- status --json",
  "npm run agent -- capture $MESSAGE --raw",
  "npm run agent -- simulate us --to dicom://DX1@127.0.0.1:11112/VETWIRE",
  "npm run agent -- images list",
  "npm run agent -- images retry pacs",
  "npm run agent -- images preview $IMAGE --out preview.png",
  "npm run agent -- explain $STUDY",
  "npm run agent -- explain $MESSAGE --json",
  "npm run agent -- codes --json",
  "npm run agent -- reprocess --state filed --state quarantined --state unmatched --device chem-1 --since 24h --dry-run --json",
  `npm run agent -- simulate ${DOG} --to tcp://127.0.0.1:4001 --repeat 2`,
  `npm run agent -- simulate ${DOG} --to tcp://127.0.0.1:4001 --faults drop-ack:0.1,split:1,dup --seed 1`,
  "npm run agent -- simulate fixtures/generic-poct1a/dog.poct1 --to tcp://127.0.0.1:4010 --dialect strict,ack-eot",
  `npm run agent -- simulate --role host --to listen://127.0.0.1:4020 & until npm run agent -- simulate ${DOG} --to tcp://127.0.0.1:4020; do sleep 0.2; done; wait`,
  "npm run agent -- simulate --role host --to listen://127.0.0.1:4020 & until npm run agent -- simulate fixtures/generic-hl7/oru-r01.hl7 --to tcp://127.0.0.1:4020; do sleep 0.2; done; wait",
  "npm run agent -- ports --json",
  `npm run agent -- order --device lab-1 --patient ${PATIENT} --tests ALT,CREA --json`,
  "npm run agent -- lock --device poc-1 & npm run agent -- unlock --device poc-1; wait",
  `npm run agent -- replay ${DOG} --profile abaxis-vetscan-vs2 --species dog`,
  "npm run agent -- messages --bytes --device lab-1 --json",
  "npm run agent -- sniff --connection listen://127.0.0.1:4020 --duration 1 --json",
  "npm run agent -- sniff --connection listen://127.0.0.1:4020 --duration 1",
  "npm run agent -- sniff --device lab-1 --bytes --json",
  "npm run agent -- backup agent.backup --images && npm run agent -- restore agent.backup --check",
  "npm run agent -- resend --since 24h",
  "npm run agent -- doctor --offline --json --bundle support.zip || test $? = 1",
];
