import type { FastifyInstance } from "fastify";
import type { TSchema } from "typebox";
import { analyzersOf } from "../../../analyzers.ts";
import { markOf } from "../../../config/config-file.ts";
import { ownReferences, profileById, profiles } from "../../../devices/index.ts";
import type { AnyProfileForm } from "../../../devices/table/file.ts";
import type { Host } from "../../../host.ts";
import { formOf } from "../../../maker/draft.ts";
import { compiled, look, type ShownMessage } from "../../../maker/look/look.ts";
import { codeTree } from "../../../maker/files/tree.ts";
import { plainView } from "../../../maker/rows.ts";
import type { RunningAgent } from "../../../agent.ts";
import { nameOf } from "../../../setup/candidates.ts";
import { readSpool } from "../../../spool/access.ts";
import { operationsOn } from "../../../spool/queries/operations.ts";
import { formOfBase } from "./base.ts";
import { checkDraft } from "./check.ts";
import { opened, openedFiles, withText } from "./open.ts";
import { saved } from "./save.ts";
import { makerDevices, sourceBytes, sourceFiles } from "./sources.ts";
import { read } from "../../../study/read.ts";
import { replay } from "../../../tools/offline/replay.ts";
import {
  type LocalMakerCheck,
  type LocalMakerLook,
  type LocalMakerOpened,
  type LocalMakerStart,
  MakerCheck,
  MakerLook,
  MakerSave,
  MakerSource,
} from "../../types/maker.ts";
import { PageError } from "../page-error.ts";
import { runningAgent } from "../running-agent.ts";
import { compileLater } from "../../../../shared/schema/compile-later.ts";

/** Adds the maker of profiles. The page keeps the draft; the routes read messages with it, and store it. */
export function makerRoutes(app: FastifyInstance, host: Host): void {
  app.get("/local/v1/maker", (): LocalMakerStart => {
    const { config } = runningAgent(host);
    const readers = profiles.filter((profile) => profile.protocol !== "file" || profile.content === "results");
    const bases = [...readers.map(({ id }) => id), ...ownReferences()];
    return {
      devices: makerDevices(config),
      bases: bases.map((id) => ({ ...nameOf(id), protocol: profileById(id)?.protocol ?? "" })),
      own: ownReferences(),
      mark: markOf(host.text()),
    };
  });

  app.post("/local/v1/maker/open", ({ body }): Promise<LocalMakerOpened> => {
    const source = checked(MakerSource, body);
    const { config } = runningAgent(host);
    const files = sourceFiles(config, source);
    return files === null ? opened(sourceBytes(config, source)) : openedFiles(files);
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
      return look<AnyProfileForm>({ base: form, patches }, shown, clicks, { known });
    });
    const { device } = formOf(draft);
    return {
      ...found,
      patches: [...draft.patches],
      isFixed: false,
      trees: found.trees?.map(withText) ?? null,
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
  const validator = compileLater(schema);
  if (!validator.Check(body)) throw new PageError(400, "the request is not complete: load the page again");
  return body;
}

/** Device id and time in the reading of a draft; nothing is stored by them. */
function contextOf({ config }: RunningAgent) {
  return { device: "maker", timeZone: config.timeZone, receivedAt: Date.now() };
}

/** A profile that is code reads the bytes as they came over the line. What was stored has no frame, and is the message. */
function lookAtCode(base: string, messages: readonly ShownMessage[]): LocalMakerLook {
  const profile = profileById(base)!;
  const views = messages.flatMap(({ bytes, context }) => {
    const found = replay([bytes], profile, context, null).messages.map(({ reading }) => reading);
    return (found.length > 0 ? found : [read(bytes, profile, context)]).map((reading) => plainView(reading));
  });
  const trees = messages.map(({ bytes }) => withText(codeTree(bytes, profile)));
  const { name } = nameOf(base);
  return {
    ...{ patches: [], refused: 0, text: "", problems: [], proposals: [], open: [] },
    ...{ views, isFixed: true, trees: trees.some((tree) => tree !== null) ? trees : null },
    device: { name, modality: profile.modality },
  };
}
