import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { checkConfig } from "../../../agent/config/check.ts";
import { exposures } from "../../../agent/config/exposures.ts";
import { temporaryFolder } from "../../support/processes.ts";

const folder = temporaryFolder();
fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
fs.writeFileSync(path.join(folder, "smtp.password"), "secret\n", { mode: 0o600 });
fs.writeFileSync(path.join(folder, "hook.secret"), `whsec_${"A".repeat(43)}=\n`, { mode: 0o600 });

const mail = {
  ...{ smtp: "smtp://vet@mail.example.com", passwordFile: "smtp.password" },
  ...{ from: "vetwire@clinic.example", to: ["nurse@clinic.example"] },
};
const webhook = { url: "http://192.168.1.9:8123/hook", secretFile: "hook.secret" };

/** Checks an agent.yaml with these alerts. */
function check(alerts: object | undefined) {
  const settings = {
    server: { url: "http://127.0.0.1:8080", keyFile: "agent.key" },
    ...{ data: "data", timeZone: "Europe/Istanbul", devices: [] },
    ...(alerts !== undefined && { alerts }),
  };
  return checkConfig(JSON.stringify(settings), folder);
}

function problemsOf(alerts: object): string[] {
  const checked = check(alerts);
  return "problems" in checked ? checked.problems.map(({ message }) => message) : [];
}

test("alerts of agent.yaml name a mail server, a webhook and quiet hours; secrets stay in files", () => {
  expect(check({ email: mail, webhook, quietHours: "22:00-07:00", language: "tr" })).toMatchObject({
    config: {
      alerts: {
        email: {
          server: { host: "mail.example.com", port: 587, isTls: false, user: "vet" },
          passwordFile: path.join(folder, "smtp.password"),
          to: ["nurse@clinic.example"],
        },
        webhook: { url: webhook.url, secretFile: path.join(folder, "hook.secret") },
        quiet: { from: "22:00", until: "07:00", exemptCritical: false },
        language: "tr",
      },
    },
  });
  expect(check(undefined)).toMatchObject({ config: { alerts: { email: null, webhook: null, quiet: null } } });
});

test.each([
  [{}, "alerts tells nobody, expected email or webhook"],
  [{ email: { ...mail, smtp: "smtp://vet:pw@mail.example.com" } }, "alerts.email.smtp holds a password"],
  [{ email: { ...mail, smtp: "mail.example.com" } }, 'alerts.email.smtp is "mail.example.com", expected such as'],
  [{ email: { ...mail, passwordFile: undefined } }, "alerts.email has no passwordFile"],
  [{ email: { ...mail, smtp: "smtp://mail.example.com" } }, "alerts.email.smtp names no user"],
  [{ email: { ...mail, passwordFile: "none" } }, "alerts.email.passwordFile names"],
  [{ email: { ...mail, to: ["nurse"] } }, 'alerts.email.to[0] is "nurse", expected one e-mail address'],
  [{ email: { ...mail, from: "Ada <a@b>" } }, 'alerts.email.from is "Ada <a@b>"'],
  [{ webhook: { ...webhook, url: "ftp://x" } }, "alerts.webhook.url is wrong"],
  [{ webhook: { ...webhook, secretFile: "agent.key" } }, "which holds no secret"],
  [{ webhook: { ...webhook, secretFile: "none" } }, "alerts.webhook.secretFile names"],
  [{ webhook, quietHours: "22-7" }, "alerts.quietHours"],
  [{ webhook, quietHours: "07:00-07:00" }, "which is no time at all"],
  [{ webhook, password: "x" }, "alerts.password"],
])("a wrong %j is reported with what is expected", (alerts, words) => {
  expect(problemsOf(alerts)).toEqual([expect.stringContaining(words)]);
});

test("a secret that others can read is an exposure", () => {
  const checked = check({ email: mail, webhook });
  const found = (name: string) => {
    fs.chmodSync(path.join(folder, name), 0o644);
    const sentences = "config" in checked ? exposures(checked.config) : [];
    fs.chmodSync(path.join(folder, name), 0o600);
    return sentences;
  };
  for (const name of ["smtp.password", "hook.secret"]) {
    expect(found(name)).toEqual([expect.stringContaining(name) as string]);
  }
});
