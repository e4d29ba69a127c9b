import { AS_SENT } from "../../../../shared/clinical/units/unit-choice.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { AlertWatch } from "../../../../server/operations/alert-watch.ts";
import type { Machine } from "../../../../server/records/alerts/alert-conditions.ts";
import { readAlertBook, readNotifications, saveNotifications } from "../../../../server/records/alerts/alerts.ts";
import { openStore } from "../../../../server/database/open.ts";
import { markSeen } from "../../../../server/records/results/seen-studies.ts";
import { readToday } from "../../../../server/records/alerts/today.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import type { Senders } from "../../../../server/operations/alerts/deliver.ts";
import { createMailer } from "../../../../server/operations/mail/smtp.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { WebhookDispatcher } from "../../../../server/operations/webhooks/dispatcher.ts";
import { addTestEvent, resumeWebhook } from "../../../../server/records/webhooks/webhooks.ts";
import { newWebhookSecret } from "../../../../server/operations/webhooks/sign.ts";
import { until } from "../../../support/machine/processes.ts";
import { startSmtpReceiver } from "../../../support/peers/smtp-receiver.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { clinic, connectTo, importEntities, keyPermissions, startServer, study } from "../../harness.ts";
import { addWebhook } from "../../webhooks.ts";

// Alerts of a server with a real mail server and a real receiver of webhooks, on both engines.

const MINUTE = 60_000;
const ours = newFp("clinic");

interface Received {
  readonly id: string;
  readonly body: { readonly type: string; readonly data: Record<string, unknown> };
}

/** A receiver that checks each signature. With status 0 it keeps the id and does not respond. */
async function startWebhookReceiver() {
  const secret = newWebhookSecret();
  const [received, status]: [Received[], { code: number }] = [[], { code: 204 }];
  const unanswered: string[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const headers = request.headers as Record<string, string>;
      const body = new Webhook(secret).verify(Buffer.concat(parts).toString(), headers) as Received["body"];
      const id = headers["webhook-id"] ?? "";
      if (status.code === 0) return void unanswered.push(id);
      if (status.code < 300) received.push({ id, body });
      response.writeHead(status.code).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, secret, received, unanswered, status };
}

/** A clinic that notifies a mailbox and a webhook. */
async function watchedClinicServer() {
  const server = await startServer(clinic(ours));
  const { store, clock } = server;
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const [smtp, hook] = [await startSmtpReceiver(), await startWebhookReceiver()];
  const machine: { now: Machine } = { now: { name: "pc", freeBytes: null, lastBackup: null } };
  await store.transaction((session) =>
    saveNotifications(
      session,
      clinicId,
      {
        quiet: null,
        receivers: [
          { id: "mail", type: "email", target: "nurse@clinic.example", secret: "" },
          { id: "hook", type: "webhook", target: hook.url, secret: hook.secret },
        ],
      },
      clock.now,
    ),
  );
  /** Messages of the log about the machine, with their kinds. */
  const logged: (readonly [message: string, kind: string])[] = [];
  const logger = pino(
    {},
    {
      write: (line: string) => {
        const { msg, kind } = JSON.parse(line) as { msg: string; kind?: string };
        if (kind !== undefined) logged.push([msg, kind]);
      },
    },
  );
  const watchOn = (its = store, senders?: Senders) =>
    new AlertWatch({
      ...{
        store: its,
        now: () => clock.now,
        logger,
        dashboard: "https://vet.example/dashboard",
      },
      senders: senders ?? {
        sendMail: createMailer({
          ...{ host: "127.0.0.1", port: smtp.port, isTls: false, user: null, from: "vetwire@clinic.example" },
          password: () => "",
        }),
        webhooks: { allowPrivate: true, now: Date.now },
      },
      machine: async () => machine.now,
    });
  const watch = watchOn();
  const passMinutes = async (minutes: number, its = watch) => {
    clock.now += minutes * MINUTE;
    await its.check();
    await its.delivered();
  };
  const book = () => readAlertBook(store, clinicId);
  return { ...server, logged, clinicId, smtp, hook, machine, watch, watchOn, passMinutes, book };
}

const failed = (at: number): Machine => ({
  ...{ name: "pc", freeBytes: null },
  lastBackup: { at: new Date(at).toISOString(), error: "The disk is full." },
});

