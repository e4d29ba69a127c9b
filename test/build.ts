import { execFileSync } from "node:child_process";

/** The slow suites start real processes from the build. */
export function setup(): void {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
}
