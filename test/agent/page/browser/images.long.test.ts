import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { playModality } from "../../../../agent/tools/simulator/modality.ts";
import { generateInstance } from "../../../../agent/tools/simulator/generated-study.ts";
import type { LocalImages } from "../../../../agent/page/types/images.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  useBrowser,
} from "../../../support/peers/browser.ts";
import { dcmtk, run } from "../../../support/protocols/dcmtk.ts";
import { generatedFile } from "../../../support/runner/generated-file.ts";
import { takingServer } from "../../../support/peers/local-page.ts";
import { freePort, until } from "../../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";

// Method: the simulator and DCMTK send images to a complete agent. A browser looks at them on the agent's page.

const REX = { id: "10021", name: "X^Rex", species: "dog" };

let agent: TestAgent;
let browser: Browser;

describe.skipIf(browserProblem() !== null)("images in the agent's page", () => {
  useBrowser((shared) => {
    browser = shared;
  });
  useAgent((made) => {
    agent = made;
  });

  async function started() {
    const port = await freePort();
    const connection = { listen: `127.0.0.1:${port}` };
    const device = { id: "sono", profile: "dicom", connection, quietSeconds: 1 };
    await agent.run([device], takingServer);
    const url = `http://127.0.0.1:${agent.host.port}`;
    const listed = async () => ((await (await fetch(`${url}/local/v1/images`)).json()) as LocalImages).studies;
    const preview = (id: string, query = "") => fetch(`${url}/local/v1/images/${id}/preview${query}`);
    return { port, url, listed, preview };
  }

  const send = (port: number, kinds: readonly ("cr" | "us" | "sr")[]) =>
    playModality(
      { address: { host: "127.0.0.1", port }, calledAe: "VETWIRE", callingAe: "US1" },
      kinds,
      REX,
      "20260504090000",
    );

  async function allDrawn(page: Page, count: number): Promise<void> {
    const drawn = "[...document.images].filter(({ naturalWidth }) => naturalWidth > 0).length";
    await expect.poll(() => page.evaluate(drawn), { timeout: 20_000 }).toBe(count);
  }

  test("images appear small, a clip is turned by its frames, and a report explains why it has no picture", async () => {
    const { port, url, listed } = await started();
    const page = await browser.newPage();
    await page.goto(`${url}/`);
    await page.getByRole("link", { name: "Images" }).click();
    await page.getByText("No image yet").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);

    await send(port, ["us", "cr", "sr"]);
    await until("a decided study", async () => ((await listed())[0]?.states.join() === "unmatched" ? true : null));
    await page.getByText("patient not known").waitFor();
    await allDrawn(page, 2);
    const clip = page.getByRole("button", { name: "Image 1 of 3, not for diagnosis" });
    await expect.poll(() => clip.textContent()).toContain("Clip, 8 frames");
    await page.getByRole("button", { name: "No picture:" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);

    await clip.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Frame 1 of 8").waitFor();
    await dialog.getByText("Not for diagnosis").waitFor();
    await dialog.getByRole("img").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    const asked = page.waitForResponse((response) => response.url().includes("frame=2&side=1024"));
    await dialog.getByRole("button", { name: "Next frame" }).click();
    expect((await asked).status()).toBe(200);
    await dialog.getByText("Frame 2 of 8").waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await dialog.getByText("Frame 8 of 8").waitFor();
    await dialog.getByRole("img").waitFor();
    // The space bar plays the clip, and ends it.
    await page.keyboard.press("Space");
    await dialog.getByText("Frame 3 of 8").waitFor();
    await page.keyboard.press("Space");
    await dialog.getByRole("button", { name: "Play" }).waitFor();
    // The file of the original is the stored one.
    const loading = page.waitForEvent("download");
    await dialog.getByRole("link", { name: "Download the original (DICOM)" }).click();
    const original = await loading;
    expect(original.suggestedFilename()).toMatch(/^[A-Za-z0-9-]+\.dcm$/);
    const stored = path.join(agent.folder, "data", "images", original.suggestedFilename());
    expect(fs.readFileSync(await original.path()).equals(fs.readFileSync(stored))).toBe(true);
    await page.keyboard.press("PageDown");
    await dialog.getByRole("heading", { name: "Image 2 of 3" }).waitFor();
    await expect.poll(() => dialog.getByRole("button", { name: "Play" }).count()).toBe(0);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "No picture:" }).click();
    await dialog.getByText("Look at it on the device or in the archive.").waitFor();
    await expect
      .poll(() => dialog.getByRole("button").allTextContents())
      .toEqual(["Previous image", "Next image", "Close"]);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Close" }).click();
    await chooseLanguage(page, "tr");
    await page.getByRole("img", { name: "Görüntü 2 / 3, tanı için değildir" }).waitFor();
    await expectFitsPhone(page);
    await page.close();
  });

  test("a picture is requested within bounds, and a missing one has its reason", async () => {
    const { port, url, listed, preview } = await started();
    await send(port, ["us", "cr"]);
    const [study] = await until("an image", async () => ((await listed())[0]?.images === 2 ? listed() : null));
    const [clip, still] = study!.shown.map(({ id }) => id);
    const drawn = await preview(clip!, "?frame=8");
    expect([drawn.status, drawn.headers.get("content-type"), drawn.headers.get("vetwire-frames")]).toEqual([
      200,
      "image/png",
      "8",
    ]);
    expect(Buffer.from(await drawn.arrayBuffer()).readUInt32BE(16)).toBe(64);
    const statuses = ["?frame=9", "?frame=0", "?frame=x", "?side=4096"].map((query) => preview(clip!, query));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([422, 400, 400, 400]);
    expect((await preview("nothing")).status).toBe(404);
    const original = (id: string) => fetch(`${url}/local/v1/images/${id}/original`);
    const file = await original(still!);
    expect([file.headers.get("content-type"), file.headers.get("content-disposition")]).toEqual([
      "application/dicom",
      `attachment; filename="${still}.dcm"`,
    ]);
    expect(Buffer.from(await file.arrayBuffer()).toString("latin1", 128, 132)).toBe("DICM");
    const wrong = ["nothing", "..%2F..%2Fagent.yaml", study!.study_uid].map(original);
    expect((await Promise.all(wrong)).map(({ status }) => status)).toEqual([404, 404, 404]);

    // A browser may request many simultaneously: beyond the bound the response is that the agent is busy.
    const crowd = await Promise.all(Array.from({ length: 40 }, () => preview(still!)));
    expect(new Set(crowd.map(({ status }) => status))).toEqual(new Set([200, 503]));
    expect(((await crowd.find(({ status }) => status === 503)!.json()) as { error: object }).error).toMatchObject({
      message: "the agent draws other pictures: try it again in a moment",
    });
    // Another machine gets no picture without the PIN.
    const settings = JSON.parse(agent.host.text() ?? "") as object;
    const listen = `0.0.0.0:${await freePort()}`;
    expect(await agent.host.apply(JSON.stringify({ ...settings, status: { listen } }))).toEqual({ outcome: "applied" });
    const own = `http://127.0.0.1:${agent.host.port}/local/v1/images`;
    const headers = { "x-forwarded-for": "192.0.2.6" };
    for (const address of [own, `${own}/${still}/preview`, `${own}/${still}/original`]) {
      expect([(await fetch(address, { headers })).status, (await fetch(address)).status]).toEqual([401, 200]);
    }
  });

  test.skipIf(!dcmtk)("a lossless JPEG is drawn, and an image without its file reports that", async () => {
    const { port, url, listed, preview } = await started();
    const plain = path.join(agent.folder, "plain.dcm");
    const study = { patient: REX, uid: "2.25.4711", at: "20260504090000" };
    fs.writeFileSync(plain, generatedFile(generateInstance("cr", study, 1)));
    const compressed = `${plain}.jpeg`;
    expect(await run("dcmcjpeg", "+e1", plain, compressed)).toMatchObject({ ok: true });
    expect(await run("storescu", "-xs", "-aec", "VETWIRE", "127.0.0.1", String(port), compressed)).toMatchObject({
      ok: true,
    });
    const [first] = await until("an image", async () => ((await listed()).length === 1 ? listed() : null));
    const page = await browser.newPage();
    await page.goto(`${url}/images`);
    await allDrawn(page, 1);
    fs.rmSync(path.join(agent.folder, "data", "images", `${first!.shown[0]!.id}.dcm`));
    expect((await preview(first!.shown[0]!.id)).status).toBe(422);
    await page.getByRole("button", { name: "Image 1 of 1" }).click();
    await page.getByRole("alert").getByText("Look at it on the device or in the archive.").waitFor();
    await page.close();
  });
});
