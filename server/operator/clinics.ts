import type { FastifyInstance } from "fastify";
import { compareVersions } from "../../shared/api/upgrade.ts";
import { newFp } from "../../shared/api/fp.ts";
import { timestampOrNull } from "../../shared/runtime/timestamp.ts";
import { hashPassword, randomPassword } from "../dashboard/auth/password.ts";
import { bodyReader, Name } from "../dashboard/body.ts";
import { refuse } from "../dashboard/refuse.ts";
import {
  CLINIC_STATES,
  type HostedClinicPage,
  type HostedClinics,
  type NewClinicAnswer,
  type OperatorAudit,
} from "../dashboard/types/operator.ts";
import { refusal } from "../dashboard/types/refusals.ts";
import { choice, positiveInteger, readParameters, text } from "../http/query-parameters.ts";
import { listReleases } from "../operations/release-folder.ts";
import { auditCommand } from "../records/audit/audit.ts";
import { insertClinic } from "../records/clinics/clinics.ts";
import { readAnnouncement } from "../records/hosting/announcement.ts";
import { countHoldings, erasureIn } from "../records/hosting/erase-clinic.ts";
import { listHostedClinics, selectClinics, sumClinics } from "../records/hosting/hosted-clinics.ts";
import { listHostedPcs } from "../records/hosting/hosted-pcs.ts";
import { listCommands } from "../records/hosting/operator-audit.ts";
import { readMeters } from "../records/hosting/meters.ts";
import { listLooks } from "../records/hosting/support.ts";
import { insertUser, setRole } from "../records/users/users.ts";
import type { OperatorContext } from "./context.ts";
import { clinicIn, operatorOf } from "./guard.ts";

// The list of the clinics, the page of one, and new ones.

const PAGE_SIZE = 50;

const parameters = {
  search: text("Part of the name."),
  state: choice(CLINIC_STATES, "Only clinics in this state."),
  page: positiveInteger({ otherwise: 1, max: 1_000_000, description: "Number of the page." }),
};

const auditParameters = {
  before: positiveInteger({
    ...{ otherwise: Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER },
    description: "Only commands before this one: `next` of the page before.",
  }),
};

const newClinic = bodyReader({ name: Name, admin: Name });

const access = "signed in";

export function clinicRoutes(app: FastifyInstance, context: OperatorContext): void {
  const { store, now, releaseFolder, backups, oldestBackup } = context;
  app.get("/operator/v1/clinics", { config: { access, parameters } }, async (request): Promise<HostedClinics> => {
    const { search, state, page } = readParameters(request, parameters);
    const newest = newestVersion(releaseFolder);
    const all = await store.snapshot((session) => listHostedClinics(session, { now: now(), newest }));
    const selected = selectClinics(all, { words: search ?? "", state });
    const from = (page - 1) * PAGE_SIZE;
    const clinics = selected.slice(from, from + PAGE_SIZE).map(({ shown }) => shown);
    return {
      announcement: await readAnnouncement(store, now()),
      ...{ clinics, page, page_size: PAGE_SIZE, total: selected.length },
      has_more: selected.length > from + PAGE_SIZE,
      sums: sumClinics(all, { newest, backups: backups() }),
    };
  });
  app.get(
    "/operator/v1/clinics/:clinic",
    { config: { access } },
    (request): Promise<HostedClinicPage> =>
      store.snapshot(async (session) => {
        const { id, fp, name, suspended_at: at, studies_max, erasure } = await clinicIn(session, request);
        const metered = await readMeters(session, { now: now(), clinicId: id });
        if (metered === undefined) throw new Error("expected the meters of a clinic, got none");
        const { quotas, studies, studies_this_month, devices, api_calls_this_month, storage_bytes } = metered;
        return {
          clinic: { fp, name, suspended_at: timestampOrNull(at), studies_max, quotas },
          pcs: await listHostedPcs(session, id, now()),
          meters: { studies, studies_this_month, devices, api_calls_this_month, storage_bytes },
          looks: await listLooks(session, id),
          holdings: await countHoldings(session, id),
          erasure: erasureIn({ erasure }),
          oldest_backup_at: oldestBackup(),
        };
      }),
  );
  createRoute(app, context);
  app.get(
    "/operator/v1/audit",
    { config: { access, parameters: auditParameters } },
    (request): Promise<OperatorAudit> => listCommands(store, readParameters(request, auditParameters).before),
  );
}

/** Makes a clinic with its first admin, whose password the operator passes on. */
function createRoute(app: FastifyInstance, { store, now }: OperatorContext): void {
  app.post("/operator/v1/clinics", { config: { access } }, async (request): Promise<NewClinicAnswer> => {
    const { name, admin } = newClinic(request.body);
    const password = randomPassword();
    const hash = await hashPassword(password);
    const fp = newFp("clinic");
    await store.transaction(async (session) => {
      const { id } = await insertClinic(session, { fp, name: name.trim() });
      const user = await insertUser(session, { name: admin, password: hash, now: now() });
      if (user === undefined) refuse(refusal("USER.NAME_TAKEN"));
      await setRole(session, user.id, id, "admin");
      const actor = operatorOf(request, now(), id);
      await auditCommand(session, "clinics create", [fp], actor);
      await auditCommand(session, "users create --role admin", [user.public_id], actor);
    });
    return { fp, admin: admin.trim(), password };
  });
}

/** The newest release of the agent on this server; null without one. */
export function newestVersion(releaseFolder: string | null): string | null {
  const versions = listReleases(releaseFolder).map(({ version }) => version);
  return versions.toSorted(compareVersions).at(-1) ?? null;
}
