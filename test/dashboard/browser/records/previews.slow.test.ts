import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { playModality } from "../../../../agent/tools/simulator/modality.ts";
import { encodePng, withFrames } from "../../../../agent/imaging/files/png.ts";
import { previewPath } from "../../../../shared/api/agent/preview.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import { VIEWER_PRESETS } from "../../../../server/dashboard/types/results/viewer-link.ts";
import type { TodayState } from "../../../../server/dashboard/types/results/today.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { freePort, until } from "../../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";
import { clinic, connection, keyPermissions, patient, study } from "../../../server/harness.ts";
import { makeUser, startDashboard } from "../../harness.ts";

// Method: the simulator sends images to a complete agent, which files the study at a real server. A browser looks at its page.

const fp = newFp("clinic");
const dog = patient({ external_ids: ["10021"] });

let agent: TestAgent;
useAgent((created) => (agent = created));

describe.skipIf(browserProblem() !== null)("previews in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("the images of a study appear on its page, small and large, marked as not for diagnosis", async () => {
    const server = await startDashboard(clinic(fp), dog, connection(dog.fp, fp));
    server.clock.now = Date.now();
    const key = await server.makeKey(fp, ["clinic.lab.ingest", "clinic.patient.view", "clinic.calendar.view"]);
    fs.writeFileSync(path.join(agent.folder, "agent.key"), key, { mode: 0o600 });
    const port = await freePort();
    const device = { id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${port}` }, quietSeconds: 1 };
    await agent.runWith(server.url, [device]);
    const target = { address: { host: "127.0.0.1", port }, calledAe: "VETWIRE", callingAe: "DX1" };
    await playModality(target, ["cr", "cr", "cr"], { id: "10021", name: "X^Rex", species: "dog" }, "20260504090000");

    const user = await makeUser(server, "reader", fp);
    const filed = await until("the pictures", async () => {
      const [newest] = (await user.call<TodayState>("GET", "/today")).body.newest;
      if (newest === undefined) return null;
      const { body } = await user.call<{ previews: unknown[] }>("GET", `/results/${newest.fp}/previews`);
      return body.previews.length === 3 ? newest : null;
    });

    const { study_instance_uid: uid } = (await user.call<StudyPage>("GET", `/results/${filed.fp}`)).body;
    expect(uid).toMatch(/^[0-9.]+$/);
    const viewer = { language: null, time_zone: null, viewer_template: VIEWER_PRESETS.OHIF };
    const admin = await makeUser(server, "admin", fp);
    expect((await admin.call("PUT", "/settings/clinic", viewer)).status).toBe(200);

    // The second image becomes a clip.
    await put(server.url, key, previewPath(filed.fp, 2), withFrames(shade(0), [shade(60), shade(120), shade(180)]));

    const page = await server.openAs(browser, "staff", fp, `/results/${filed.fp}`);
    const link = page.getByRole("link", { name: "Open in the archive’s viewer" });
    await expect.poll(() => link.getAttribute("href")).toBe(`https://pacs.example/viewer?StudyInstanceUIDs=${uid}`);
    const second = page.getByRole("img", { name: "Image 2 of 3, not for diagnosis" });
    await second.first().waitFor();
    await expect.poll(() => page.getByText("Not for diagnosis").first().isVisible()).toBe(true);
    const isDrawn = "[...document.images].every((image) => image.complete && image.naturalWidth > 0)";
    await expect.poll(() => page.evaluate<boolean>(isDrawn)).toBe(true);
    await expectAccessible(page);
    await expectFitsPhone(page);

    await page.getByRole("button", { name: "Image 2 of 3" }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Image 2 of 3" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    // Keys, buttons and a slider change the size, the place and the look; 0 ends it.
    const look = () => lookOf(page);
    await page.keyboard.press("+");
    await dialog.getByRole("button", { name: "Larger" }).click();
    await dialog.getByText("156 %").waitFor();
    await page.keyboard.press("Shift+ArrowRight");
    await dialog.getByLabel("Brightness").press("ArrowRight");
    await expect.poll(look).toBe("translate(-60px, 0px) scale(1.5625) brightness(110%) contrast(100%)");
    await dialog.getByRole("heading", { name: "Image 2 of 3" }).waitFor();
    await dialog.getByRole("button", { name: "Fit" }).press("0");
    await expect.poll(look).toBe("translate(0px, 0px) scale(1) ");
    // Two fingers apart make it larger.
    const { x, y, width, height } = (await dialog.getByRole("region", { name: "Picture" }).boundingBox())!;
    const touches = await page.context().newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...apart: number[]) =>
      touches.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: apart.map((by, id) => ({ x: x + width / 2 + by, y: y + height / 2, id })),
      });
    await touch("touchStart", -50, 50);
    await touch("touchMove", -100, 100);
    await touch("touchEnd");
    await dialog.getByText("200 %").waitFor();
    await page.keyboard.press("0");
    // The arrows step through the frames of a clip, the space bar plays it, Page Down leaves it.
    await dialog.getByText("Picture 1 of 3 of the clip").waitFor();
    await page.keyboard.press("ArrowLeft");
    await dialog.getByText("Picture 3 of 3 of the clip").waitFor();
    const stage = dialog.getByRole("region", { name: "Picture" });
    await stage.press(" ");
    await dialog.getByText("Picture 2 of 3 of the clip").waitFor();
    await stage.press(" ");
    await dialog.getByRole("button", { name: "Play" }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press("PageDown");
    await dialog.getByRole("heading", { name: "Image 3 of 3" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await dialog.getByRole("heading", { name: "Image 1 of 3" }).waitFor();
    // Two keys come before the page is drawn again.
    await page.evaluate(
      "for (const _ of [1, 2]) dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' })); undefined",
    );
    await dialog.getByRole("heading", { name: "Image 3 of 3" }).waitFor();
    // Full screen by key and button keeps the picture, its keys and the warning.
    const full = () => page.evaluate<string | null>("document.fullscreenElement?.className ?? null");
    await page.keyboard.press("f");
    await expect.poll(full).toBe("picture-view");
    await page.keyboard.press("ArrowRight");
    await dialog.getByRole("img", { name: "Image 1 of 3, not for diagnosis" }).waitFor();
    const warning = await dialog.getByText("Not for diagnosis", { exact: true }).boundingBox();
    expect(warning!.y + warning!.height).toBeLessThanOrEqual(page.viewportSize()!.height);
    await expectAccessible(page);
    await page.keyboard.press("f");
    await expect.poll(full).toBeNull();
    await dialog.getByRole("button", { name: "Full screen" }).click();
    await expect.poll(full).toBe("picture-view");
    await dialog.getByRole("button", { name: "Full screen" }).click();
    await expect.poll(full).toBeNull();
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.locator("button:focus").waitFor();
    await chooseLanguage(page, "tr");
    await page.getByRole("img", { name: "Görüntü 1 / 3, tanı için değildir" }).first().waitFor();
    await expectFitsPhone(page);
  });

  test("an image that arrives while a later one is open changes neither the open one nor its size", async () => {
    const server = await startDashboard(clinic(fp), dog, connection(dog.fp, fp));
    const key = await server.makeKey(fp, keyPermissions);
    const sent = study({ patient_fp: dog.fp });
    await server.push(key, sent);
    const arrives = (position: number) => put(server.url, key, previewPath(sent.fp, position), shade(position));
    for (const position of [1, 3]) await arrives(position);
    const page = await server.openAs(browser, "staff", fp, `/results/${sent.fp}`);
    await page.getByRole("button", { name: "Image 2 of 2" }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Image 2 of 2" }).waitFor();
    await page.keyboard.press("+");
    await expect.poll(() => lookOf(page)).toBe("translate(0px, 0px) scale(1.25) ");
    await arrives(2);
    // Each image of a running exam raises the revision of its study, and the page loads again.
    await server.push(key, { ...sent, revision: 2 });
    await dialog.getByRole("heading", { name: "Image 3 of 3" }).waitFor();
    await expectAccessible(page);
    expect(await lookOf(page)).toBe("translate(0px, 0px) scale(1.25) ");
    expect(await dialog.getByRole("img").getAttribute("src")).toMatch(/\/previews\/3$/);
  });
});

function shade(level: number): Uint8Array {
  return encodePng({ width: 64, height: 48, channels: 1, pixels: new Uint8Array(64 * 48).fill(level) });
}

/** Sends a picture as an agent does. */
async function put(url: string, key: string, to: string, png: Uint8Array): Promise<void> {
  const headers = { "x-api-key": key, "content-type": "image/png" };
  const stored = await fetch(url + to, { method: "PUT", headers, body: Buffer.from(png) });
  expect(await stored.json()).toMatchObject({ outcome: "stored" });
}

/** The size, the place and the colours of the large picture. */
function lookOf(page: Page): Promise<string> {
  return page.evaluate("(({ style }) => style.transform + ' ' + style.filter)(document.querySelector('dialog img'))");
}
