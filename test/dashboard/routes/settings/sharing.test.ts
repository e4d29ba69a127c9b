import { describe, expect, onTestFinished, test, vi } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { MadeLink, MailResult, SharingState } from "../../../../server/dashboard/types/results/sharing.ts";
import type { StudyRequest } from "../../../../server/dashboard/report/pdf-worker.ts";
import { PdfThread } from "../../../../server/dashboard/report/pdf-thread.ts";
import { ApiError } from "../../../../server/http/errors.ts";
import { linkAddress } from "../../../../server/dashboard/routes/sharing/link-address.ts";
import { createMailer } from "../../../../server/operations/mail/smtp.ts";
import { ownerId, storeOwnerFacts } from "../../../../server/records/registry/owners.ts";
import { shareRefusal } from "../../../../server/records/sharing/share-refusal.ts";
import {
  allStored,
  importEntities,
  keyPermissions,
  patient,
  connection,
  startServer,
  study,
} from "../../../server/harness.ts";
import { startSmtpReceiver } from "../../../support/peers/smtp-receiver.ts";
import { makeUser } from "../../harness.ts";
import { chemistry, resultsClinic } from "../../results-clinic.ts";

const DAY = 86_400_000;
const zone = "Europe/Istanbul";

interface Refused {
  readonly error: { readonly code: string; readonly details: { readonly code: string; readonly values: string[] } };
}

/** A clinic with a filed study, and calls about it. */
async function startSharing() {
  const names = resultsClinic();
  const server = await startServer(...names.entities);
  const filed = chemistry(names.dog);
  const key = await server.makeKey(names.ours, keyPermissions);
  await server.push(key, filed);
  const staff = await makeUser(server, "staff", names.ours);
  const path = `/results/${filed.fp}`;
  const shared = { revision: 1, language: "tr", zone };
  const state = async (user = staff) => (await user.call<SharingState>("GET", `${path}/sharing`)).body;
  const makeLink = async (days = 7, more: object = {}) =>
    (await staff.call<MadeLink>("POST", `${path}/links`, { ...shared, days, ...more })).body;
  const refusalOf = async (fp: string) =>
    (await staff.call<Refused>("POST", `/results/${fp}/links`, { ...shared, days: 1 })).body.error.details.code;
  const send = (to: string) => staff.call<MailResult & Refused>("POST", `${path}/report-mail`, { ...shared, to });
  const open = (url: string, method: "GET" | "HEAD" | "POST" = "GET", remoteAddress = "198.51.100.7") =>
    server.app.inject({ method, url: url.replace(/^https?:\/\/[^/]+/, ""), remoteAddress });
  return { server, ...names, filed, key, staff, path, shared, state, makeLink, refusalOf, send, open };
}

/** The name of the Turkish report of a chemistry study. */
const fileName = (animal: string, { acquired_at }: { acquired_at: string }) =>
  `${animal} ${acquired_at.slice(0, 10)} Biyokimya.pdf`;
const secretOf = ({ url }: MadeLink) => url.slice(url.lastIndexOf("/") + 1);

