import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { ClosedObject, Nullable } from "../../../../shared/schema/schema.ts";
import { textForm } from "../../../../shared/schema/text-form.ts";
import { isMailAddress } from "../../../operations/mail/smtp.ts";
import {
  readMailServer,
  removeMailServer,
  sealPassword,
  type StoredMailServer,
  writeMailServer,
} from "../../../operations/mail/stored-mail-server.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { findClinicName } from "../../../records/clinics/clinics.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";
import type { MailResult } from "../../types/results/sharing.ts";
import {
  MAIL_ENCRYPTIONS,
  type MailServerBody,
  type MailServerState,
  type MailSetting,
} from "../../types/settings/mail-server.ts";
import { TEST_PAUSE_S } from "../../types/settings/notifications.ts";
import { actorOf } from "../commands.ts";
import { isAdminOfAll } from "./network.ts";

// Settings, E-mail: the mail server of the server. No response has its password.

const settingFields = {
  host: Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: textForm("^[^\\s/@\\\\]+$", "the name of a server, such as smtp.example.com"),
  }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  encryption: Type.Enum([...MAIL_ENCRYPTIONS]),
  user: Type.Union([Type.String({ minLength: 1, maxLength: 300 }), Type.Null()]),
  from: Type.String({ maxLength: 300 }),
};
const settingBody = bodyReader({
  ...settingFields,
  password: Nullable(Type.String({ minLength: 1, maxLength: 1000 })),
  seen: Nullable(ClosedObject(settingFields)),
});
const testBody = bodyReader({ to: Type.String({ maxLength: 300 }) });

const URL = "/clinic/v1/clinics/:clinic/mail-server";
const OPTION = "--smtp";
const config = { access: "admin" } as const;

export function mailServerRoutes(app: FastifyInstance, context: DashboardContext): void {
  const { store, now, mail, pepper } = context;
  const refuseChange = async (userId: number) => {
    if (mail.fixed !== null) refuse(refusal("MAIL.FIXED", OPTION));
    if (!(await isAdminOfAll(store, userId))) refuse(refusal("MAIL.OTHER_CLINICS"));
  };
  app.get(URL, { config }, async (request): Promise<MailServerState> => {
    const mayChange = await isAdminOfAll(store, userOf(request).userId);
    const stored = mail.fixed === null ? await readMailServer(store) : null;
    return {
      fixed_by: mail.fixed === null ? [] : [OPTION],
      may_change: mayChange,
      // The name at the mail server belongs to whoever runs the server.
      setting: mayChange ? (mail.fixed ?? stored?.setting ?? null) : null,
      has_password: stored?.sealedPassword != null,
    };
  });
  app.put(URL, { config }, async (request) => {
    const { password, seen, ...setting }: MailServerBody = settingBody(request.body);
    await refuseChange(userOf(request).userId);
    if (!isMailAddress(setting.from)) refuse(refusal("SHARE.ADDRESS"));
    await store.transaction(async (session) => {
      const kept = await readMailServer(session);
      if (!isDeepStrictEqual(kept?.setting ?? null, seen)) refuse(refusal("FORM.CHANGED"));
      const sealedPassword = setting.user === null ? null : passwordOf(setting, { password, kept, pepper });
      await writeMailServer(session, { setting, sealedPassword }, now());
      await auditCommand(session, "mail server set", [clinicOf(request).fp], actorOf(request, now()));
    });
    return {};
  });
  app.delete(URL, { config }, async (request) => {
    await refuseChange(userOf(request).userId);
    await store.transaction(async (session) => {
      await removeMailServer(session);
      await auditCommand(session, "mail server removed", [clinicOf(request).fp], actorOf(request, now()));
    });
    return {};
  });
  testRoute(app, context);
}

function testRoute(app: FastifyInstance, { store, now, mail, counters }: DashboardContext): void {
  app.post(
    `${URL}/test`,
    { config: { ...config, repeats: "it sends a message and stores nothing, and a second one waits" } },
    async (request): Promise<MailResult> => {
      const { to: typed } = testBody(request.body);
      const to = typed.trim();
      if (!isMailAddress(to)) refuse(refusal("SHARE.ADDRESS"));
      const { id, language } = clinicOf(request);
      const pause = [{ name: "pause", ms: TEST_PAUSE_S * 1000, limit: 1 }];
      const { taken } = await counters.keys.take(`mail test ${id}`, pause, now());
      if (!taken) refuse(refusal("CHANNEL.TESTED", TEST_PAUSE_S));
      const senderName = await findClinicName(store, id);
      const [subject, text] = language === "tr" ? TEST_WORDS.tr : TEST_WORDS.en;
      const { ok, why } = await mail.send({ to, subject, text, senderName });
      return { ok, reason: why };
    },
  );
}

const TEST_WORDS = {
  en: ["Vetwire: test of the mail server", "This is a test. This server can send e-mails.\n"],
  tr: ["Vetwire: posta sunucusu denemesi", "Bu bir denemedir. Bu sunucu e-posta gönderebiliyor.\n"],
} as const;

/** The kept password goes to no other server, and never without encryption that it did not have: its admin may not know it. */
function passwordOf(
  { host, port, encryption, user }: MailSetting,
  { password, kept, pepper }: { password: string | null; kept: StoredMailServer | null; pepper: Buffer },
): string {
  if (password !== null) return sealPassword(password, pepper);
  const before = kept?.setting;
  const isSame =
    before?.host === host && before.port === port && before.encryption === encryption && before.user === user;
  if (!isSame || kept?.sealedPassword == null) refuse(refusal("MAIL.PASSWORD_AGAIN"));
  return kept.sealedPassword;
}
