import { execFile, execFileSync } from "node:child_process";

// DCMTK's programs as foreign peers.

/** Tests against them are left out, and say so, where DCMTK is missing. */
export const dcmtk = isInstalled();
if (!dcmtk) process.stdout.write("dicom: left out, DCMTK is not installed (apt-get install dcmtk)\n");

function isInstalled(): boolean {
  try {
    execFileSync("storescu", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** What a program said and whether it was content. */
export interface Ran {
  readonly ok: boolean;
  readonly output: string;
}

export function run(program: string, ...args: readonly string[]): Promise<Ran> {
  // Without it DCMTK's peers wait 40 ms for each of their own small packets.
  const env = { ...process.env, TCP_NODELAY: "1" };
  return new Promise((resolve) => {
    execFile(program, args, { env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ ok: error === null, output: stdout + stderr }),
    );
  });
}
