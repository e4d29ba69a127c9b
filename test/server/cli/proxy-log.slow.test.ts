import fs from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { SERVER, start, temporaryFolder, until } from "../../support/machine/processes.ts";

test("a server names the proxy of its webhooks at its start, without the password", async () => {
  const folder = temporaryFolder();
  const env = { https_proxy: "", HTTPS_PROXY: "http://vet:s3cret@proxy.example:3128", NO_PROXY: "", no_proxy: "" };
  const server = start(SERVER, ["run", "--port", "0", "--data", folder], env);
  onTestFinished(async () => {
    await server.end();
    fs.rmSync(folder, { recursive: true });
  });
  await until("the proxy is named", () => server.output().includes("the proxy proxy.example:3128 (HTTPS_PROXY)"));
  expect(server.output()).not.toContain("s3cret");
});
