import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { ProfileOutcome } from "../../../../shared/api/configuration.ts";
import { errorMessage } from "../../../../shared/runtime/error-message.ts";
import { compileLater } from "../../../../shared/schema/compile-later.ts";
import { analyzersOf } from "../../../analyzers.ts";
import { checkConfig } from "../../../config/check.ts";
import { folderOf, markOf } from "../../../config/config-file.ts";
import { withProfile } from "../../../config/edit.ts";
import type { Config } from "../../../config/values/schema.ts";
import { OwnProfiles } from "../../../devices/own/own-profiles.ts";
import { newerRevision } from "../../../devices/index.ts";
import type { Host } from "../../../host.ts";
import {
  type Adoption,
  type Difference,
  differenceOf,
  finishAdoptions,
  intendAdoption,
} from "../../../tools/offline/adopt.ts";
import type { LocalAdopted, LocalAdoption, LocalSentProfile } from "../../types/own-profiles.ts";
import { PageError } from "../page-error.ts";
import { runningAgent } from "../running-agent.ts";

const text = Type.String({ maxLength: 200 });
const sentBody = compileLater(Type.Object({ profile: text }, { additionalProperties: false }));
const outcome = compileLater(ProfileOutcome);
const body = compileLater(Type.Object({ to: text, seen: text, mark: text }, { additionalProperties: false }));

interface Named {
  Params: { id: string };
}

/** Adds the adoption of a newer revision of an own profile. It shows the difference first, as `profile adopt` does. */
export function ownProfileRoutes(app: FastifyInstance, host: Host): void {
  const url = "/local/v1/devices/:id/adoption";
  app.get<Named>(url, async ({ params: { id } }): Promise<LocalAdoption> => {
    const mark = markOf(host.text());
    const { adoption, difference } = await found(host, id);
    return shown(adoption, difference, mark);
  });
  app.post<Named>(url, async ({ params: { id }, body: sent }): Promise<LocalAdopted> => {
    if (!body.Check(sent)) throw new PageError(400, "the request is not complete: load the page again");
    const { adoption, next, difference } = await found(host, id);
    if (adoption.to !== sent.to || seenOf(difference) !== sent.seen) {
      throw new PageError(409, "the stored messages changed meanwhile: look at the difference again");
    }
    const { data } = runningAgent(host).config;
    const applied = await host.apply(next, sent.mark, () => intendAdoption(data, adoption));
    if (applied.outcome === "applied") {
      const { config } = runningAgent(host);
      await finishAdoptions(config, analyzersOf(config));
      return { outcome: "adopted", to: adoption.to, changed: difference.changed.length };
    }
    const problems = applied.outcome === "refused" ? applied.problems.map(({ message }) => message) : [applied.reason];
    return { outcome: "refused", problems };
  });
  sendRoute(app, host);
}

/** Sends an own profile to the server, which keeps it for the clinic's other PCs. One way, and only by a person's click. */
function sendRoute(app: FastifyInstance, host: Host): void {
  app.post("/local/v1/profiles/sent", async ({ body: sent }): Promise<LocalSentProfile> => {
    if (!sentBody.Check(sent)) throw new PageError(400, "the request is not complete: load the page again");
    const { config, server } = runningAgent(host);
    const stored = new OwnProfiles(config.data).textOf(sent.profile);
    if (stored === null) throw new PageError(409, `${sent.profile} is missing or was changed: load the page again`);
    const answer = await server
      .post("/agent/v1/profiles", { profile: sent.profile, ...stored })
      .catch((error: unknown) => {
        throw new PageError(502, errorMessage(error));
      });
    if (!outcome.Check(answer)) throw new PageError(502, "the server does not take profiles: update it");
    return answer;
  });
}

interface Found {
  readonly adoption: Adoption;
  /** agent.yaml with the newer revision. */
  readonly next: string;
  readonly difference: Difference;
}

/** Reads the stored messages of a device with the newest revision of its profile. Nothing is written. */
async function found(host: Host, device: string): Promise<Found> {
  const { config } = runningAgent(host);
  const from = config.devices.find(({ id }) => id === device)?.profile ?? "";
  const to = newerRevision(from);
  if (to === null) throw new PageError(409, `${device} has the newest revision of its profile: load the page again`);
  const next = withProfile(host.text() ?? "", device, to);
  const adoption = { device, from, to, since: 0 };
  const newer = checkedConfig(host, next);
  return { adoption, next, difference: await differenceOf(newer, analyzersOf(newer), adoption) };
}

function checkedConfig({ file }: Host, next: string): Config {
  const checked = checkConfig(next, folderOf(file));
  if ("problems" in checked) throw new PageError(422, checked.problems.map(({ message }) => message).join("; "));
  return checked.config;
}

/** Max groups of messages that are shown, and messages that each names. */
const [GROUPS_MAX, NAMED_MAX] = [30, 5];

function shown({ from, to }: Adoption, difference: Difference, mark: string): LocalAdoption {
  const { messages, changed, split, rows } = difference;
  const groups = new Map<string, { ids: string[]; diff: readonly string[] }>();
  for (const { message, diff } of changed) {
    const key = diff.join("\n");
    const group = groups.get(key) ?? { ids: [], diff };
    group.ids.push(message.id);
    groups.set(key, group);
  }
  const differences = [...groups.values()].slice(0, GROUPS_MAX).map(({ ids, diff }) => {
    return { messages: ids.slice(0, NAMED_MAX), count: ids.length, diff };
  });
  const seen = seenOf(difference);
  return { from, to, messages, rows, changed: changed.length, differences, split: split.length, seen, mark };
}

function seenOf({ changed, split }: Difference): string {
  const told = [changed.map(({ message: { id }, diff }) => [id, diff]), split.map(({ message: { id } }) => id)];
  return createHash("sha256").update(JSON.stringify(told)).digest("hex");
}
