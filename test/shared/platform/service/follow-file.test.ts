import fs from "node:fs";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { followFile, lastLines } from "../../../../shared/platform/service/follow-file.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

test("the last lines of a log are shown, and later ones also after it started again", async () => {
  const file = path.join(temporaryFolder(), "service.log");
  fs.writeFileSync(file, "one\ntwo\nthree\n");
  expect(lastLines(file, 2)).toEqual(["two", "three"]);
  const end = new AbortController();
  let shown = "";
  const following = followFile(file, (text) => (shown += text), end.signal);
  fs.appendFileSync(file, "four ş\n");
  await vi.waitFor(() => expect(shown).toBe("four ş\n"), { timeout: 30_000 });
  fs.renameSync(file, `${file}.1`);
  fs.writeFileSync(file, "five\n");
  await vi.waitFor(() => expect(shown).toBe("four ş\nfive\n"), { timeout: 30_000 });
  end.abort();
  await following;
});

test("a missing log is reported with its reason", () => {
  expect(() => lastLines("/nowhere/service.log", 1)).toThrow(
    "/nowhere/service.log is missing: the service has not started yet",
  );
});
