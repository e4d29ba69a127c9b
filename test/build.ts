import { execFileSync } from "node:child_process";

/** Builds before the tests, since the slow tests start processes from the build. */
export function setup(): void {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
}