describe("a link for the owner", () => {
  test("opens the newest report by its button alone, which counts, and previews count nothing", async () => {
    const { server, makeLink, open, state, staff, filed, dog, key } = await startSharing();
    const made = await makeLink();
    expect(made.url).toMatch(/^http:\/\/localhost(:80)?\/r\/[\w-]{32}$/);
    expect(made.ends_at).toBe(new Date(server.clock.now + 7 * DAY).toISOString());
    for (const method of ["GET", "HEAD", "GET"] as const) {
      const page = await open(made.url, method);
      expect(page.statusCode).toBe(200);
      expect(page.headers).toMatchObject({
        "x-robots-tag": "noindex, nofollow, noarchive",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "content-security-policy": expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
        ) as string,
      });
    }
    const { body: page } = await open(made.url);
    expect(page).toContain(`<html lang="tr">`);
    expect(page).toContain(`<meta name="robots" content="noindex, nofollow, noarchive">`);
    expect(page).not.toContain(dog.name);
    expect(page).not.toContain(secretOf(made));
    expect((await state()).links[0]).toMatchObject({ by: staff.name, ended: null, opened: null });

    const opened = await open(made.url, "POST");
    expect([opened.statusCode, opened.headers["cache-control"]]).toEqual([303, "no-store"]);
    const report = await open(String(opened.headers.location));
    expect(report.headers).toMatchObject({
      "content-type": "application/pdf",
      "content-disposition": `inline; filename*=UTF-8''${encodeURIComponent(fileName(dog.name, filed))}`,
      "cache-control": "no-store",
      "x-robots-tag": "noindex, nofollow, noarchive",
      "referrer-policy": "no-referrer",
    });
    expect(report.body.slice(0, 5)).toBe("%PDF-");
    server.clock.now += 60_000;
    await server.push(key, { ...filed, revision: 2, comments: ["Lipemic"] });
    const saved = await open(`${made.url}?save=1`, "POST");
    expect((await open(String(saved.headers.location))).headers["content-disposition"]).toMatch(/^attachment/);
    const times = [server.clock.now - 60_000, server.clock.now].map((at) => new Date(at).toISOString());
    expect((await state()).links[0]?.opened).toEqual({ first_at: times[0], last_at: times[1], times: 2 });
    // The address of the report leads back to the button after a while.
    server.clock.now += 600_000;
    const old = await open(String(opened.headers.location));
    expect([old.statusCode, old.headers.location]).toEqual([303, `/r/${secretOf(made)}`]);
  });

  test("is in no log, audit row or database, and neither is who opened it", async () => {
    const { server, ours, makeLink, open, dog } = await startSharing();
    const made = await makeLink();
    const { headers } = await open(made.url, "POST", "203.0.113.99");
    await open(String(headers.location), "GET", "203.0.113.99");
    await open(`/r/${"x".repeat(32)}`, "GET", "203.0.113.99");
    await open(`${made.url}/nothing/here`, "GET", "203.0.113.99");
    const admin = await makeUser(server, "admin", ours);
    const audit = await admin.call("GET", "/audit");
    const log = server.log.join("\n");
    for (const text of [log, audit.text, allStored(server.database)]) expect(text).not.toContain(secretOf(made));
    expect(log).toContain("/r/:secret");
    expect(log).not.toContain(dog.name);
    expect(log + audit.text).not.toContain("203.0.113.99");
    expect(audit.text).toContain("report link made");
  });

  test("a wrong, ended, revoked and moved link get one response, and an undone move opens it again", async () => {
    const { server, ours, makeLink, open, staff, path, state, filed } = await startSharing();
    const cat = patient({ name: "Minnoş", species: "dog" });
    await importEntities(server.store, cat, connection(cat.fp, ours));
    const [day, week] = [await makeLink(1), await makeLink(7)];
    const wrong = await open(`/r/${"x".repeat(32)}`);
    expect(wrong.statusCode).toBe(404);
    expect(wrong.body).toContain("Bu bağlantı bir rapor açmıyor");
    const shapeOf = ({ statusCode, headers, body }: typeof wrong) => {
      const { "x-request-id": _id, date: _date, ...same } = headers;
      return { statusCode, same, body };
    };
    const expectDead = async (url: string) => {
      const { location = "" } = (await open(url, "POST")).headers;
      expect(location).toBe("");
      for (const each of [url, `${url}/9.x/report.pdf`]) expect(shapeOf(await open(each))).toEqual(shapeOf(wrong));
      expect(shapeOf(await open(url, "POST"))).toEqual(shapeOf(wrong));
    };
    await expectDead(`/r/${"x".repeat(32)}`);
    await expectDead(`/r/short`);
    const { headers } = await open(week.url, "POST");
    const moved = { revision: 1, patient_fp: cat.fp, reason: "wrong card" };
    expect((await staff.call("POST", `${path}/move`, moved)).status).toBe(200);
    await expectDead(week.url);
    expect(shapeOf(await open(String(headers.location)))).toEqual(shapeOf(wrong));
    expect((await state()).links.map(({ ended }) => ended)).toEqual(["moved", "moved"]);
    expect((await staff.call("POST", `${path}/undo-move`, { revision: 2 })).status).toBe(200);
    expect((await open(week.url)).statusCode).toBe(200);

    server.clock.now += DAY;
    await expectDead(day.url);
    expect((await open(week.url)).statusCode).toBe(200);
    expect((await staff.call("DELETE", `${path}/links/${week.id}`)).status).toBe(200);
    await expectDead(week.url);
    expect((await state()).links.map(({ ended }) => ended)).toEqual(["revoked", "expired"]);
    const other = await makeLink(7, { revision: 3 });
    const taken = { revision: 3, patient_fp: null, reason: "whose is it?" };
    expect((await staff.call("POST", `/results/${filed.fp}/move`, taken)).status).toBe(200);
    await expectDead(other.url);
  });

  test("no secret of another link, clinic or study opens a study, whatever is done with the others", async () => {
    const { server, ours, theirs, foreign, dog, key, staff, shared, open } = await startSharing();
    const others = await makeUser(server, "staff", theirs);
    const links: { url: string; id: string; fp: string; file: string; by: typeof staff; isOpen: boolean }[] = [];
    for (const [user, clinicKey, animal] of [
      [staff, key, dog],
      [others, await server.makeKey(theirs, keyPermissions), foreign],
    ] as const) {
      for (let index = 0; index < 3; index += 1) {
        const one = chemistry(animal, undefined, { acquired_at: `2026-11-2${index}T08:00:00.000Z` });
        await server.push(clinicKey, one);
        const { body } = await user.call<MadeLink>("POST", `/results/${one.fp}/links`, {
          ...shared,
          days: index === 0 ? 1 : 30,
        });
        links.push({ ...body, fp: one.fp, file: fileName(animal.name, one), by: user, isOpen: true });
      }
    }
    // The name of the file tells the studies apart.
    expect(new Set(links.map(({ file }) => file)).size).toBe(links.length);
    const opensOnlyItsOwn = async () => {
      for (const [at, { url, file, isOpen }] of links.entries()) {
        const from = `198.51.100.${at + 10}`;
        const { statusCode, headers } = await open(url, "POST", from);
        expect([url, statusCode]).toEqual([url, isOpen ? 303 : 404]);
        if (!isOpen) continue;
        const ticket = String(headers.location);
        expect((await open(ticket, "GET", from)).headers["content-disposition"]).toBe(
          `inline; filename*=UTF-8''${encodeURIComponent(file)}`,
        );
        // The ticket of one link opens no other.
        const foreignUrl = links[(at + 1) % links.length]?.url ?? "";
        const swapped = ticket.replace(/^\/r\/[^/]+/, foreignUrl.replace(/^https?:\/\/[^/]+/, ""));
        expect((await open(swapped, "GET", from)).headers["content-type"] ?? "").not.toContain("pdf");
      }
    };
    await opensOnlyItsOwn();
    const [, second, , fourth] = links;
    // Neither clinic ends the links of the other one.
    expect((await others.call("DELETE", `/results/${second?.fp}/links/${second?.id}`)).status).toBe(404);
    expect((await staff.call("DELETE", `/results/${second?.fp}/links/${fourth?.id}`)).status).toBe(404);
    await staff.call("DELETE", `/results/${second?.fp}/links/${second?.id}`);
    server.clock.now += DAY + 60_000;
    for (const link of links) link.isOpen &&= link !== second && link !== links[0] && link !== fourth;
    await opensOnlyItsOwn();
    await importEntities(server.store, connection(dog.fp, ours, false));
    for (const link of links) link.isOpen &&= link.by !== staff;
    await opensOnlyItsOwn();
  });

  test("an address opens at most 60 pages in a minute", async () => {
    const { server, makeLink, open } = await startSharing();
    const { url } = await makeLink();
    const statuses = [];
    for (let index = 0; index < 61; index += 1) statuses.push((await open(url)).statusCode);
    expect(statuses).toEqual([...Array.from({ length: 60 }, () => 200), 429]);
    expect((await open(url, "GET", "198.51.100.8")).statusCode).toBe(200);
    server.clock.now += 60_000;
    expect((await open(url)).statusCode).toBe(200);
  });

  test("a former owner opens no report with the name and phone of the new one", async () => {
    const { server, makeLink, open, dog, ours } = await startSharing();
    const named = async (fp: string, name: string) =>
      server.store.transaction(async (session) => {
        const id = await ownerId(session, fp);
        await storeOwnerFacts(session, id, { name, phone: "0555" }, { batch: null });
      });
    await named(dog.owner_customer_fp, "Former Owner");
    const { url } = await makeLink();
    const make = vi.spyOn(PdfThread.prototype, "make");
    onTestFinished(() => make.mockRestore());
    const printedOwner = async () => {
      const { headers } = await open(url, "POST");
      expect((await open(String(headers.location))).statusCode).toBe(200);
      return (make.mock.lastCall![0] as StudyRequest).context.owner;
    };
    expect(await printedOwner()).toEqual({ name: "Former Owner", phone: "0555" });
    const sold = { ...dog, owner_customer_fp: newFp("customer") };
    await importEntities(server.store, sold, connection(dog.fp, ours));
    await named(sold.owner_customer_fp, "New Owner");
    expect(await printedOwner()).toBeNull();
  });

  test("a link and an e-mail have the clinic's units, whatever the sender reads", async () => {
    const { server, ours, staff, path, shared, makeLink, open } = await startSharing();
    const admin = await makeUser(server, "admin", ours);
    await admin.call("PUT", "/settings/clinic", {
      ...{ language: null, time_zone: null, units: { system: "si", exceptions: {} } },
    });
    server.senders.sendMail = async () => ({ ok: true, said: "", why: { code: "MAIL.TAKEN", values: [] } });
    const make = vi.spyOn(PdfThread.prototype, "make");
    onTestFinished(() => make.mockRestore());
    const printed = () => {
      const row = (make.mock.lastCall![0] as StudyRequest).study.rows.find(({ analyte }) => analyte === "ALB");
      return `${row?.value} ${row?.unit}`;
    };
    const { url } = await makeLink();
    const { headers } = await open(url, "POST");
    await open(String(headers.location));
    expect(printed()).toBe("12 g/L");
    const sent = await server.app.inject({
      ...{ method: "POST", url: `/clinic/v1/clinics/${ours}${path}/report-mail` },
      headers: {
        cookie: `${staff.cookie}; vetwire-units=conventional`,
        ...{ "sec-fetch-site": "same-origin", "idempotency-key": "mail-in-other-units-1" },
      },
      payload: { ...shared, to: "owner@example.com" },
    });
    expect([sent.statusCode, printed()]).toEqual([200, "12 g/L"]);
  });

  test("readers neither make nor see links", async () => {
    const { server, ours, path, shared } = await startSharing();
    const reader = await makeUser(server, "reader", ours);
    expect((await reader.call("GET", `${path}/sharing`)).status).toBe(403);
    expect((await reader.call("POST", `${path}/links`, { ...shared, days: 1 })).status).toBe(403);
  });
});

