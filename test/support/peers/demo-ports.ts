import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import { lockFolder } from "../../../shared/files/folder-lock.ts";

const WAIT_MS = 10 * 60_000;

/** Makes the files that start the demo run one after the other: two that choose its ports at the same moment choose the same ones. */
export function useDemoPorts(): void {
  const folder = path.join(os.tmpdir(), "vetwire-demo-ports");
  let release: (() => void) | undefined;
  beforeAll(async () => {
    fs.mkdirSync(folder, { recursive: true });
    for (;;) {
      try {
        release = lockFolder(folder, "held");
        return;
      } catch (error) {
        if (!(error instanceof Error && error.message === "held")) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  }, WAIT_MS);
  afterAll(() => release?.());
}
