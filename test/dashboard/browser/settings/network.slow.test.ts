import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { issueCertificate, makeAuthority } from "../../../../server/network/authority.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { freePort } from "../../../support/machine/processes.ts";
import { clinic } from "../../../server/harness.ts";
import { startDashboard } from "../../harness.ts";

const fp = newFp("clinic");

async function start() {
  const server = await startDashboard(clinic(fp));
  await server.network.start(server.app, true);
  return { ...server, port: await freePort() };
}

describe.skipIf(browserProblem() !== null)("the network in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("an admin opens the network, sees addresses and what to click on each system, and closes it again", async () => {
    const server = await start();
    const page = await server.openAs(browser, "admin", fp, "/settings/network");
    await page.getByText("No other machine reaches this server.").waitFor();
    await expectAccessible(page);
    await page.getByLabel("The clinic’s network, with a certificate of this server").check();
    await page.getByLabel("Port").fill(new URL(server.url).port);
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("is the one of this machine’s page").waitFor();
    await page.getByLabel("Port").fill(String(server.port));
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Applied.").waitFor();
    const address = `https://192.168.77.10:${server.port}`;
    await page.getByRole("link", { name: address }).waitFor();
    await page.getByRole("img", { name: `QR code of ${address}/clinic/v1/authority.crt` }).waitFor();
    for (const system of ["Windows", "macOS", "iPhone and iPad", "Android", "Firefox", "Linux"])
      await page.getByText(system, { exact: true }).click();
    await page.getByText("Trusted Root Certification Authorities").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download the authority’s certificate" }).click();
    expect((await download).suggestedFilename()).toBe("vetwire-authority.crt");

    await chooseLanguage(page, "tr");
    await page.getByText("Bu sunucuya kim ulaşır").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Yalnızca bu makine").check();
    await page.getByRole("button", { name: "Uygula" }).click();
    await page.getByText("Bu sunucuya başka makine ulaşmıyor.").waitFor();
  });

  test("a certificate of the clinic is read from files or refused in words, and a proxy has its fields", async () => {
    const server = await start();
    const own = { names: ["clinic-pc.local"], addresses: [] };
    const { cert, key } = issueCertificate(makeAuthority(own, server.clock.now), ["clinic-pc.local"], server.clock.now);
    const page = await server.openAs(browser, "admin", fp, "/settings/network");
    await page.getByLabel("The clinic’s network, with a certificate of your own").check();
    await page.getByLabel("Port").fill(String(server.port));
    const file = (name: string, buffer: Buffer) => ({ name, mimeType: "text/plain", buffer });
    const read = async (name: string, of: Buffer) => {
      await page.getByLabel(`Read the ${name} from a file`).setInputFiles(file(`${name}.pem`, of));
      // The browser reads it in the background.
      await expect.poll(() => page.locator(`textarea[name=${name}]`).inputValue()).toBe(of.toString());
    };
    await read("chain", key);
    await read("key", key);
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Nothing was changed: The chain holds no certificate").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await read("chain", cert);
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("link", { name: `https://clinic-pc.local:${server.port}` }).waitFor();

    await page.getByLabel("A proxy in front of this server").check();
    await page.getByLabel("Address that people type").fill("https://vetwire.example.com/");
    await page.getByLabel("Addresses of the proxy").fill("proxy.local");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("“proxy.local” is not an address or range").waitFor();
    await page.getByLabel("Addresses of the proxy").fill("127.0.0.1, 10.0.0.0/8");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("link", { name: "https://vetwire.example.com" }).waitFor();
    expect(server.network.state().proxy).toMatchObject({ proxies: ["127.0.0.1", "10.0.0.0/8"], listen: null });
  });

  test("pairing shows the address that PCs reach, and on this machine alone that the network is closed", async () => {
    const server = await start();
    server.clock.now = Date.now();
    const page = await server.openAs(browser, "admin", fp, "/devices");
    await page.getByRole("button", { name: "Add a clinic PC" }).click();
    await page.getByText("Only this machine reaches that address.").waitFor();
    await expectAccessible(page);
    await server.network.change({ way: "own authority", port: server.port });
    await page.reload();
    await page.getByRole("button", { name: "Add a clinic PC" }).click();
    await page.getByText(`vetwire agent pair --server https://192.168.77.10:${server.port} --code`).waitFor();
    expect(await page.getByText("Only this machine reaches that address.").count()).toBe(0);
    await expectFitsPhone(page);
  });

  test("the page comes over the network's own https, and a reader does not see the setting", async () => {
    const server = await start();
    await server.network.change({ way: "own authority", port: server.port });
    const reader = await server.openAs(browser, "reader", fp, "/settings/network");
    await reader.getByText("Your role does not allow this").waitFor();
    // Chromium judges the certificate itself; a stranger's one it refuses.
    const context = await browser.newContext();
    const page = await context.newPage();
    const refused = await page
      .goto(`https://localhost:${server.port}/dashboard`)
      .catch((error: Error) => error.message);
    expect(refused).toContain("ERR_CERT_AUTHORITY_INVALID");
    await context.close();
  });
});