describe("a study that is not shared", () => {
  test("is refused with its reason: unmatched, rejected, a contradicting result, a pending order", async () => {
    const { server, key, staff, dog, filed, refusalOf, state, path } = await startSharing();
    const waiting = study();
    await server.push(key, waiting);
    expect(await refusalOf(waiting.fp)).toBe("SHARE.UNMATCHED");
    await staff.call("POST", `/unmatched/${waiting.fp}/reject`, { revision: 1, reason: "a test" });
    expect(await refusalOf(waiting.fp)).toBe("SHARE.REJECTED");

    const ordered = await staff.call<{ fp: string }>("POST", "/orders", {
      patient_fp: dog.fp,
      ...{ device: null, panel: null, tests: ["ALT", "CHOL"] },
    });
    expect((await staff.call("POST", `/orders/${ordered.body.fp}/attach`, { study_fp: filed.fp })).status).toBe(200);
    expect((await state()).refusal).toEqual({ code: "SHARE.PENDING", values: ["CHOL"] });
    expect(await refusalOf(filed.fp)).toBe("SHARE.PENDING");
    const mailed = await staff.call<Refused>("POST", `${path}/report-mail`, {
      ...{ revision: 2, language: "en", zone, to: "owner@example.com" },
    });
    expect(mailed.body.error.details.code).toBe("SHARE.PENDING");
    // After the clinic's hours, what is there counts as all that comes.
    server.clock.now += 3 * 3_600_000;
    expect((await state()).refusal).toBeNull();
    const contradicting = { ...filed, revision: 1, comments: ["another content"] };
    await server.push(key, contradicting);
    expect(await refusalOf(filed.fp)).toBe("SHARE.CONFLICT");
  });

  test("a later result of the device settles a contradicting one, and a move does not", () => {
    const place = { kind: "patient", fp: newFp("patient"), name: "Karabaş" } as const;
    const at = (minute: number) => new Date(Date.UTC(2026, 10, 21, 12, minute)).toISOString();
    const revision = (cause: "pushed" | "moved" | "corrected", minute: number) => ({
      ...{ revision: 1, at: at(minute), cause, by: null, place, reason: null, changes: [] },
    });
    const conflicts = [{ at: at(10), revision: 1, reason: { code: "STUDY.OTHER", values: [] }, changes: [] }];
    const refused = (...revisions: ReturnType<typeof revision>[]) =>
      shareRefusal({ study: { place, conflicts, revisions, quality: null }, pendingTests: [] })?.code ?? null;
    expect(refused(revision("pushed", 0))).toBe("SHARE.CONFLICT");
    expect(refused(revision("moved", 20), revision("pushed", 0))).toBe("SHARE.CONFLICT");
    for (const cause of ["pushed", "corrected"] as const) {
      expect(refused(revision(cause, 20), revision("pushed", 0))).toBeNull();
    }
  });

  test("what the user did not see is not shared", async () => {
    const { server, key, filed, staff, path, shared } = await startSharing();
    await server.push(key, { ...filed, revision: 2, comments: ["Lipemic"] });
    const { body } = await staff.call<Refused>("POST", `${path}/links`, { ...shared, days: 1 });
    expect(body.error.details.code).toBe("STUDY.CHANGED");
  });
});

