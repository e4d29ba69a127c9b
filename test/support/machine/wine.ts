import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

// Windows programs under wine, in a Windows folder of their own.

/** True if wine is installed. Tests with it are skipped without it, with a message. */
export const wine = isInstalled("wine", "--version");
if (!wine) process.stdout.write("wine: skipped, wine is not installed (apt-get install wine64)\n");

/** True if the programs that make packages for Windows are installed. */
export const wixl = isInstalled("wixl", "--version") && isInstalled("msiinfo", "--version");
if (!wixl) process.stdout.write("msi: skipped, wixl is not installed (apt-get install wixl msitools)\n");

function isInstalled(program: string, word: string): boolean {
  try {
    execFileSync(program, [word], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A command ends within this time, also on a machine with other work. */
const COMMAND_MS = 120_000;

export interface WineResult {
  /** The exit code, of which Linux keeps eight bits. */
  readonly code: number;
  readonly output: string;
}

/** A Windows of its own: its drives, its services and its processes. */
export class Windows {
  readonly #folder = fs.mkdtempSync(path.join(os.tmpdir(), "vetwire-wine-"));
  readonly #env = {
    ...process.env,
    WINEPREFIX: this.#folder,
    WINEDEBUG: "-all",
    // Neither .NET nor a browser: wine would prompt for their download.
    WINEDLLOVERRIDES: "mscoree=;mshtml=",
    DISPLAY: "",
  };

  #commands = 0;

  static async start(): Promise<Windows> {
    const windows = new Windows();
    windows.#boot();
    const made = await windows.run("winecfg", "-v", "win10");
    if (made.code !== 0) throw new Error(`wine made no Windows folder: ${made.output}`);
    return windows;
  }

  /** Ends every process, and starts the services that start with the machine. */
  async restart(): Promise<void> {
    this.#shutDown();
    this.#boot();
    await this.run("cmd", "/c", "ver");
  }

  /**
   * Starts wine's server, which starts the services with the first command. Debian's script gives it -p0: it would end with the
   * last command, and the next one would start every service again, also a stopped one. Nothing changes a server that runs.
   */
  #boot(): void {
    this.#server("-p");
  }

  #shutDown(): void {
    this.#server("-k");
    this.#server("-w");
  }

  #server(option: string): void {
    execFileSync("wineserver", [option], { env: this.#env, stdio: "ignore", timeout: COMMAND_MS });
  }

  /** Returns the Linux path of a file on drive C. */
  drive(...names: readonly string[]): string {
    return path.join(this.#folder, "drive_c", ...names);
  }

  /** Returns the path of Windows for a file of Linux. */
  static pathOf(file: string): string {
    return `Z:${file.replaceAll("/", "\\")}`;
  }

  run(...words: readonly string[]): Promise<WineResult> {
    // Node under wine cannot write to a pipe of Linux, so the output goes to a file.
    const file = path.join(this.#folder, `output-${(this.#commands += 1)}.txt`);
    const output = fs.openSync(file, "w");
    const child = spawn("wine", words, {
      env: this.#env,
      timeout: COMMAND_MS,
      killSignal: "SIGKILL",
      stdio: ["ignore", output, "ignore"],
    });
    fs.closeSync(output);
    return new Promise((resolve, reject) => {
      child.once("close", (code) => {
        if (code === null) reject(new Error(`wine ${words.join(" ")} did not end within ${COMMAND_MS} ms`));
        else resolve({ code, output: fs.readFileSync(file, "utf8").replaceAll("\r", "") });
      });
    });
  }

  /** Returns the Linux process ids of a program, by a part of its command line. */
  processes(part: string): number[] {
    return fs
      .readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((id) => {
        try {
          const [command, environment] = ["cmdline", "environ"].map((name) =>
            fs.readFileSync(`/proc/${id}/${name}`, "utf8"),
          );
          return (
            command!.split("\0").join(" ").startsWith(part) && environment!.includes(`WINEPREFIX=${this.#folder}\0`)
          );
        } catch {
          // It ended meanwhile.
          return false;
        }
      })
      .map(Number);
  }

  end(): void {
    try {
      this.#shutDown();
    } finally {
      fs.rmSync(this.#folder, { recursive: true, force: true });
    }
  }
}
