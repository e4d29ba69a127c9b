import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { MailResult } from "../../../../server/dashboard/types/results/sharing.ts";
import { type MailServerState, mailText } from "../../../../server/dashboard/types/settings/mail-server.ts";
import type {
  MadeChannel,
  NotificationState,
  TestOutcome,
} from "../../../../server/dashboard/types/settings/notifications.ts";
import { MailServer } from "../../../../server/operations/mail/mail-server.ts";
import { allStored, clinic, startServer } from "../../../server/harness.ts";
import { startSmtpReceiver } from "../../../support/peers/smtp-receiver.ts";
import { makeUser } from "../../harness.ts";

interface Refused {
  readonly error: { readonly details: { readonly code: string } };
}

const PASSWORD = "a very secret pass phrase";

async function startWithAdmin() {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const server = await startServer(clinic(ours));
  const receiver = await startSmtpReceiver();
  receiver.answers.set("EHLO", "250-test\r\n250 AUTH PLAIN");
  receiver.answers.set("AUTH", "235 welcome");
  const admin = await makeUser(server, "admin", ours);
  const setting = {
    host: "127.0.0.1",
    port: receiver.port,
    encryption: "starttls",
    user: "vet",
    from: "vet@clinic.example",
  };
  const state = async () => (await admin.call<MailServerState>("GET", "/mail-server")).body;
  const put = async (changes: object = {}) => {
    const { setting: seen } = await state();
    return admin.call<Refused>("PUT", "/mail-server", { ...setting, password: PASSWORD, seen, ...changes });
  };
  const sendTest = async () => {
    server.clock.now += 10_000;
    return (await admin.call<MailResult>("POST", "/mail-server/test", { to: "nurse@clinic.example" })).body;
  };
  return { server, ours, theirs, receiver, admin, setting, put, state, sendTest };
}

test("an admin sets the mail server, tests it and reads its real reply, and notifications use it", async () => {
  const { server, receiver, admin, setting, put, state, sendTest } = await startWithAdmin();
  expect(await state()).toEqual({ fixed_by: [], may_change: true, setting: null, has_password: false });
  expect(await sendTest()).toMatchObject({ ok: false, reason: { code: "MAIL.NOT_SET" } });
  expect((await put()).status).toBe(200);
  expect(await state()).toEqual({ fixed_by: [], may_change: true, setting, has_password: true });
  const worked = await sendTest();
  expect([worked.ok, mailText(worked.reason, "tr")]).toEqual([
    true,
    "127.0.0.1, nurse@clinic.example adresine giden e-postayı aldı: 250 queued as 1",
  ]);
  expect(receiver.mails).toMatchObject([{ to: "nurse@clinic.example", subject: "Vetwire: test of the mail server" }]);
  expect(receiver.commands).toContain("AUTH");
  receiver.answers.set("AUTH", "535 5.7.8 not you");
  const refused = await sendTest();
  expect([refused.ok, refused.reason.code]).toEqual([false, "MAIL.SIGN_IN"]);
  expect(mailText(refused.reason, "en")).toContain("535 5.7.8 not you");
  receiver.answers.set("AUTH", "235 welcome");

  const channel = await admin.call<MadeChannel>("POST", "/notifications/channels", {
    type: "email",
    target: "n@c.example",
  });
  expect((await admin.call<NotificationState>("GET", "/notifications")).body.sends_mail).toBe(true);
  const told = await admin.call<TestOutcome>("POST", `/notifications/channels/${channel.body.id}/test`, {});
  expect(told.body.ok).toBe(true);
  expect((await admin.call("DELETE", "/mail-server")).status).toBe(200);
  expect(await state()).toEqual({ fixed_by: [], may_change: true, setting: null, has_password: false });
  expect(server.log.join("\n")).not.toMatch(/nurse@clinic|not you/);
});

test("the password is sealed, in no response, and goes to no other server", async () => {
  const { server, admin, put, setting } = await startWithAdmin();
  await put();
  const answers = [(await admin.call("GET", "/mail-server")).text, (await admin.call("GET", "/audit")).text];
  for (const text of [...answers, server.log.join("\n"), allStored(server.database)])
    expect(text).not.toContain(PASSWORD);
  expect(answers[1]).toContain("mail server set");
  expect((await put({ password: null, from: "other@clinic.example" })).status).toBe(200);
  for (const changed of [{ host: "evil.example" }, { port: 26 }, { encryption: "tls" }, { user: "other" }]) {
    const { body } = await put({ password: null, ...changed });
    expect([changed, body.error.details.code]).toEqual([changed, "MAIL.PASSWORD_AGAIN"]);
  }
  // Another pepper opens it no more, and nothing is sent without the password.
  const other = new MailServer({ session: server.store, pepper: Buffer.alloc(32), fixed: () => null });
  expect(await other.send({ to: "a@b.example", subject: "", text: "" })).toMatchObject({
    why: { code: "MAIL.PASSWORD" },
  });
  await put({ user: null, password: null });
  expect((await put({ password: null, user: setting.user })).body.error.details.code).toBe("MAIL.PASSWORD_AGAIN");
});

test("a mail server that another admin set meanwhile is not replaced", async () => {
  const { put, setting, state } = await startWithAdmin();
  await put();
  expect((await put({ from: "lab@clinic.example" })).status).toBe(200);
  for (const seen of [setting, null]) {
    expect((await put({ seen })).body.error.details.code).toBe("FORM.CHANGED");
  }
  expect((await state()).setting).toEqual({ ...setting, from: "lab@clinic.example" });
});

test("the options of the command line win and are shown", async () => {
  const { server, put, state } = await startWithAdmin();
  await put();
  server.senders.sendMail = async ({ to }) => ({
    ...{ ok: true, said: "" },
    why: { code: "MAIL.TAKEN", values: ["of-the-options.example", to, "250 ok"] },
  });
  expect(await state()).toMatchObject({ fixed_by: ["--smtp"], has_password: false });
  expect((await put()).body.error.details.code).toBe("MAIL.FIXED");
});

test("only an admin of each clinic of the server sees and changes its mail server", async () => {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const server = await startServer(clinic(ours), clinic(theirs));
  const [one, both] = [await makeUser(server, "admin", ours), await makeUser(server, "admin", ours, theirs)];
  const setting = {
    host: "mail.example.com",
    port: 587,
    encryption: "starttls",
    user: null,
    from: "vet@clinic.example",
  };
  const body = { ...setting, password: null, seen: null };
  expect((await one.call<Refused>("PUT", "/mail-server", body)).body.error.details.code).toBe("MAIL.OTHER_CLINICS");
  expect((await one.call<Refused>("DELETE", "/mail-server")).body.error.details.code).toBe("MAIL.OTHER_CLINICS");
  expect((await both.call("PUT", "/mail-server", body)).status).toBe(200);
  expect((await one.call<MailServerState>("GET", "/mail-server")).body).toMatchObject({
    may_change: false,
    setting: null,
  });
  expect((await both.call<MailServerState>("GET", "/mail-server")).body.setting).toEqual(setting);
});
