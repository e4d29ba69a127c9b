import type { FastifyInstance } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { analyzersOf } from "../../analyzers.ts";
import { withProfile } from "../../config/edit.ts";
import { markOf } from "../../config/config-file.ts";
import { ownProfile, ownReferences, profileById, profiles } from "../../devices/index.ts";
import { OwnProfiles } from "../../devices/own/own-profiles.ts";
import { isOwn, OWN_PREFIX } from "../../devices/own/reference.ts";
import { printProfile } from "../../devices/table/document.ts";
import { readProfileText, shippedForm } from "../../devices/table/load.ts";
import type { ProfileForm } from "../../devices/table/schema.ts";
import type { Host } from "../../host.ts";
import { type Draft, formOf } from "../../maker/draft.ts";
import { compiled, look, type ShownMessage } from "../../maker/look.ts";
import { openBytes } from "../../maker/open.ts";
import { plainView } from "../../maker/rows.ts";
import { messageTree } from "../../maker/tree.ts";
import type { RunningAgent } from "../../agent.ts";
import { reprocessFirst } from "../../setup/change-profile.ts";
import { nameOf } from "../../setup/candidates.ts";
import { readSpool } from "../../spool/access.ts";
import { operationsOn } from "../../spool/queries/operations.ts";
import { checkDraft } from "../../tools/offline/check-draft.ts";
import { makerDevices, sourceBytes } from "../../tools/offline/maker-sources.ts";
import { replay } from "../../tools/offline/replay.ts";
import { lineDiff } from "../types/line-diff.ts";
import {
  type LocalMakerCheck,
  type LocalMakerLook,
  type LocalMakerOpened,
  type LocalMakerSaved,
  type LocalMakerStart,
  MakerCheck,
  MakerLook,
  type MakerNode,
  MakerSave,
  MakerSource,
} from "../types/maker.ts";
import { PageError } from "./page-error.ts";
import { runningAgent } from "./running-agent.ts";

/** Adds the maker of profiles. The page keeps the draft; the routes read messages with it, and store it. */
export function makerRoutes(app: FastifyInstance, host: Host): void {
  app.get("/local/v1/maker", (): LocalMakerStart => {
    const { config } = runningAgent(host);
    const bases = [...profiles.filter(({ protocol }) => protocol !== "file").map(({ id }) => id), ...ownReferences()];
    return {
      devices: makerDevices(config),
      bases: bases.map((id) => ({ ...nameOf(id), protocol: profileById(id)?.protocol ?? "" })),
      own: ownReferences(),
      mark: markOf(host.text()),
    };
  });

  app.post("/local/v1/maker/open", ({ body }): LocalMakerOpened => {
    return opened(sourceBytes(runningAgent(host).config, checked(MakerSource, body)));
  });

  app.post("/local/v1/maker/look", ({ body }): LocalMakerLook => {
    const { base, patches, messages, clicks } = checked(MakerLook, body);
    const agent = runningAgent(host);
    const shown = messages.map((each) => ({ bytes: Buffer.from(each, "base64"), context: contextOf(agent) }));
    const form = formOfBase(base);
    if (form === null) return lookAtCode(base, shown);
    const known = (text: string) => (isIdentifier(agent, text) ? ("identifier" as const) : null);
    const { draft, ...found } = look({ base: form, patches }, shown, clicks, { known });
    const { device } = formOf(draft);
    return {
      ...found,
      patches: [...draft.patches],
      device: { name: device.name ?? null, modality: device.modality ?? null },
    };
  });

  app.post("/local/v1/maker/check", async ({ body }): Promise<LocalMakerCheck> => {
    const { base, patches, device } = checked(MakerCheck, body);
    const { config } = runningAgent(host);
    const filing = analyzersOf(config).get(device);
    if (filing === undefined)
      throw new PageError(409, `${device} is no longer in the configuration: load the page again`);
    const form = formOfBase(base);
    const profile = form === null ? profileById(base) : compiled({ base: form, patches }).profile;
    if (profile == null) throw new PageError(422, "the draft is not a profile yet: see its problems");
    return checkDraft(config.data, filing, device, profile);
  });

  app.post("/local/v1/maker/save", ({ body }) => saved(host, checked(MakerSave, body)));
}

/** @throws PageError for another body */
function checked<Schema extends TSchema>(schema: Schema, body: unknown) {
  const validator = Compile(schema);
  if (!validator.Check(body)) throw new PageError(400, "the request is not complete: load the page again");
  return body;
}

