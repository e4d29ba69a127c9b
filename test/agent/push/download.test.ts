import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { temporaryFolder } from "../../support/processes.ts";
import { scriptedServer, type Step } from "../../support/scripted-server.ts";

async function downloaded(step: Step, bytesMax: number): Promise<string> {
  const folder = temporaryFolder();
  const server = await scriptedServer(() => step);
  onTestFinished(async () => {
    await server.close();
    fs.rmSync(folder, { recursive: true });
  });
  const file = path.join(folder, "file");
  await createServerClient(server.url, () => "key", 500).download("/agent/v1/releases/file", file, bytesMax);
  return fs.readFileSync(file, "latin1");
}

test("a file is downloaded up to its bound", async () => {
  const body = Buffer.alloc(200_000, "x");
  expect(await downloaded({ status: 200, body }, 200_000)).toBe(body.toString());
  await expect(downloaded({ status: 200, body }, 199_999)).rejects.toThrow("expected at most 199999 bytes");
});

test.each<[string, Step, string]>([
  ["refuses", { status: 404 }, "the server answered 404: TEST.ERROR It is scripted."],
  ["redirects", { status: 302, body: "elsewhere" }, "the server answered 302: no error envelope"],
  ["ends the connection", "cut", "the server cannot be reached"],
  ["says nothing", "hang", "the server cannot be reached: no response in time"],
  [
    "ends within the file",
    { status: 200, body: "short", headers: { "content-length": "50" } },
    "the server cannot be reached",
  ],
])("a download from a server that %s fails with its reason", async (_, step, reason) => {
  await expect(downloaded(step, 1_000)).rejects.toThrow(reason);
});
