import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createMailer, isMailAddress, readSmtpUrl } from "../../../../server/operations/mail/smtp.ts";
import { startSmtpReceiver } from "../../../support/peers/smtp-receiver.ts";

const mail = { to: "nurse@clinic.example", subject: "Vetwire: Köpek", text: "Ağ yok.\nBak." };

function mailerTo(port: number, more: { user?: string; password?: () => string; deadlineMs?: number } = {}) {
  const { user = null, password = () => "secret", ...deadline } = more;
  return createMailer({
    ...{ host: "127.0.0.1", port, isTls: false, user, password },
    from: "vetwire@clinic.example",
    ...deadline,
  });
}

describe("an e-mail over SMTP", () => {
  test("arrives with its recipient, subject and text, and the mail server's reply is returned", async () => {
    const receiver = await startSmtpReceiver();
    const delivery = await mailerTo(receiver.port)(mail);
    expect(delivery).toEqual({
      ok: true,
      said: "127.0.0.1 took the e-mail to nurse@clinic.example: 250 queued as 1",
      why: { code: "MAIL.TAKEN", values: ["127.0.0.1", "nurse@clinic.example", "250 queued as 1"] },
    });
    expect(receiver.mails).toEqual([mail]);
  });

  test.each([
    ["RCPT", "550 no such user", "refuses the recipient: check the address", false],
    ["MAIL", "553 not yours", "refuses the sender: set an address", false],
    ["DATA.", "451 try later", "did not take the e-mail", false],
    ["DATA.", null, "did not take the e-mail", true],
    ["connect", "554 go away", "did not take the e-mail", false],
  ])("a fault at %s is reported with its remedy", async (command, answer, words, isUncertain) => {
    const receiver = await startSmtpReceiver();
    receiver.answers.set(command, answer);
    const delivery = await mailerTo(receiver.port)(mail);
    expect(delivery).toMatchObject({ ok: false, isUncertain, reason: expect.stringContaining(words) as string });
  });

  test("a mail server that never greets has surely not taken the e-mail", async () => {
    const silent = net.createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const sent = mailerTo((silent.address() as AddressInfo).port)(mail);
    await once(silent, "connection");
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(10_000);
    expect(await sent).toMatchObject({
      ...{ ok: false, isUncertain: false },
      reason: expect.stringContaining("(Greeting never received)") as string,
    });
  });

  test("a mail server that sends its reply byte by byte without an end holds an e-mail until the deadline", async () => {
    const endless = net.createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write("220 test\r\n");
      socket.once("data", () => {
        const timer = setInterval(() => socket.write("250-x\r\n"), 10);
        socket.on("close", () => clearInterval(timer));
      });
    });
    const closed = new Promise<void>(
      (resolve) => void endless.on("connection", (socket) => socket.on("close", resolve)),
    );
    endless.listen(0, "127.0.0.1");
    await once(endless, "listening");
    onTestFinished(() => void endless.close());
    const { port } = endless.address() as AddressInfo;
    expect(await mailerTo(port, { deadlineMs: 500 })(mail)).toMatchObject({
      ...{ ok: false, isUncertain: true },
      why: { code: "MAIL.SILENT" },
    });
    await closed;
  });

  test("a mail server that is not there, an unknown one, and a refused password have their own remedies", async () => {
    const receiver = await startSmtpReceiver();
    receiver.answers.set("EHLO", "250-test\r\n250 AUTH PLAIN");
    receiver.answers.set("AUTH", "535 wrong");
    const refused = await mailerTo(receiver.port, { user: "vet" })(mail);
    expect(refused).toMatchObject({ reason: expect.stringContaining("refuses the name or the password") as string });
    expect(JSON.stringify(refused)).not.toContain("secret");
    expect(await mailerTo(1)(mail)).toMatchObject({
      reason: expect.stringContaining("No mail server listens") as string,
    });
    const broken = mailerTo(receiver.port, {
      user: "vet",
      password: () => {
        throw Object.assign(new Error("no file"), { code: "ENOENT" });
      },
    });
    expect(await broken(mail)).toMatchObject({
      reason: expect.stringContaining("file of the mail password") as string,
    });
  });
});

test("an SMTP URL names server, port, encryption and user, never a password", () => {
  expect(readSmtpUrl("smtp://vet%40x@mail.example.com")).toEqual({
    ...{ host: "mail.example.com", port: 587, isTls: false },
    user: "vet@x",
  });
  expect(readSmtpUrl("smtps://mail.example.com")).toMatchObject({ port: 465, isTls: true, user: null });
  expect(readSmtpUrl("smtp://vet:pw@mail.example.com")).toMatch(/^holds a password/);
  for (const text of ["mail.example.com", "http://x", "smtp://", "smtp://x/y", "smtp://x?tls=no"]) {
    expect(typeof readSmtpUrl(text), `"${text}"`).toBe("string");
  }
});

test("an address is one address, without anything that could become a header", () => {
  expect(isMailAddress("nurse@clinic.example")).toBe(true);
  for (const text of ["nurse", "a@b\r\nBcc: c@d", "a@b, c@d", "Ada <a@b>", "@b", "a@"]) {
    expect(isMailAddress(text), `"${text}"`).toBe(false);
  }
});
