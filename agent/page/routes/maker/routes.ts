import type { FastifyInstance } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { analyzersOf } from "../../../analyzers.ts";
import { markOf } from "../../../config/config-file.ts";
import { ownReferences, profileById, profiles } from "../../../devices/index.ts";
import { shippedForm } from "../../../devices/table/load.ts";
import type { Host } from "../../../host.ts";
import { formOf } from "../../../maker/draft.ts";
import { compiled, look, type ShownMessage } from "../../../maker/look.ts";
import { openBytes } from "../../../maker/open.ts";
import { plainView } from "../../../maker/rows.ts";
import { messageTree } from "../../../maker/tree.ts";
import type { RunningAgent } from "../../../agent.ts";
import { nameOf } from "../../../setup/candidates.ts";
import { readSpool } from "../../../spool/access.ts";
import { operationsOn } from "../../../spool/queries/operations.ts";
import { formOfBase } from "./base.ts";
import { checkDraft } from "./check.ts";
import { saved } from "./save.ts";
import { makerDevices, sourceBytes } from "./sources.ts";
import { rankSuggested } from "../../../tools/offline/rank-profiles.ts";
import { replay } from "../../../tools/offline/replay.ts";
import {
  type LocalMakerCheck,
  type LocalMakerLook,
  type LocalMakerOpened,
  type LocalMakerStart,
  MakerCheck,
  MakerLook,
  type MakerNode,
  MakerSave,
  MakerSource,
} from "../../types/maker.ts";
import { PageError } from "../page-error.ts";
import { runningAgent } from "../running-agent.ts";

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
    const { draft, ...found } = readSpool(agent.config.data, (db) => {
      const operations = operationsOn(db);
      const known = (text: string) => {
        const { patients } = operations.resolveReferences({ accessions: [], fps: [], identifiers: [text] });
        return patients.length > 0 ? ("identifier" as const) : null;
      };
      return look({ base: form, patches }, shown, clicks, { known });
    });
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

function opened(bytes: Uint8Array): LocalMakerOpened {
  const { protocol, found: heard, messages } = openBytes(bytes, (of) => profileById(`generic-${of}`));
  const found = heard && { name: heard.suggestion.protocol, reasons: heard.suggestion.reasons };
  const named = heard === null ? [] : rankSuggested(heard.suggestion, heard.bytes).map(({ profile }) => profile);
  if (protocol === null) {
    const bases = named.filter((id) => profileById(id) !== undefined);
    return { protocol, found, bases, messages: [{ base64: base64Of(bytes), tree: null }] };
  }
  const likely = named.filter((id) => profileById(id)?.protocol === protocol && shippedForm(id) !== null);
  const bases = [...new Set([...likely, `generic-${protocol}`])];
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
