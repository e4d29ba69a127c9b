import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { freePort, isFree, ROOT, temporaryFolder, until } from "../../support/machine/processes.ts";
import { useDemoPorts } from "../../support/peers/demo-ports.ts";

// Goal: the blocks of README.md work as written. Method: the repository is copied to a temporary folder, and its blocks run in their
// order: a shell runs the sh blocks, the yaml block becomes agent.yaml, and npm start prints the study of the json block. A free port
// replaces a port in use. test/shared/platform/package runs the Debian and Windows blocks.

/** Commands that run until a signal, with the output that shows they are ready. */
const READY = [
  [/^npm start$/, "Running until Ctrl-C."],
  [/^npm run server -- run/, "listening on"],
  [/^npm run agent -- run/, "the agent is running"],
] as const;
const NOT_RUN = ["npm ci", "npm test", "npm run test:all"];
const PORTS = [2575, 4001, 4010, 8080, 8081];

interface Study {
  readonly fp: string;
  readonly results: readonly { readonly analyte: string }[];
}

let folder: string;
const ports = new Map<number, number>();
const running: ChildProcess[] = [];

useDemoPorts();

beforeAll(async () => {
  folder = fs.realpathSync(temporaryFolder());
  // The build makes the documentation of all of them.
  const folders = [".github", "agent", "fixtures", "server", "shared", "test"];
  for (const name of [...folders, "CHANGELOG.md", "README.md", "package.json", "tsconfig.json"])
    fs.cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  fs.symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
  for (const port of PORTS) ports.set(port, (await isFree(port)) ? port : await freePort());
});

afterAll(async () => {
  for (const child of running) await end(child);
  fs.rmSync(folder, { recursive: true, force: true });
});

/** @returns the blocks of README.md: the language, the file it names, and the text */
function blocks(): { readonly language: string; readonly file: string; readonly text: string }[] {
  const readme = fs.readFileSync(path.join(ROOT, "README.md"), "utf8");
  return [...readme.matchAll(/^( *)```(\w+) *(\S*)\n([^]*?)\n\1```$/gm)].map((found) => {
    const [, indent = "", language = "", file = "", text = ""] = found;
    return { language, file, text: withPorts(text.replaceAll(new RegExp(`^${indent}`, "gm"), "")) };
  });
}

/** @returns the commands of a sh block: one per line, without comments. A backslash continues a line. */
function commandsOf(text: string): string[] {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  return lines.flatMap((line) => line.replace(/ +# .*$/, "").split(" && ")).map((command) => command.trim());
}

test("the commands of README.md work as written, in their order", { timeout: 600_000 }, async () => {
  let printed = "";
  for (const { language, file, text } of blocks()) {
    if (language === "sh") {
      for (const command of commandsOf(text).filter((each) => !NOT_RUN.includes(each))) printed += await run(command);
    } else if (file !== "" && language === "yaml") {
      fs.writeFileSync(path.join(folder, file), `${text}\n`);
    } else if (language === "json") {
      const { data } = JSON.parse(text) as { readonly data: Study };
      const analytes = data.results.map(({ analyte }) => analyte);
      const shown = studiesIn(printed).map((study) => ({
        ...study,
        fp: data.fp,
        results: study.results.filter(({ analyte }) => analytes.includes(analyte)),
      }));
      const isShown = shown.some((study) => isDeepStrictEqual(study, data));
      if (!isShown) throw new Error(`expected npm start to print ${text}`);
    }
  }
  const messages = await until("the sample is settled", () => {
    const all = readSpool(path.join(folder, "data/agent"), listMessages);
    return all.length > 0 && all.every(({ state }) => state !== "pending") ? all : null;
  });
  expect(messages).toMatchObject([{ device: "chem-1", state: "filed" }]);
  expect(await run("npm start -- --once")).toContain('"analyte": "ALT"');
});

/** @returns the studies in multi-line JSON responses */
function studiesIn(text: string): Study[] {
  return [...text.matchAll(/^\{\n[^]*?\n\}$/gm)].map(([json]) => (JSON.parse(json) as { readonly data: Study }).data);
}

/** Runs a command until it ends or is ready. The demo ends before the next command. @returns its output. @throws if it fails */
async function run(command: string): Promise<string> {
  const port = /server -- run/.test(command) && ports.get(8080) !== 8080 ? ` --port ${ports.get(8080)}` : "";
  const child = spawn("sh", ["-c", command + port], { cwd: folder, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += String(text)));
  running.push(child);
  const closed = once(child, "close");
  const ready = READY.find(([pattern]) => pattern.test(command))?.[1];
  if (ready === undefined) {
    await closed;
    if (child.exitCode !== 0) throw new Error(`${command} ended with ${child.exitCode}: ${output}`);
    return output;
  }
  await until(`${command} prints ${ready}`, () => {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${output}`);
    return output.includes(ready);
  });
  if (command === "npm start") await end(child);
  if (ready === "the agent is running") {
    await until("the agent has fetched the patients", () =>
      readSpool(path.join(folder, "data/agent"), (db) => db.prepare("SELECT 1 FROM identifier").pluck().get()),
    );
  }
  return output;
}

/** Sends SIGINT to all processes of a command, as Ctrl-C does, and waits for its end. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  process.kill(-child.pid, "SIGINT");
  await ended;
}

function withPorts(text: string): string {
  return text.replaceAll(/(?<=:)\d{4,5}\b/g, (port) => String(ports.get(Number(port)) ?? port));
}