/** Device id and time in the reading of a draft; nothing is stored by them. */
function contextOf({ config }: RunningAgent) {
  return { device: "maker", timeZone: config.timeZone, receivedAt: Date.now() };
}

/** @returns null for a profile that is code, which no click can change */
function formOfBase(base: string): ProfileForm | null {
  if (!isOwn(base)) {
    if (profileById(base) === undefined) throw new PageError(409, `${base} is not a profile: load the page again`);
    return shippedForm(base);
  }
  const own = ownProfile(base);
  if ("form" in own) return own.form;
  throw new PageError(409, own.problems.join("; "));
}

function opened(bytes: Uint8Array): LocalMakerOpened {
  const { protocol, found, messages } = openBytes(bytes, (of) => profileById(`generic-${of}`));
  const named = found?.profiles ?? [];
  if (protocol === null) {
    const bases = named.filter((id) => profileById(id) !== undefined);
    return { protocol, found, bases, messages: [{ base64: base64Of(bytes), tree: null }] };
  }
  const own = named.filter((id) => profileById(id)?.protocol === protocol && shippedForm(id) !== null);
  const bases = [...new Set([...own.filter((id) => !id.startsWith("generic-")), `generic-${protocol}`])];
  const shown = messages.map((each) => ({ base64: base64Of(each), tree: withText(messageTree(each, protocol)) }));
  return { protocol, found, bases, messages: shown };
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Leaves out the parts without text, which are most of a message. */
function withText(node: MakerNode | null): MakerNode | null {
  if (node === null) return null;
  const children = node.children.filter(({ text }) => text !== "").map((child) => withText(child)!);
  return { ...node, children };
}

function isIdentifier({ config }: RunningAgent, text: string): boolean {
  return readSpool(config.data, (db) => {
    return operationsOn(db).resolveReferences({ accessions: [], fps: [], identifiers: [text] }).patients.length > 0;
  });
}

/** A profile that is code reads the bytes as they came over the line. */
function lookAtCode(base: string, messages: readonly ShownMessage[]): LocalMakerLook {
  const profile = profileById(base)!;
  const views = messages.flatMap(({ bytes, context }) => {
    return replay([bytes], profile, context, null).messages.map(({ reading }) => plainView(reading));
  });
  const { name } = nameOf(base);
  return {
    patches: [],
    refused: 0,
    text: "",
    problems: [],
    device: { name, modality: profile.modality },
    views,
    proposals: [],
  };
}

const DAY_MS = 86_400_000;

async function saved(host: Host, { base, patches, name, seen, device, mark }: MakerSave): Promise<LocalMakerSaved> {
  const { config } = runningAgent(host);
  const form = formOfBase(base);
  let reference = base;
  if (name !== null) {
    if (form === null) throw new PageError(422, `${base} is code: use it as it is`);
    const draft: Draft = { base: form, patches };
    const own = { ...formOf(draft), profile: `${OWN_PREFIX}${name}`, revision: 1 };
    const read = readProfileText(printProfile(own), own.profile);
    if ("problems" in read) {
      return { outcome: "refused", reference: null, problems: read.problems.map(({ message }) => message) };
    }
    const [latest] = ownReferences().filter((each) => each.startsWith(`${own.profile}@`));
    if ((latest ?? null) !== seen)
      return { outcome: "changed", reference: latest ?? "", diff: differenceTo(latest, own) };
    reference = new OwnProfiles(config.data).save(read.form);
  }
  if (device === null) return { outcome: "saved", reference, device, mark: markOf(host.text()) };
  const applied = await host.apply(withProfile(host.text() ?? "", device, reference), mark);
  if (applied.outcome !== "applied") {
    const problems = applied.outcome === "refused" ? applied.problems.map(({ message }) => message) : [applied.reason];
    return { outcome: "refused", reference, problems };
  }
  const now = runningAgent(host).config;
  await reprocessFirst(now, analyzersOf(now), device, Date.now() - DAY_MS);
  return { outcome: "saved", reference, device, mark: markOf(host.text()) };
}

function differenceTo(latest: string | undefined, draft: ProfileForm): string[] {
  const stored = latest === undefined ? null : ownProfile(latest);
  const before = stored !== null && "form" in stored ? printProfile({ ...stored.form, revision: 1 }) : "";
  return lineDiff(before, printProfile(draft));
}
