import { execFile, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { errorMessage } from "../runtime/error-message.ts";
import type { Answer, Platform, Step } from "./platform.ts";

// Carries out what a platform tells.

/** Time for one command: a service manager waits for the stop of the program. */
const COMMAND_MS = 90_000;

export interface Machine {
  readonly platform: Platform;
  /** A folder before the paths of all files: empty, but in tests. */
  readonly root: string;
}

/** Asks for the answers of commands, one after the other. */
export async function answersOf(commands: readonly (readonly string[])[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const words of commands) answers.push(await answerOf(words));
  return answers;
}

/**
 * Carries out steps, one after the other.
 * @returns notes for the user
 * @throws Error that names the step that failed
 */
export async function carryOut(steps: readonly Step[], { platform, root }: Machine): Promise<string[]> {
  const notes: string[] = [];
  for (const step of steps) {
    switch (step.do) {
      case "run": {
        const { code, text } = await answerOf(step.words);
        if (code !== 0 && step.mayFail !== true) throw new Error(failureOf(platform, step.words, code, text));
        break;
      }
      case "write":
        makeFile(path.join(root, step.file), step.text);
        break;
      case "remove":
        fs.rmSync(path.join(root, step.file), { force: true });
        break;
      case "folder": {
        const note = await makeFolder(path.join(root, step.folder), step.owner);
        if (note !== null) notes.push(note);
      }
    }
  }
  return notes;
}

/** Runs a program that shows a log, until it ends. @returns its exit code */
export function show(words: readonly string[]): Promise<number> {
  const [program = "", ...args] = words;
  return new Promise((resolve, reject) => {
    const reader = spawn(program, args, { stdio: "inherit" });
    reader.once("error", () => reject(new Error(`${program} is missing: this machine keeps no log of services`)));
    reader.once("close", (code) => resolve(code ?? 0));
  });
}

function answerOf([program = "", ...args]: readonly string[]): Promise<Answer> {
  return new Promise((resolve) => {
    // Times in UTC and words in English, whatever the machine speaks.
    const env = { ...process.env, TZ: "UTC", LC_ALL: "C" };
    execFile(program, args, { timeout: COMMAND_MS, env, windowsHide: true }, (error, stdout, stderr) => {
      const text = `${stdout}${stderr}`;
      if (error === null) resolve({ code: 0, text });
      else if (error.code === "ENOENT") resolve({ code: null, text });
      else resolve({ code: typeof error.code === "number" ? error.code : 1, text });
    });
  });
}

function failureOf(platform: Platform, words: readonly string[], code: number | null, text: string): string {
  const command = words.join(" ");
  if (code === null) return `${words[0] ?? ""} is missing on this machine, and the service needs it`;
  // Windows tells the missing right by its number; its words have translations.
  if (/\b5:/.test(text)) return `an administrator has to do this: ${platform.asAdministrator(command)}`;
  const said = text.trim().slice(-500);
  return `${command} failed with code ${code}${said === "" ? "" : `: ${said}`}`;
}

function makeFile(file: string, text: string): void {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text, { mode: 0o644 });
  } catch (error) {
    throw new Error(`${file} cannot be written: ${errorMessage(error)}`, { cause: error });
  }
}

/** Creates a folder for its owner. @returns a note on an existing folder of another user */
async function makeFolder(folder: string, owner: string | null): Promise<string | null> {
  const existing = fs.statSync(folder, { throwIfNoEntry: false });
  if (existing === undefined) {
    fs.mkdirSync(folder, { recursive: true, mode: 0o750 });
    if (owner === null) return null;
    const { code, text } = await answerOf(["chown", `${owner}:`, folder]);
    return code === 0 ? null : `${folder} has no owner for the service: ${text.trim()}`;
  }
  if (owner === null) return null;
  const { text } = await answerOf(["id", "-u", owner]);
  if (Number(text.trim()) === existing.uid) return null;
  return `the service runs as the user ${owner}, who has to read and write ${folder}: chown -R ${owner}: ${folder}`;
}
