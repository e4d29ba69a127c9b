import fs from "node:fs";
import path from "node:path";
import { type Static, Type } from "typebox";
import { isMailAddress, readSmtpUrl, type SmtpServer } from "../../shared/alerts/smtp.ts";
import type { QuietHours } from "../../shared/alerts/quiet.ts";
import type { AlertLanguage } from "../../shared/alerts/texts.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { readReceiverUrl } from "../../shared/webhook/receiver.ts";
import { asArray, asObject, type ReportProblem } from "./problem-report.ts";
import { readSecret } from "./secret-file.ts";

// `alerts` of agent.yaml: whom the agent itself tells, also while the server is away.

const closed = { additionalProperties: false };

/** The part as it stands in the file. */
export const AlertsSchema = Type.Object(
  {
    email: Type.Optional(
      Type.Object(
        {
          smtp: Type.String({ minLength: 1 }),
          passwordFile: Type.Optional(Type.String({ minLength: 1 })),
          from: Type.String({ minLength: 1 }),
          to: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 20 }),
        },
        closed,
      ),
    ),
    webhook: Type.Optional(
      Type.Object({ url: Type.String({ minLength: 1 }), secretFile: Type.String({ minLength: 1 }) }, closed),
    ),
    /** Times in the agent's time zone. */
    quietHours: Type.Optional(Type.String({ pattern: "^([01]\\d|2[0-3]):[0-5]\\d-([01]\\d|2[0-3]):[0-5]\\d$" })),
    language: Type.Optional(Type.Enum(["en", "tr"])),
  },
  closed,
);

/** The checked part, with absolute paths. */
export interface AlertConfig {
  readonly email: {
    readonly server: SmtpServer;
    readonly passwordFile: string | null;
    readonly from: string;
    readonly to: readonly string[];
  } | null;
  readonly webhook: { readonly url: string; readonly secretFile: string } | null;
  readonly quiet: QuietHours | null;
  readonly language: AlertLanguage;
}

const SECRET = /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/;

/** @returns the checked part of the configuration; paths start at `folder` */
export function asAlertConfig(
  { email, webhook, quietHours, language = "en" }: Static<typeof AlertsSchema>,
  inFolder: (name: string) => string,
): AlertConfig {
  const server = readSmtpUrl(email?.smtp ?? "smtp://unused");
  if (typeof server === "string") throw new Error(`alerts.email.smtp ${server}`);
  const [from = "", until = ""] = quietHours?.split("-") ?? [];
  return {
    email: email
      ? {
          ...{ server, from: email.from, to: email.to },
          passwordFile: email.passwordFile === undefined ? null : inFolder(email.passwordFile),
        }
      : null,
    webhook: webhook ? { url: webhook.url, secretFile: inFolder(webhook.secretFile) } : null,
    // The agent knows no critical values that the server does not.
    quiet: quietHours === undefined ? null : { from, until, exemptCritical: false },
    language,
  };
}

/** Finds what the schema cannot express: addresses and files. */
export function alertProblems(raw: unknown, folder: string, report: ReportProblem): void {
  if (raw === undefined) return;
  const alerts = asObject(raw);
  if (!("email" in alerts) && !("webhook" in alerts)) report(["alerts"], "tells nobody, expected email or webhook");
  if ("email" in alerts) emailProblems(asObject(alerts["email"]), folder, report);
  if ("webhook" in alerts) webhookProblems(asObject(alerts["webhook"]), folder, report);
  const quiet = alerts["quietHours"];
  if (typeof quiet === "string" && quiet.slice(0, 5) === quiet.slice(6)) {
    report(["alerts", "quietHours"], `is ${quiet}, which is no time at all, expected such as 22:00-07:00`);
  }
}

const EMAIL = ["alerts", "email"];

function emailProblems(email: Record<string, unknown>, folder: string, report: ReportProblem): void {
  const { smtp, passwordFile, from, to } = email;
  const server = typeof smtp === "string" ? readSmtpUrl(smtp) : null;
  if (typeof server === "string") report([...EMAIL, "smtp"], server);
  else if (server !== null && server.user !== null && passwordFile === undefined) {
    report(EMAIL, "has no passwordFile, which the user of smtp needs: a file with the password alone");
  } else if (server?.user === null && passwordFile !== undefined) {
    const remedy = "expected such as smtp://user@mail.example.com:587";
    report([...EMAIL, "smtp"], `names no user, which passwordFile needs, ${remedy}`);
  }
  addressProblem(from, ["from"], report);
  for (const [index, address] of asArray(to).entries()) addressProblem(address, ["to", String(index)], report);
  if (typeof passwordFile !== "string") return;
  const file = path.resolve(folder, passwordFile);
  try {
    fs.readFileSync(file);
  } catch (error) {
    report([...EMAIL, "passwordFile"], `names ${file}, which cannot be read: ${errorMessage(error)}`);
  }
}

function addressProblem(address: unknown, steps: readonly string[], report: ReportProblem): void {
  if (typeof address !== "string" || isMailAddress(address)) return;
  report([...EMAIL, ...steps], `is "${address}", expected one e-mail address such as nurse@example.com`);
}

function webhookProblems({ url, secretFile }: Record<string, unknown>, folder: string, report: ReportProblem): void {
  const checked = typeof url === "string" ? readReceiverUrl(url, true) : null;
  if (checked?.ok === false) report(["alerts", "webhook", "url"], `is wrong: ${checked.reason}`);
  if (typeof secretFile !== "string") return;
  const file = path.resolve(folder, secretFile);
  try {
    if (SECRET.test(readSecret(file))) return;
    report(
      ["alerts", "webhook", "secretFile"],
      `names ${file}, which holds no secret (one line: whsec_ and 32 random bytes in base64)`,
    );
  } catch (error) {
    report(["alerts", "webhook", "secretFile"], `names ${file}, which cannot be read: ${errorMessage(error)}`);
  }
}
