import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { RulesBody } from "../../../../server/dashboard/types/quality.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  pressEnter,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinic, keyPermissions } from "../../../server/harness.ts";
import { controlRun, deviceEvent, pushQuality, result } from "../../../server/quality.ts";
import { makeUser, startDashboard } from "../../harness.ts";

const fp = newFp("clinic");

describe.skipIf(browserProblem() !== null)("quality control in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  /** Opens the page of an admin, and lets an agent push glucose controls of a sample whose level and lot it does not name. */
  async function openClinic() {
    const server = await startDashboard(clinic(fp));
    const key = await server.makeKey(fp, keyPermissions);
    const page = await server.openAs(browser, "admin", fp, "/quality");
    const unnamed = { material: null, level: null, lot: null, expires: null, sample_ids: ["QC1"] };
    const push = (value: number, measured_at: string) =>
      pushQuality(server, key, controlRun({ ...unnamed, measured_at, results: [result(value)] }));
    return { server, key, page, push };
  }

  test("a clinic names a sample, enters limits, and hears of a failed control until it is explained and another one passes", async () => {
    const { server, page, push } = await openClinic();
    await page.getByRole("heading", { name: "No control has been run yet" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);

    await push(92.7, "2026-11-20T05:10:00.000Z");
    await press(page, "Answer: QC1 of Abaxis VetScan VS2");
    await page.getByLabel("Level").fill("1");
    await page.getByLabel("Lot").fill("C2207");
    await expectAccessible(page);
    await press(page, "Save the answer");
    await page.getByRole("heading", { name: "GLU, Glucose, level 1" }).waitFor();
    await page.getByText("No limits yet, so no run is judged").waitFor();
    await expect.poll(() => page.locator("button.primary").allInnerTexts()).toEqual(["Enter the limits of the sheet"]);

    await press(page, "Enter the limits of the sheet");
    await page.getByLabel("a range").check();
    await page.getByLabel("From", { exact: true }).fill("87,4");
    await page.getByLabel("To", { exact: true }).fill("96.6");
    expect(await page.getByRole("button", { name: "Save the limits" }).isDisabled()).toBe(true);
    await page.getByLabel("2 SD on each side").check();
    await page.getByText("Target 92.0 ± 2.3").waitFor();
    await press(page, "Save the limits");
    await page
      .getByText(/Limits from the sheet, entered by admin/)
      .first()
      .waitFor();
    await page.getByText(/· the last control passed/).waitFor();

    await push(99.6, "2026-11-21T05:10:00.000Z");
    await page.goto(`${server.url}/dashboard`);
    await page.getByText("Abaxis VetScan VS2: the control of GLU failed").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("link", { name: "Open quality control: Abaxis VetScan VS2" }).click();
    await page.locator(".chart canvas").waitFor();
    const chart = page.getByRole("slider", { name: /^Levey-Jennings chart of GLU, Glucose, level 1, 2 runs/ });
    await expect
      .poll(() => chart.getAttribute("aria-valuetext"))
      .toMatch(/99\.6 mg\/dL · \+3\.3 SD · rejected \(1-3s\)$/);
    await chart.press("ArrowLeft");
    await expect.poll(() => chart.getAttribute("aria-valuetext")).toMatch(/92\.7 mg\/dL · \+0\.3 SD · inside 2 SD$/);
    await page.getByText("This control of GLU is far too high.").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);

    await press(page, /^Write down: 1-3s of/);
    await page.getByLabel("Cause and remedy").fill("The control was not mixed");
    await press(page, "Save the words");
    await page.getByText(/“The control was not mixed”/).waitFor();
    await page.goto(`${server.url}/dashboard`);
    await page.getByText(/It is explained; a control that passes ends it\.$/).waitFor();
    await push(92.2, "2026-11-21T05:30:00.000Z");
    await page.getByText(/Nothing needs you$/).waitFor();
  });

  test("staff types a control with a preview, takes a handling mistake out of the count and in again, and adds a change", async () => {
    const { server, key, page } = await openClinic();
    await pushQuality(
      server,
      key,
      controlRun(),
      controlRun({ level: "2", results: [result(240)] }),
      deviceEvent({ at: "2026-11-20T05:05:00.000Z" }),
    );
    await press(page, "Enter the limits of the sheet");
    await page.getByLabel("Mean", { exact: true }).fill("92");
    await page.getByLabel("SD", { exact: true }).fill("2.3");
    await press(page, "Save the limits");

    await press(page, "Type a control");
    await page.getByLabel("Control", { exact: true }).selectOption({ label: "Multiqual, Level 1, lot C2207" });
    await page.getByLabel("Measured at").fill("2026-11-21T09:00");
    await page.getByRole("textbox", { name: "GLU, Glucose, mg/dL" }).fill("97,2");
    await page.getByText("+2.3 SD: a little off, one in twenty is").waitFor();
    // A value that was typed for another control is not told by the limits of the first one.
    for (const other of ["Multiqual, Level 2, lot C2207", "Another level or a new lot…"]) {
      await page.getByLabel("Control", { exact: true }).selectOption({ label: other });
      await page.getByRole("dialog").getByText("No limits yet").waitFor();
      expect(await page.getByRole("textbox", { name: "GLU, Glucose, mg/dL" }).inputValue()).toBe("97,2");
    }
    await page.getByLabel("Control", { exact: true }).selectOption({ label: "Multiqual, Level 1, lot C2207" });
    await page.getByText("+2.3 SD: a little off, one in twenty is").waitFor();
    await expectAccessible(page);
    await press(page, "Save the control");
    const rows = page.getByRole("region", { name: "Runs of GLU, Glucose, level 1" }).locator("tbody").getByRole("row");
    await page.getByText("The runs as a table").click();
    await expect.poll(() => rows.count()).toBe(2);

    await pressEnter(rows.first().getByRole("button", { name: /^Leave out/ }));
    await page.getByLabel("What went wrong").fill("wrong vial");
    await press(page, "Leave it out");
    await rows.first().getByText("does not count: wrong vial").waitFor();
    await expectAccessible(page);
    await pressEnter(rows.first().getByRole("button", { name: /^Count again/ }));
    await rows.first().getByText("warning (1-2s)").waitFor();

    await press(page, "Add a change");
    await page.getByLabel("What was changed").selectOption("calibration");
    await page.getByLabel("When").fill("2026-11-21T08:00");
    await press(page, "Add the change");
    await page.getByText(/· Calibration · admin/).waitFor();
    await page.getByRole("button", { name: "Level 2" }).click();
    await page.getByRole("heading", { name: "GLU, Glucose, level 2" }).waitFor();
    expect(new URL(page.url()).searchParams.get("level")).toBe("2");

    // A control of half a year ago is outside the 90 days of the chart until a person chooses a longer time.
    await pushQuality(server, key, controlRun({ level: "2", measured_at: "2026-05-20T05:10:00.000Z" }));
    await page.getByRole("slider", { name: /level 2, 1 run\./ }).waitFor();
    await page.clock.setFixedTime(server.clock.now);
    await page.getByLabel("Time").selectOption("Last year");
    await page.getByRole("slider", { name: /level 2, 2 runs\./ }).waitFor();
    const file = await page.getByRole("link", { name: "Download as CSV" }).getAttribute("href");
    expect(file).toMatch(/&from=\d{4}-\d\d-\d\d$/);
  });

  test("an open dialog keeps its series and its text when a later control of another one arrives", async () => {
    const { server, key, page } = await openClinic();
    const at = (measured_at: string, value: number) => controlRun({ measured_at, results: [result(value)] });
    await pushQuality(server, key, at("2026-11-19T05:10:00.000Z", 90), at("2026-11-20T05:10:00.000Z", 92));
    await press(page, "Enter the limits of the sheet");
    const mean = page.getByLabel("Mean", { exact: true });
    await mean.fill("92");
    const results = [result(1.2, { analyte: "CREA" })];
    await pushQuality(server, key, controlRun({ measured_at: "2026-11-21T05:10:00.000Z", results }));
    await page.getByRole("link", { name: "CREA", includeHidden: true }).waitFor({ state: "attached" });
    await expectAccessible(page);
    expect(await mean.inputValue()).toBe("92");
    expect(new URL(page.url()).searchParams.get("analyte")).toBe("GLU");
    // An older control that arrives late leaves the chosen point chosen.
    await page.keyboard.press("Escape");
    const chart = (runs: number) => page.getByRole("slider", { name: new RegExp(`level 1, ${runs} runs`) });
    await chart(2).press("ArrowLeft");
    await expect.poll(() => chart(2).getAttribute("aria-valuetext")).toContain("90 mg/dL");
    await pushQuality(server, key, at("2026-11-18T05:10:00.000Z", 91));
    await expect.poll(() => chart(3).getAttribute("aria-valuetext")).toContain("90 mg/dL");
  });

  test("a typed glucose meter has a chart, and after 20 runs an admin looks at an outlier and accepts own limits", async () => {
    const { server, key, page } = await openClinic();
    await press(page, "Type a control");
    await page.getByLabel("Its name").fill("glucose meter");
    await page.getByLabel("Level").fill("1");
    await page.getByLabel("Lot").fill("M7");
    await page.getByLabel("Measured at").fill("2026-11-01T09:00");
    await page.getByLabel("Add an analyte").selectOption("GLU");
    await page.getByRole("textbox", { name: "GLU, Glucose" }).fill("101");
    await page.getByLabel("Unit of GLU").selectOption("mg/dL");
    await press(page, "Save the control");
    await page.getByRole("heading", { name: "GLU, Glucose, level 1" }).waitFor();
    await page.locator(".chart canvas").waitFor();

    const runs = Array.from({ length: 19 }, (_, index) =>
      controlRun({
        ...{ material: null, lot: "M7", expires: null, source: { device_id: "glucose meter" } },
        measured_at: `2026-11-02T${String(index).padStart(2, "0")}:00:00.000Z`,
        results: [result(index === 7 ? 150 : 99 + (index % 4))],
      }),
    );
    await pushQuality(server, key, ...runs);
    await page
      .getByText(/Provisional limits from 20 runs/)
      .first()
      .waitFor();
    await press(page, "Look and accept");
    await page
      .getByRole("dialog")
      .getByText(/150 mg\/dL/)
      .waitFor();
    await expectAccessible(page);
    // An earlier run arrives meanwhile and makes other limits, which the admin looks at first.
    const loaded = page.waitForResponse(/\/quality\/series\//);
    const early = { material: null, lot: "M7", expires: null, source: { device_id: "glucose meter" } };
    await pushQuality(
      server,
      key,
      controlRun({ ...early, measured_at: "2026-11-01T10:00:00.000Z", results: [result(140)] }),
    );
    await (await loaded).finished();
    await press(page, /^Accept \d/);
    await page.getByRole("dialog").getByText("The first runs of this control changed meanwhile").waitFor();
    await press(page, "Cancel");
    await press(page, "Look and accept");
    await page
      .getByRole("dialog")
      .getByText(/140 mg\/dL/)
      .waitFor();
    await press(page, /^Accept \d/);
    await page
      .getByText(/Own limits since .*, from 20 runs, accepted by admin/)
      .first()
      .waitFor();
    expect(await page.getByRole("button", { name: "Look and accept" }).count()).toBe(0);
  });

  test("an admin reads limits from a file with its faults, chooses rules and a schedule, and reads all of it in Turkish", async () => {
    const { server, key, page } = await openClinic();
    await pushQuality(server, key, controlRun());
    await press(page, "Limits from a file");
    const choose = (text: string) =>
      page
        .getByLabel("File", { exact: true })
        .setInputFiles({ name: "limits.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
    await choose("analyte,unit,level,lot,mean,sd\nGLU,mg/dL,1,C2207,ninety,2.3\n");
    await page.getByText("Line 2, mean: “ninety” is not a number").waitFor();
    await expectAccessible(page);
    await choose("analyte,unit,level,lot,mean,sd\nGLU,mg/dL,1,C2207,92,2.3\nCREA,mg/dL,1,C2207,1.5,0.1\n");
    await press(page, "Save 2 lines");
    await page.getByRole("link", { name: "CREA" }).waitFor();

    await press(page, "Change the rules");
    await page.getByLabel("10x").selectOption("reject");
    await expectAccessible(page);
    // Rules that another admin chooses meanwhile are not replaced.
    const colleague = await makeUser(server, "admin", fp);
    const rules: RulesBody = { analyte: "GLU", choice: { "1-3s": "warn" }, seen: null };
    const loaded = page.waitForResponse(/\/quality\/series\//);
    expect((await colleague.call("PUT", "/quality/rules", rules)).status).toBe(200);
    await (await loaded).finished();
    await press(page, "Use these rules");
    await page.getByRole("dialog").getByText("Somebody changed this meanwhile.").waitFor();
    expect(await page.getByLabel("10x").inputValue()).toBe("reject");
    await press(page, "Cancel");
    await press(page, "Change the rules");
    expect(await page.getByRole("dialog").getByLabel("1-3s").inputValue()).toBe("warn");
    await page.getByLabel("10x").selectOption("reject");
    await press(page, "Use these rules");
    await page.getByText(/10x rejects?\.|, 10x reject\./).waitFor();
    await press(page, "Set the schedule");
    await page.getByLabel("Days between controls").fill("7");
    await press(page, "Save the schedule");
    await page.getByText("A control every 7 days.").waitFor();
    await server.app.inject({
      ...{ method: "POST", url: "/agent/v1/heartbeat", headers: { "x-api-key": key } },
      payload: { version: "1.0.0", uptime_s: 1, devices: [{ id: "combi", profile: "generic-astm", connected: true }] },
    });
    await press(page, "Set the schedule");
    await page.getByLabel("Device", { exact: true }).last().selectOption("combi");
    await page.getByLabel("Days between controls").fill("30");
    await press(page, "Save the schedule");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.goto(`${server.url}/dashboard`);
    await page.getByText("combi: no control was ever run").waitFor();
    await page.goto(`${server.url}/dashboard/quality?device=combi`);
    await page.getByText("This device has no control yet").waitFor();
    await expectAccessible(page);
    await page.getByLabel("Device", { exact: true }).selectOption("chem-1");
    await page.getByText("A control every 7 days.").waitFor();
    await press(page, "Monthly report");
    expect(await page.getByRole("link", { name: "Download the PDF" }).getAttribute("href")).toMatch(
      /\/quality\/report\.pdf\?device=chem-1&month=\d{4}-\d\d&language=en$/,
    );
    await page.keyboard.press("Escape");
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Kalite kontrol", exact: true }).waitFor();
    await page.getByText("Her 7 günde bir kontrol.").waitFor();
    await expectFitsPhone(page);
  });
});

async function press(page: Page, name: string | RegExp): Promise<void> {
  await pressEnter(page.getByRole("button", { name, ...(typeof name === "string" && { exact: true }) }));
}