describe("a report by e-mail", () => {
  test("arrives as PDF in the chosen language from the clinic, and the outcome is shown and audited without the address", async () => {
    const { server, ours, staff, dog, send, state } = await startSharing();
    expect((await send("owner@example.com")).body).toMatchObject({ ok: false, reason: { code: "MAIL.NOT_SET" } });
    const receiver = await startSmtpReceiver();
    server.senders.sendMail = createMailer({
      ...{ host: "127.0.0.1", port: receiver.port, isTls: false, user: null, from: "vetwire@clinic.example" },
      password: () => "",
    });
    expect((await state()).sends_mail).toBe(true);
    const sent = await send(" owner@example.com ");
    expect(sent.body).toEqual({
      ok: true,
      reason: { code: "MAIL.TAKEN", values: ["127.0.0.1", "owner@example.com", "250 queued as 1"] },
    });
    const [mail] = receiver.mails;
    expect(mail).toMatchObject({ to: "owner@example.com", subject: "A clinic: laboratuvar raporu" });
    expect(mail?.text).toContain("application/pdf");
    expect(mail?.text).toContain("JVBERi0"); // %PDF- in base64
    expect(mail?.text).not.toContain(dog.name);
    expect((await send("OWNER@example.com")).body.error.details.code).toBe("SHARE.JUST_SENT");

    server.clock.now += 60_000;
    receiver.answers.set("RCPT", "550 no such user <owner@example.com>");
    const refused = await send("owner@example.com");
    expect(refused.body).toMatchObject({ ok: false, reason: { code: "MAIL.RECIPIENT" } });
    expect(refused.body.reason.values[1]).toContain("550 no such user");
    // It surely did not arrive, so that it may be sent again immediately.
    receiver.answers.delete("RCPT");
    expect((await send("owner@example.com")).body.ok).toBe(true);
    const admin = await makeUser(server, "admin", ours);
    const audit = (await admin.call("GET", "/audit")).text;
    expect(audit).toContain("report sent by e-mail");
    expect(audit).toContain("report not sent by e-mail");
    expect(audit).toContain(staff.name);
    expect(audit + server.log.join("\n")).not.toMatch(/owner@example\.com/i);
  });

  test("a report that could not be made does not count as sent", async () => {
    const { server, send } = await startSharing();
    const make = vi.spyOn(PdfThread.prototype, "make").mockRejectedValueOnce(new ApiError("SERVER.UNAVAILABLE", ""));
    server.senders.sendMail = async ({ to }) => ({
      ...{ ok: true, said: "" },
      why: { code: "MAIL.TAKEN", values: ["mail.example.com", to, "250 ok"] },
    });
    onTestFinished(() => make.mockRestore());
    expect((await send("owner@example.com")).status).toBe(503);
    expect((await send("owner@example.com")).body.ok).toBe(true);
  });

  test.each(["a@b.example\r\nBcc: c@d.example", "a@b.example, c@d.example", "Ada <a@b.example>", "nobody"])(
    "%s is not an address, and nothing is sent",
    async (to) => {
      const { server, send } = await startSharing();
      let tries = 0;
      server.senders.sendMail = async () => {
        tries += 1;
        return { ok: false, reason: "", isUncertain: false, why: { code: "MAIL.NOT_SET", values: [] } };
      };
      expect([(await send(to)).body.error.details.code, tries]).toEqual(["SHARE.ADDRESS", 0]);
    },
  );

  test("a clinic sends at most 60 in an hour", async () => {
    const { server, send } = await startSharing();
    let sent = 0;
    server.senders.sendMail = async ({ to }) => {
      sent += 1;
      return { ok: true, said: "", why: { code: "MAIL.TAKEN", values: ["mail.example.com", to, "250 ok"] } };
    };
    for (let index = 0; index < 60; index += 1) await send(`owner${index}@example.com`);
    expect((await send("one-more@example.com")).body.error.details.code).toBe("SHARE.TOO_MANY_MAILS");
    expect(sent).toBe(60);
    // It says the same again: nothing went to the address.
    expect((await send("one-more@example.com")).body.error.details.code).toBe("SHARE.TOO_MANY_MAILS");
    server.clock.now += 3_600_000;
    expect((await send("one-more@example.com")).body.ok).toBe(true);
  });
});

test.each([
  ["127.0.0.1:8080", null, "http://127.0.0.1:8080", "this machine"],
  ["localhost", null, "http://localhost", "this machine"],
  ["192.168.1.20:8443", null, "http://192.168.1.20:8443", "clinic network"],
  ["clinic-pc.local", null, "http://clinic-pc.local", "clinic network"],
  ["192.168.1.20", "https://vet.example.com", "https://vet.example.com", "internet"],
  ["vet.example.com", null, "http://vet.example.com", "internet"],
  ["[fd00::1]:80", null, "http://[fd00::1]", "clinic network"],
])("a link made at %s with the public address %s begins with %s: %s", (host, named, origin, reach) => {
  expect(linkAddress({ protocol: "http", host }, { named })).toEqual({ origin, reach });
});
