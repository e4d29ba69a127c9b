import { describe, expect, test } from "vitest";
import { readNotifications } from "../../../../server/records/alerts/alerts.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { createMailer } from "../../../../server/operations/mail/smtp.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  deliveryText,
  type MadeChannel,
  type NotificationState,
  type TestOutcome,
} from "../../../../server/dashboard/types/settings/notifications.ts";
import { startSmtpReceiver } from "../../../support/peers/smtp-receiver.ts";
import { clinic, startServer } from "../../../server/harness.ts";
import { makeUser, type Refused } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

async function clinics() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const admin = await makeUser(server, "admin", ours);
  const add = (target: string, type = "email") =>
    admin.call<MadeChannel & { error: { message: string } }>("POST", "/notifications/channels", { type, target });
  const state = async () => (await admin.call<NotificationState>("GET", "/notifications")).body;
  return { ...server, admin, add, state };
}

describe("notifications of a clinic", () => {
  test("an admin adds and removes addresses, and the secret of a webhook is shown once", async () => {
    const { admin, add, state, store, log } = await clinics();
    const mail = await add(" nurse@clinic.example ");
    const hook = await add("https://example.com/hook", "webhook");
    expect([mail.status, mail.body.secret]).toEqual([200, null]);
    expect(hook.body.secret).toMatch(/^whsec_/);
    const shown = { sent_at: null, fault: null, waiting: 0 };
    expect(await state()).toEqual({
      ...{ sends_mail: false, quiet: null },
      channels: [
        { id: mail.body.id, type: "email", target: "nurse@clinic.example", ...shown },
        { id: hook.body.id, type: "webhook", target: "https://example.com/hook", ...shown },
      ],
    });
    expect(log.join()).not.toContain(hook.body.secret);
    expect((await admin.call("DELETE", `/notifications/channels/${mail.body.id}`)).status).toBe(200);
    expect((await admin.call("DELETE", `/notifications/channels/${mail.body.id}`)).status).toBe(404);
    const { receivers } = await readNotifications(store, (await findClinic(store, ours))?.id ?? 0);
    expect(receivers.map(({ secret }) => secret)).toEqual([hook.body.secret]);
  });

  test.each([
    ["email", "nurse", "This is not one e-mail address"],
    ["email", "a@b.example\r\nBcc: c@d.example", "This is not one e-mail address"],
    ["webhook", "http://example.com/hook", "starts with https://"],
    ["webhook", "https://169.254.169.254/latest", "cannot be a receiver"],
    ["webhook", "https://10.0.0.1/hook", "private network"],
  ])("%s %s is refused with what to enter instead", async (type, target, words) => {
    const { add, state } = await clinics();
    const answer = await add(target, type);
    expect([answer.status, answer.body.error.message]).toEqual([
      type === "email" ? 400 : 409,
      expect.stringContaining(words),
    ]);
    expect((await state()).channels).toEqual([]);
  });

  test("an address is in the list once, and a clinic has at most 20", async () => {
    const { add } = await clinics();
    for (let index = 0; index < 20; index += 1) expect((await add(`n${index}@clinic.example`)).status).toBe(200);
    expect((await add("N1@clinic.example")).body.error.message).toContain("in the list already");
    expect((await add("new@clinic.example")).body.error.message).toContain("at most 20");
  });

  test("quiet hours are two times of the clinic's clocks", async () => {
    const { admin, state } = await clinics();
    const answer = (quiet: unknown, seen: unknown = null) =>
      admin.call<Refused>("PUT", "/notifications/quiet-hours", { quiet, seen });
    const put = async (...bodies: [unknown, unknown?]) => (await answer(...bodies)).status;
    const quiet = { from: "22:00", until: "07:00", exempt_critical: true };
    expect(await put(quiet)).toBe(200);
    expect((await state()).quiet).toEqual(quiet);
    expect([await put({ ...quiet, until: "22:00" }), await put({ ...quiet, from: "24:00" })]).toEqual([400, 400]);
    const { body } = await answer({ ...quiet, until: "22:00" });
    expect(body.error).toMatchObject({ code: "REQUEST.INVALID_BODY", details: { code: "QUIET.SAME", values: [] } });
    // Those that the admin did not see are not replaced.
    const loud = { ...quiet, exempt_critical: false };
    expect([await put(loud), await put(loud, loud), (await state()).quiet]).toEqual([409, 409, quiet]);
    expect([await put(null, quiet), (await state()).quiet]).toEqual([200, null]);
  });

  test("the test button shows what happened, and its outcome stays at the address", async () => {
    const { admin, add, state, senders, clock } = await clinics();
    const { body } = await add("nurse@clinic.example");
    const press = () => admin.call<TestOutcome>("POST", `/notifications/channels/${body.id}/test`, {});
    expect((await press()).body).toMatchObject({ ok: false, said: expect.stringContaining("--smtp") as string });
    expect((await press()).status).toBe(409);

    const receiver = await startSmtpReceiver();
    senders.sendMail = createMailer({
      ...{ host: "127.0.0.1", port: receiver.port, isTls: false, user: null, from: "vetwire@clinic.example" },
      password: () => "",
    });
    clock.now -= 3_600_000; // a clock that is set back holds no test
    expect((await press()).body).toEqual({
      ok: true,
      said: "127.0.0.1 took the e-mail to nurse@clinic.example: 250 queued as 1",
      why: { code: "MAIL.TAKEN", values: ["127.0.0.1", "nurse@clinic.example", "250 queued as 1"] },
    });
    expect(receiver.mails).toMatchObject([
      { to: "nurse@clinic.example", subject: "Vetwire: Test of the notifications" },
    ]);
    receiver.answers.set("RCPT", "550 no such user");
    clock.now += 10_000;
    expect((await press()).body.said).toContain("refuses the recipient");
    const [channel] = (await state()).channels;
    expect(channel).toMatchObject({
      sent_at: new Date(clock.now - 10_000).toISOString(),
      fault: { reason: expect.stringContaining("550 no such user") as string, why: { code: "MAIL.RECIPIENT" } },
    });
    const why = channel?.fault?.why ?? { code: "", values: [] };
    expect(deliveryText(why, "tr")).toContain("alıcıyı kabul etmiyor: adresi kontrol edin");
    expect(deliveryText({ code: "HOOK.STATUS", values: ["500"] }, "tr")).toContain("500 yanıtını verdi");
  });
});
