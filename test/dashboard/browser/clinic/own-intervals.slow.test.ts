import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  pressEnter,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinic, connection, keyPermissions, patient, study } from "../../../server/harness.ts";
import { makeUser, startDashboard } from "../../harness.ts";

/** The quantile of a nearly normal distribution around 55 with a standard deviation of 9, without digits. */
const nearlyNormal = (p: number) => Math.round(55 + (9 * (p ** 0.135 - (1 - p) ** 0.135)) / 0.1975);

describe.skipIf(browserProblem() !== null)("an interval of the clinic's own animals in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("healthy animals are ticked, an outlier is left out, and a vet accepts the proposal by name", async () => {
    const ours = newFp("clinic");
    const dogs = Array.from({ length: 45 }, (_, index) =>
      patient({ name: `Dog ${index}`, species: "dog", breed: "Kangal", date_of_birth: "2020-01-01" }),
    );
    const links = dogs.map(({ fp }) => connection(fp, ours));
    const server = await startDashboard(clinic(ours), dogs, links);
    const key = await server.makeKey(ours, keyPermissions);
    const alt = { analyte: "ALT", unit: "U/L", reference_range: null, flag: null };
    const sampled = dogs.map(({ fp }, index) =>
      study({
        ...{ patient_fp: fp, acquired_at: new Date(server.clock.now - (index + 2) * 86_400_000).toISOString() },
        results: [{ ...alt, value: index === 44 ? 300 : nearlyNormal((index + 0.5) / 44) }],
      }),
    );
    await server.push(key, ...sampled);

    const staff = await server.openAs(browser, "staff", ours, "/settings/ranges");
    const section = staff.getByRole("region", { name: "Intervals from the clinic's own healthy animals" });
    await section.getByText("No proposal yet").waitFor();
    await section.getByText("Work out an interval").click();
    await expect.poll(() => section.getByLabel("Analyte").inputValue()).toBe("ALT");
    await section.getByLabel("First sample from").fill("2026-01-01");
    await section.getByLabel("Last sample until").fill("2026-11-29");
    await pressEnter(section.getByRole("button", { name: "Search the animals" }));
    await section.getByText("Animals: 45, each with its first sample").waitFor();
    await section.getByLabel("Healthy: Dog 7, 46 U/L").check();
    await section.getByText("39 more are needed for an interval.").waitFor();
    expect(await section.getByRole("button", { name: "Compute" }).isDisabled()).toBe(true);
    await pressEnter(section.getByRole("button", { name: "Tick all" }));
    await pressEnter(section.getByRole("button", { name: "Compute" }));
    const result = section.getByRole("region", { name: "Result" });
    await result.getByRole("img", { name: /^45 values from 34 to 300, .* suspected 1, left out 0$/ }).waitFor();
    await result.getByText("beyond Tukey's fences, far from its neighbour (Dixon)").waitFor();
    await expectAccessible(staff);
    await pressEnter(result.getByRole("button", { name: "Leave out: Dog 44, 300 U/L" }));
    await result.getByRole("img", { name: /^44 values from 34 to 300, .* suspected 0, left out 1$/ }).waitFor();
    await section.getByRole("button", { name: "Take back: Dog 44, 300 U/L" }).waitFor();
    await result.getByText(/17-95 U\/L/).waitFor();
    await expectAccessible(staff);
    await expectFitsPhone(staff);
    await pressEnter(section.getByRole("button", { name: "Store as a proposal" }));
    await section.getByText("The proposal is stored.").waitFor();
    await pressEnter(section.getByRole("button", { name: /^Open: ALT, dog, from 1 years/ }));
    const dialog = staff.getByRole("dialog");
    await dialog.getByText(/300 U\/L/).waitFor();
    await dialog.getByText(/left out by staff/).waitFor();
    expect(await dialog.getByRole("button", { name: "Accept the interval" }).count()).toBe(0);
    await expectAccessible(staff);

    const admin = await server.openAs(browser, "admin", ours, "/settings/ranges");
    await pressEnter(admin.getByRole("button", { name: /^Open: ALT, dog/ }));
    await admin.getByText("EP28-A3c recommends more animals").waitFor();
    await admin.getByRole("dialog").getByLabel("Name of the vet who decides").fill("Dr. Ada");
    await expectAccessible(admin);
    await expectFitsPhone(admin);
    await pressEnter(admin.getByRole("button", { name: "Accept the interval" }));
    const inUse = admin.getByRole("region", { name: "Intervals in use" });
    await inUse.getByText(/Healthy animals of the clinic, \d{4}/).waitFor();
    await inUse.getByText(/accepted by Dr\. Ada/).waitFor();
    await admin
      .getByText(/^accepted by Dr\. Ada/)
      .first()
      .waitFor();
    await chooseLanguage(admin, "tr");
    await pressEnter(admin.getByRole("button", { name: /^Aç: ALT, köpek/ }));
    await admin.getByText("EP28-A3c dayanıklı yöntemi").last().waitFor();
    await admin
      .getByRole("dialog")
      .getByText(/300 U\/L/)
      .waitFor();
    await expectAccessible(admin);
    await expectFitsPhone(admin);

    // A clinic that reads ALT in another unit sees the proposal in it, and what was measured on the pointer.
    const units = { system: null, exceptions: { ALT: "ukat/L" } };
    const { call } = await makeUser(server, "admin", ours);
    await call("PUT", "/settings/clinic", { language: null, time_zone: null, units });
    await admin.reload();
    const inOther = admin.getByRole("cell", { name: /^0\.\d+-1\.\d+ µkat\/L$/ });
    expect(await inOther.getAttribute("title")).toMatch(/^\d+-\d+ U\/L$/);
    await pressEnter(admin.getByRole("button", { name: /^Aç: ALT, köpek/ }));
    await admin.getByRole("dialog").getByTitle("300 U/L").getByText("5.00 µkat/L").waitFor();
    await expectAccessible(admin);
  });
});
