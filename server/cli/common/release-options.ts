import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import { PROGRAM_FOLDER } from "../../../shared/files/program-files.ts";

// The options of the commands that take releases of the agent.

/** @throws InvalidArgumentError for another text than an address of http or https */
export function parseFeedUrl(text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new InvalidArgumentError("expected an address such as https://downloads.example/latest.json");
}

/** Reads the key of the releases: that of a file, or the one of this program. @throws Error if there is none */
export function readPublicKey(file: string | undefined): string {
  const own = join(PROGRAM_FOLDER, "release.pub");
  if (file === undefined && !existsSync(own)) {
    throw new Error(
      "this program has no release key of its own: name the file with the key by --public-key, which releases add and " +
        "releases fetch take",
    );
  }
  return readFileSync(file ?? own, "utf8");
}
