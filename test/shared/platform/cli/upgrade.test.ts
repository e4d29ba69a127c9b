import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { upgradeCommand } from "../../../../shared/platform/cli/upgrade.ts";
import { writeRunning } from "../../../../shared/platform/upgrade/version-store.ts";
import { temporaryFolder, until } from "../../../support/machine/processes.ts";

test("a service that ends while it prepares an upgrade ends the command", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const [versions, started_at] = [path.join(folder, "versions"), "2026-11-23T18:00:00.000Z"];
  fs.mkdirSync(versions);
  writeRunning(versions, { version: "0.1.0", started_at, process: 1 });
  const command = upgradeCommand.parseAsync(["--version", "0.2.0", "--versions", versions], { from: "user" });
  const end = command.then(
    () => "done",
    (error: Error) => error.message,
  );
  const request = path.join(versions, "request.json");
  await until("a request", () => fs.existsSync(request));
  const { id } = JSON.parse(fs.readFileSync(request, "utf8")) as { readonly id: string };
  fs.rmSync(request);
  const answer = { id, version: "0.2.0", sentences: [], is: "under way" };
  fs.writeFileSync(path.join(versions, "answer.json"), JSON.stringify(answer));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  writeRunning(versions, { version: "0.1.0", started_at, process: 2 });
  expect(await end).toBe("the service restarted meanwhile: try again");
});
