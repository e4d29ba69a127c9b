import type { Command } from "commander";
import { isOpenToOthers } from "../../../shared/files/private-folder.ts";
import { readTextFile } from "../../../shared/files/text-file.ts";
import type { SingleSignOn } from "../../dashboard/context.ts";

// Signing in through a provider (OpenID Connect).

/** Holds the secret of the client, in place of a file. */
const SECRET_VARIABLE = "VETWIRE_OIDC_CLIENT_SECRET";

export interface OidcOptions {
  readonly oidcIssuer?: string;
  readonly oidcClientId?: string;
  readonly oidcClientSecretFile?: string;
  readonly oidcRoles?: string;
  readonly oidcGroupsClaim: string;
  readonly oidcScope: string;
}

export function withOidcOptions(command: Command): Command {
  return command
    .option(
      "--oidc-issuer <url>",
      "let users and operators sign in through this OpenID Connect provider too (off by default)",
    )
    .option("--oidc-client-id <id>", "the client's id at the provider; needed with --oidc-issuer")
    .option(
      "--oidc-client-secret-file <file>",
      `file with the client's secret, readable for this user alone; or the variable ${SECRET_VARIABLE}`,
    )
    .option(
      "--oidc-roles <file>",
      'roles of groups, a line each: {"group":"vets","clinic":"clinic_...","role":"staff"}, or {"group":"hosts","role":"operator"}; needed with --oidc-issuer',
    )
    .option("--oidc-groups-claim <name>", "claim that holds the groups", "groups")
    .option("--oidc-scope <words>", "scope to request, with `groups` if the provider wants it", "openid profile");
}

/** @returns null without a provider @throws Error with the remedy for options that do not fit */
export async function singleSignOnOf(options: OidcOptions, env = process.env): Promise<SingleSignOn | null> {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecretFile: secretFile, oidcRoles: roles } = options;
  if (issuer === undefined) {
    if (clientId === undefined && secretFile === undefined && roles === undefined) return null;
    throw new Error("--oidc-client-id, --oidc-client-secret-file and --oidc-roles need --oidc-issuer");
  }
  if (clientId === undefined) throw new Error("--oidc-issuer needs --oidc-client-id, the client's id at the provider");
  if (roles === undefined) throw new Error("--oidc-issuer needs --oidc-roles, a file with the roles of groups");
  const scope = options.oidcScope.trim();
  if (!scope.split(/\s+/).includes("openid")) throw new Error(`--oidc-scope is ${scope}, expected openid among it`);
  const readSecret = () => readClientSecret(secretFile, env);
  readSecret();
  // Loaded here, so that a server without a provider loads nothing of it.
  const { OidcProvider } = await import("../../oidc/provider.ts");
  const { readGroupRoles } = await import("../../dashboard/oidc/group-roles.ts");
  readGroupRoles(roles);
  const groupsClaim = options.oidcGroupsClaim;
  const provider = new OidcProvider({ issuer: issuerOf(issuer), clientId, readSecret, scope, groupsClaim });
  return { provider, readRoles: () => readGroupRoles(roles) };
}

function issuerOf(text: string): URL {
  if (/^https?:\/\/[^?#\s@]+$/.test(text) && URL.canParse(text)) return new URL(text);
  throw new Error("--oidc-issuer is not an address such as https://login.example.com/realms/clinics");
}

function readClientSecret(file: string | undefined, env: NodeJS.ProcessEnv): string {
  if (file !== undefined && isOpenToOthers(file))
    throw new Error(`other users can read ${file}, which holds a secret: chmod 600 ${file}`);
  const secret = (file === undefined ? (env[SECRET_VARIABLE] ?? "") : readTextFile(file)).trim();
  if (secret !== "") return secret;
  throw new Error(`--oidc-issuer needs the client's secret: --oidc-client-secret-file, or ${SECRET_VARIABLE}`);
}