describe("alerts of a server", () => {
  test("a cause is notified once by e-mail and webhook when it opens, and once when it closes, also after a restart", async () => {
    const { clock, smtp, hook, machine, watchOn, passMinutes, database, book } = await watchedClinicServer();
    machine.now = failed(clock.now);
    await passMinutes(0);
    await passMinutes(1);
    const reopened = await openStore(database);
    onTestFinished(() => reopened.close());
    const restarted = watchOn(reopened);
    await passMinutes(1, restarted);
    expect(smtp.mails).toEqual([
      {
        to: "nurse@clinic.example",
        subject: "Vetwire: The last backup of pc failed",
        text: expect.stringContaining("https://vet.example/dashboard") as string,
      },
    ]);
    expect(hook.received.map(({ body }) => [body.type, body.data["kind"]])).toEqual([
      ["alert.opened", "backup-failed"],
    ]);
    machine.now = { ...machine.now, lastBackup: null };
    await passMinutes(1, restarted);
    await passMinutes(1, restarted);
    await passMinutes(60, restarted);
    expect(smtp.mails.map(({ subject }) => subject)).toEqual([
      "Vetwire: The last backup of pc failed",
      "Vetwire: Over: The last backup of pc failed",
    ]);
    expect(hook.received.map(({ body }) => body.type)).toEqual(["alert.opened", "alert.closed"]);
    expect(await book()).toMatchObject({ open: [], messages: [] });
  });

  test("on a server of several clinics, the alerts of its machine are in the log, and no clinic is notified", async () => {
    const server = await watchedClinicServer();
    const { store, clock, smtp, hook, machine, passMinutes, watchOn, book, logged } = server;
    machine.now = failed(clock.now);
    await passMinutes(2);
    expect((await book()).open.map(({ kind }) => kind)).toEqual(["backup-failed"]);
    const told = [smtp.mails.length, hook.received.length];
    await importEntities(store, clinic(newFp("clinic")));
    const shared = watchOn();
    await passMinutes(1, shared);
    await passMinutes(2, shared);
    expect((await book()).open).toEqual([]);
    // Nothing is over, so nobody is notified.
    expect([smtp.mails.length, hook.received.length]).toEqual(told);
    machine.now = { ...machine.now, lastBackup: null };
    await passMinutes(1, shared);
    expect(logged).toEqual([
      ["an alert of this machine opened: only this log reports it", "backup-failed"],
      ["an alert of this machine closed", "backup-failed"],
    ]);
  });

  test("an unmatched study opens after half an hour, and no message names an animal or an owner", async () => {
    const { makeKey, push, smtp, hook, passMinutes, store, clinicId, clock } = await watchedClinicServer();
    const hint = { ...study().patient_hint, name: "Karabas", owner: "Yilmaz", identifier: "10021" };
    const key = await makeKey(ours, keyPermissions);
    await push(key, study({ patient_hint: hint }), study({ patient_hint: hint }));
    await passMinutes(29);
    expect(hook.received).toEqual([]);
    await passMinutes(1);
    await passMinutes(1);
    expect(smtp.mails).toMatchObject([{ subject: "Vetwire: Studies without a patient: 2" }]);
    expect(hook.received).toMatchObject([{ body: { data: { kind: "unmatched", count: 2 } } }]);
    expect(JSON.stringify([smtp.mails, hook.received])).not.toMatch(/Karabas|Yilmaz|10021/);
    const today = await readToday(store, {
      clinicId,
      userId: 0,
      timeZone: null,
      isAdmin: false,
      units: AS_SENT,
      now: clock.now,
    });
    expect(today.alerts).toMatchObject([{ kind: "unmatched", count: 2 }]);
  });

  test("a webhook that pauses itself is on Today of an admin and in an e-mail without its path, until a person resumes it", async () => {
    const { store, clock, smtp, passMinutes, clinicId } = await watchedClinicServer();
    const webhook = await addWebhook(store, ours, { url: "https://receiver.example/s3cret" });
    await store.transaction((session) => addTestEvent(session, webhook, clock.now));
    const dispatcher = new WebhookDispatcher(store, {
      ...{ allowPrivate: false, logger: pino({ enabled: false }), now: () => clock.now },
      send: async () => ({ delivered: false, status: 410, reason: "", why: { code: "HOOK.GONE", values: [] } }),
    });
    await dispatcher.check();
    await dispatcher.stop();
    await passMinutes(1);
    await passMinutes(1);
    const alertsOf = async (isAdmin: boolean) =>
      (await readToday(store, { clinicId, userId: 0, timeZone: null, isAdmin, units: AS_SENT, now: clock.now })).alerts;
    expect(await alertsOf(true)).toMatchObject([{ kind: "webhook-paused", subject: "receiver.example" }]);
    expect(await alertsOf(false)).toEqual([]);
    expect(smtp.mails).toMatchObject([{ subject: "Vetwire: The webhook to receiver.example paused itself" }]);
    expect(smtp.mails[0]?.text).toContain(`https://vet.example/dashboard/settings/webhooks/${webhook.id}`);
    expect(JSON.stringify([smtp.mails, await alertsOf(true)])).not.toContain("s3cret");
    await store.transaction((session) => resumeWebhook(session, webhook, clock.now));
    await passMinutes(1);
    await passMinutes(1);
    expect(await alertsOf(true)).toEqual([]);
    expect(smtp.mails.at(-1)).toMatchObject({
      subject: "Vetwire: Over: The webhook to receiver.example paused itself",
    });
  });

  test("a critical value that nobody saw stays an alert for days, until a user sees it", async () => {
    const server = await watchedClinicServer();
    const { makeKey, push, passMinutes, store, clinicId, clock, book } = server;
    const key = await makeKey(ours, keyPermissions);
    const seeing = { clinicId, userId: (await makeUser(server, "staff", ours)).id, revision: 1 };
    const glu = { analyte: "GLU", value: 40, unit: "mmol/L", reference_range: "3.3-6.1", flag: "critical" } as const;
    const critical = study({ results: [glu] });
    await push(key, critical);
    const kinds = async () => (await book()).open.map(({ kind }) => kind).filter((kind) => kind === "critical-unseen");
    await passMinutes(11);
    expect(await kinds()).toEqual(["critical-unseen"]);
    await passMinutes(3 * 24 * 60);
    expect(await kinds()).toEqual(["critical-unseen"]);
    await markSeen(store, { ...seeing, fp: critical.fp, now: clock.now });
    await passMinutes(1);
    expect(await kinds()).toEqual([]);
  });

  test("a damaged study keeps its critical alert open and stops no other alert of its clinic", async () => {
    const { makeKey, push, passMinutes, book, database, machine, clock } = await watchedClinicServer();
    const key = await makeKey(ours, keyPermissions);
    const glu = { analyte: "GLU", value: 40, unit: "mmol/L", reference_range: "3.3-6.1", flag: "critical" } as const;
    const critical = study({ results: [glu] });
    await push(key, critical);
    await passMinutes(11);
    const before = await book();
    const disk = await connectTo(database);
    onTestFinished(() => disk.close());
    await disk.run(`update study set results = replace(results, '40', '90') where fp = '${critical.fp}'`);
    machine.now = failed(clock.now);
    await passMinutes(10);
    const isCritical = ({ kind }: { readonly kind: string }) => kind === "critical-unseen";
    const after = await book();
    expect(after.open.filter(isCritical)).toEqual(before.open.filter(isCritical));
    expect(after.open.map(({ kind }) => kind)).toContain("backup-failed");
  });

  test("a full disk of a PC and then its silence are on Today, and each is reported once", async () => {
    const { app, makeKey, hook, passMinutes, store, clinicId, clock } = await watchedClinicServer();
    const key = await makeKey(ours, keyPermissions);
    const beat = async (free_bytes: number) => {
      const payload = { disk: { free_bytes, problem: null } };
      const headers = { "x-api-key": key };
      const answer = await app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload });
      expect(answer.statusCode).toBe(200);
      await passMinutes(1);
    };
    const kinds = async () => {
      const today = await readToday(store, {
        clinicId,
        userId: 0,
        timeZone: null,
        isAdmin: true,
        units: AS_SENT,
        now: clock.now,
      });
      return today.alerts.map(({ kind }) => kind);
    };
    const news = () => hook.received.map(({ body }) => `${body.type} ${String(body.data["kind"])}`);
    await beat(5e8);
    await beat(5e8);
    expect([await kinds(), news()]).toEqual([["disk-full"], ["alert.opened disk-full"]]);
    await beat(5e9);
    expect([await kinds(), news().slice(1)]).toEqual([[], ["alert.closed disk-full"]]);
    await passMinutes(14);
    await passMinutes(30);
    expect([await kinds(), news().slice(2)]).toEqual([["agent-silent"], ["alert.opened agent-silent"]]);
    await beat(5e9);
    expect([await kinds(), news().slice(3)]).toEqual([[], ["alert.closed agent-silent"]]);
  });

  test("a receiver that fails is repeated until it works, and the others are not notified again", async () => {
    const { clock, smtp, hook, machine, passMinutes, book } = await watchedClinicServer();
    hook.status.code = 500;
    machine.now = failed(clock.now);
    for (let minute = 0; minute < 5; minute += 1) await passMinutes(1);
    expect((await book()).health["hook"]?.fault?.reason).toContain("responded 500");
    hook.status.code = 200;
    for (let minute = 0; minute < 10; minute += 1) await passMinutes(1);
    expect([smtp.mails.length, hook.received.length]).toEqual([1, 1]);
    expect((await book()).health["hook"]).toMatchObject({ fault: null });
  });

  test("a receiver that does not answer holds up its own messages alone", async () => {
    const { store, clock, clinicId, machine, watchOn, book } = await watchedClinicServer();
    const hook = { id: "hook", type: "webhook", target: "http://silent.invalid:8080/hook", secret: "" } as const;
    const mail = { id: "mail", type: "email", target: "nurse@clinic.example", secret: "" } as const;
    await store.transaction((session) =>
      saveNotifications(session, clinicId, { quiet: null, receivers: [hook, mail] }, clock.now),
    );
    const mails: string[] = [];
    let giveUp = (_error: Error) => undefined as void;
    const silence = new Promise<never>((_resolve, reject) => (giveUp = reject));
    const its = watchOn(store, {
      sendMail: async ({ subject }) => {
        mails.push(subject);
        return { ok: true, said: "", why: { code: "MAIL.TAKEN", values: [] } };
      },
      webhooks: { allowPrivate: true, lookup: () => silence, deadlineMs: 600_000 },
    });
    machine.now = failed(clock.now);
    await its.check();
    clock.now += MINUTE;
    await its.check();
    await until("the e-mail is sent", () => mails.length > 0);
    expect(mails).toEqual(["Vetwire: The last backup of pc failed"]);
    giveUp(new Error("given up"));
    await its.delivered();
    expect((await book()).messages).toMatchObject([{ channel: "hook", attempts: 1 }]);
  });

  test("a mail server that breaks off after the text gets a repeat that is marked", async () => {
    const { clock, smtp, machine, passMinutes } = await watchedClinicServer();
    machine.now = failed(clock.now);
    smtp.answers.set("DATA.", null);
    await passMinutes(0);
    await passMinutes(1);
    smtp.answers.delete("DATA.");
    await passMinutes(2);
    expect(smtp.mails).toMatchObject([
      { text: expect.stringContaining("You may have got this e-mail already") as string },
    ]);
  });

  test("two servers on one database notify once", async () => {
    const { clock, smtp, hook, machine, watch, watchOn, database, passMinutes } = await watchedClinicServer();
    const store = await openStore(database);
    onTestFinished(() => store.close());
    const other = watchOn(store);
    machine.now = failed(clock.now);
    await Promise.all([watch.check(), other.check()]);
    await Promise.all([watch.delivered(), other.delivered()]);
    clock.now += MINUTE;
    await Promise.all([watch.check(), other.check()]);
    await Promise.all([watch.delivered(), other.delivered()]);
    await passMinutes(5);
    await passMinutes(5, other);
    expect([smtp.mails.length, hook.received.length]).toEqual([1, 1]);
  });

  test("a stopped server repeats an unfinished message, under the same id", async () => {
    const { clock, store, hook, machine, watch, passMinutes, clinicId } = await watchedClinicServer();
    machine.now = failed(clock.now);
    hook.status.code = 500;
    await passMinutes(0);
    const { messages } = await readAlertBook(store, clinicId);
    hook.status.code = 200;
    await watch.stop();
    await passMinutes(2);
    expect(hook.received.map(({ id }) => id)).toEqual(
      messages.filter(({ channel }) => channel === "hook").map(({ id }) => id),
    );
    expect((await readNotifications(store, clinicId)).receivers).toHaveLength(2);
  });
});

test("a server that is killed while it sends an alert sends it again under the same id, and opens it once", async () => {
  const { clock, hook, machine, watch, watchOn, passMinutes, book } = await watchedClinicServer();
  machine.now = failed(clock.now);
  hook.status.code = 0;
  await watch.check();
  await expect.poll(() => hook.unanswered).toHaveLength(1);
  hook.status.code = 204;
  // The killed one never ends its delivery.
  const successor = watchOn();
  for (let minute = 0; minute < 5; minute += 1) await passMinutes(1, successor);
  expect(hook.received.map(({ id }) => id)).toEqual(hook.unanswered);
  expect((await book()).open).toHaveLength(1);
});

test("a check of several clinics gives up the turn after each one", async () => {
  const { alerts } = await startServer(clinic(ours), clinic(newFp("clinic")), clinic(newFp("clinic")));
  let [turns, isOver] = [0, false];
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await alerts.check();
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(3);
});
