import { execFile, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { errorMessage } from "../../runtime/error-message.ts";
import type { Answer, Platform, Step } from "./platform.ts";

// Carries out the steps of a platform.

/** Time for one command: a service manager waits for the stop of the program. */
const COMMAND_MS = 90_000;

export interface Machine {
  readonly platform: Platform;
  /** A folder before the paths of all files: empty, but in tests. */
  readonly root: string;
}

/** Runs commands one after the other, and returns their results. */
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
      case "run":
        await run(step.words, platform, step.mayFail);
        break;
      case "write":
        makeFile(path.join(root, step.file), step.text);
        break;
      case "remove":
        fs.rmSync(path.join(root, step.file), { force: true });
        break;
      case "folder": {
        const folder = path.join(root, step.folder);
        const isFound = makeFolder(folder);
        if ("made" in step) {
          await run(isFound ? step.found : step.made, platform);
          break;
        }
        const note = await giveFolder(folder, step.owner, isFound);
        if (note !== null) notes.push(note);
      }
    }
  }
  return notes;
}

async function run(words: readonly string[], platform: Platform, mayFail = false): Promise<void> {
  const { code, text } = await answerOf(words);
  if (code !== 0 && !mayFail) throw new Error(failureOf(platform, words, code, text));
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
    // Times in UTC and words in English, whatever the language of the machine.
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
  // Windows reports the missing right by its number; its words are translated.
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

/** Creates a missing folder. @returns whether it was there */
function makeFolder(folder: string): boolean {
  if (fs.existsSync(folder)) return true;
  fs.mkdirSync(folder, { recursive: true, mode: 0o750 });
  return false;
}

/** Gives a new folder to the user of the service. @returns a note on a folder of another user */
async function giveFolder(folder: string, owner: string, isFound: boolean): Promise<string | null> {
  if (isFound) {
    if (await isOwnedBy(folder, owner)) return null;
    return `the service runs as the user ${owner}, who has to read and write ${folder}: chown -R ${owner}: ${folder}`;
  }
  const { code, text } = await answerOf(["chown", `${owner}:`, folder]);
  return code === 0 ? null : `${folder} has no owner for the service: ${text.trim()}`;
}

/** Whether an existing folder belongs to a user. */
export async function isOwnedBy(folder: string, user: string): Promise<boolean> {
  const { text } = await answerOf(["id", "-u", user]);
  return Number(text.trim()) === fs.statSync(folder).uid;
}
