import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { Spool } from "../../../agent/spool/spool.ts";
import { type AlertBook, EMPTY_BOOK, stepBook } from "../../../shared/alerts/book.ts";
import { newWebhookSecret } from "../../../shared/webhook/sign.ts";
import { AGENT, freePort, type Running, start, temporaryFolder, until } from "../../support/processes.ts";
import { startSmtpReceiver } from "../../support/smtp-receiver.ts";

// Goal: an agent that is killed between storing and sending loses no alert. Method: the receiver never answers, the agent is
// killed with SIGKILL while it waits, and a new process sends to a receiver that works.

const NURSE = "nurse@clinic.example";

/** A receiver of webhooks that checks signatures. While `isSilent`, it takes messages and never answers. */
async function startHook() {
  const hook = { secret: newWebhookSecret(), url: "", ids: [] as string[], isSilent: false };
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const headers = request.headers as Record<string, string>;
      new Webhook(hook.secret).verify(Buffer.concat(parts).toString(), headers);
      hook.ids.push(headers["webhook-id"] ?? "");
      if (!hook.isSilent) response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  hook.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return hook;
}

/** A data folder with an open alert that nobody was told of, and the configuration of its agent. */
async function agentWithNews() {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const [smtp, hook] = [await startSmtpReceiver(), await startHook()];
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  fs.writeFileSync(path.join(folder, "hook.secret"), `${hook.secret}\n`, { mode: 0o600 });
  const config = {
    // Nothing listens there.
    server: { url: `http://127.0.0.1:${await freePort()}`, keyFile: "agent.key" },
    ...{ data: "data", timeZone: "UTC", devices: [], status: { listen: `127.0.0.1:${await freePort()}` } },
    alerts: {
      email: { smtp: `smtp://127.0.0.1:${smtp.port}`, from: "vetwire@clinic.example", to: [NURSE] },
      webhook: { url: hook.url, secretFile: "hook.secret" },
    },
  };
  const file = path.join(folder, "agent.yaml");
  fs.writeFileSync(file, JSON.stringify(config));

  const kind = "server-unreachable";
  const now = Date.now() - 16 * 60_000;
  const channels = [{ id: NURSE, type: "email" } as const, { id: hook.url, type: "webhook" } as const];
  const pending: AlertBook = { ...EMPTY_BOOK, pending: { [kind]: now - 16 * 60_000 } };
  const book = stepBook(pending, [{ key: kind, kind, subject: "pc", since: now }], { channels, now });
  const spool = await Spool.open(path.join(folder, "data"));
  await spool.call("setMeta", "alerts", JSON.stringify(book));
  await spool.close();

  const run = (): Running => {
    const agent = start(AGENT, ["run", "--config", file]);
    onTestFinished(() => void agent.end("SIGKILL"));
    return agent;
  };
  return { smtp, hook, run };
}

test("an e-mail under way when the agent is killed is sent again, says so, and the webhook is told once", async () => {
  const { smtp, hook, run } = await agentWithNews();
  smtp.answers.set("DATA.", "");
  const first = run();
  await until("the agent waits for the mail server", () => smtp.commands.includes("DATA."));
  await first.end("SIGKILL");
  expect([smtp.mails, hook.ids]).toEqual([[], []]);

  smtp.answers.clear();
  const second = run();
  await until("both are told", () => second.output().split("people were told").length === 3);
  expect(hook.ids).toHaveLength(1);
  expect(smtp.mails).toMatchObject([
    { to: NURSE, text: expect.stringContaining("You may have got this e-mail already") as string },
  ]);
  await second.end("SIGKILL");

  run();
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  expect([smtp.mails.length, hook.ids.length]).toEqual([1, 1]);
});

test("a webhook under way when the agent is killed is sent again with its id, so that the receiver drops it", async () => {
  const { smtp, hook, run } = await agentWithNews();
  hook.isSilent = true;
  const first = run();
  await until("the agent waits for the receiver", () => hook.ids.length === 1);
  await first.end("SIGKILL");
  hook.isSilent = false;
  run();
  await until("the webhook is told again", () => hook.ids.length === 2);
  expect(new Set(hook.ids).size).toBe(1);
  expect(smtp.mails).toHaveLength(1);
  expect(smtp.mails[0]?.text).not.toContain("already");
});
