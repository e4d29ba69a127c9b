import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fastify from "fastify";
import { expect, test } from "vitest";
import { pageFiles } from "../../../shared/network/page-files.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

function build(folder: string, script: string): void {
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, "assets", script), `/* ${script} */`);
  writeFileSync(join(folder, "index.html"), `<script src="/assets/${script}"></script>`);
}

test("a page that is built anew while the program runs is served with its new scripts", async () => {
  const folder = join(temporaryFolder(), "web");
  build(folder, "main-1.js");
  const app = fastify();
  await pageFiles(app, folder, { html: "index.html", urls: ["/page", "/page/*"] });
  const get = async (url: string) => {
    const { statusCode, body } = await app.inject(url);
    return [statusCode, body];
  };
  expect(await get("/page/1")).toEqual([200, '<script src="/assets/main-1.js"></script>']);
  expect(await get("/assets/main-1.js")).toEqual([200, "/* main-1.js */"]);

  // During a build there is no page: the last one stands in for it.
  renameSync(folder, `${folder}-old`);
  expect((await get("/page"))[0]).toBe(200);
  build(folder, "main-2.js");
  expect(await get("/page")).toEqual([200, '<script src="/assets/main-2.js"></script>']);
  expect(await get("/assets/main-2.js")).toEqual([200, "/* main-2.js */"]);
  expect((await get("/assets/main-1.js"))[0]).toBe(404);
  expect((await get("/assets/../index.html"))[0]).toBe(404);
  rmSync(`${folder}-old`, { recursive: true });
  await app.close();
});
