import { execFile, execFileSync } from "node:child_process";

// DCMTK's and GDCM's programs as foreign peers.

/** True if DCMTK is installed. Tests with its programs are skipped without it, with a message. */
export const dcmtk = isInstalled("storescu");
if (!dcmtk) process.stdout.write("dicom: skipped, DCMTK is not installed (apt-get install dcmtk)\n");

/** True if GDCM is installed, whose encoder writes JPEG 2000. */
export const gdcm = isInstalled("gdcmconv");
if (!gdcm) process.stdout.write("dicom: JPEG 2000 skipped, GDCM is not installed (apt-get install libgdcm-tools)\n");

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export interface ProgramResult {
  /** True for exit code 0. */
  readonly ok: boolean;
  readonly output: string;
}

export function run(program: string, ...args: readonly string[]): Promise<ProgramResult> {
  // Without TCP_NODELAY DCMTK's peers wait 40 ms for each small packet.
  const env = { ...process.env, TCP_NODELAY: "1" };
  return new Promise((resolve) => {
    execFile(program, args, { env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ ok: error === null, output: stdout + stderr }),
    );
  });
}
