import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { compileLater } from "../../../../shared/schema/compile-later.ts";
import { problems } from "../../../../shared/schema/problems.ts";
import { ClosedObject } from "../../../../shared/schema/schema.ts";
import type { NetworkBody, NetworkChange, NetworkSetting } from "../../types/settings/network.ts";
import { ApiError } from "../../../http/errors.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import type { Session } from "../../../database/query.ts";
import { listClinics } from "../../../records/clinics/clinics.ts";
import { clinicsOfUser } from "../../../records/users/users.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import type { DashboardContext, NetworkControl } from "../../context.ts";
import { actorOf } from "../commands.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// Settings, Network: how other machines reach the server. The certificate of the server's authority needs no session: a phone that
// does not trust the server yet loads it, and a certificate is public.

const Port = Type.Integer({ minimum: 1, maximum: 65_535 });
const Pem = Type.String({ maxLength: 50_000 });

const setting = compileLater(
  Type.Union([
    ClosedObject({ way: Type.Literal("this machine") }),
    ClosedObject({ way: Type.Literal("own authority"), port: Port }),
    ClosedObject({ way: Type.Literal("own certificate"), port: Port, chain: Pem, key: Pem }),
    ClosedObject({
      way: Type.Literal("proxy"),
      url: Type.String({ maxLength: 300 }),
      proxies: Type.Array(Type.String({ maxLength: 50 }), { maxItems: 20 }),
      listen: Type.Union([ClosedObject({ host: Type.String({ maxLength: 50 }), port: Port }), Type.Null()]),
    }),
  ]),
);

const URL = "/clinic/v1/clinics/:clinic/network";

export function networkRoutes(app: FastifyInstance, { store, now, network }: DashboardContext): void {
  app.get(URL, { config: { access: "admin" } }, async (request): Promise<NetworkBody> => {
    const may_change = await isAdminOfAll(store, userOf(request).userId);
    return { ...needed(network).state(), may_change };
  });
  app.put(URL, { config: { access: "admin" } }, async (request): Promise<NetworkChange> => {
    const control = needed(network);
    const wanted = settingOf(request.body);
    if (!(await isAdminOfAll(store, userOf(request).userId))) refuse(refusal("NETWORK.OTHER_CLINICS"));
    const refused = await control.change(wanted);
    const actor = actorOf(request, now());
    if (refused === null) {
      await store.transaction((session) =>
        auditCommand(session, `network: ${wanted.way}`, [clinicOf(request).fp], actor),
      );
    }
    return { refused, network: control.state() };
  });
  app.get("/clinic/v1/authority.crt", { config: { access: "anyone" } }, (_request, reply) => {
    const { authority } = needed(network);
    if (authority === null) throw new ApiError("RECORD.NOT_FOUND", "The authority of this server");
    return reply
      .header("content-disposition", 'attachment; filename="vetwire-authority.crt"')
      .type("application/x-x509-ca-cert")
      .send(authority);
  });
}

function needed(network: NetworkControl | null): NetworkControl {
  if (network === null) throw new ApiError("RECORD.NOT_FOUND", "The network of this server");
  return network;
}

/** Whether a user is admin in each clinic of the server. The others would lose their address by a change. */
export async function isAdminOfAll(session: Session, userId: number): Promise<boolean> {
  const roles = new Map((await clinicsOfUser(session, userId)).map(({ fp, role }) => [fp, role]));
  return (await listClinics(session)).every(({ fp }) => roles.get(fp) === "admin");
}

/** @throws ApiError with the faults of a body that is not a setting */
function settingOf(body: unknown): NetworkSetting {
  if (setting.Check(body)) return body;
  throw new ApiError("REQUEST.INVALID_BODY", `${problems(setting, body, 5).join("; ")}.`);
}
