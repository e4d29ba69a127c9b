import type { FastifyInstance } from "fastify";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import type { LocalFixture, LocalMessage, LocalMessages, LocalReprocessing } from "../types/messages.ts";
import type { RunningAgent } from "../../agent.ts";
import { analyzersOf } from "../../analyzers.ts";
import type { Host } from "../../host.ts";
import { imagingOf } from "../../imaging-devices.ts";
import { readSpool, searchSpool } from "../../spool/access.ts";
import { pageOfMessages } from "../../spool/queries/messages/message-summaries.ts";
import { documentOf } from "../../spool/queries/studies/document-list.ts";
import { capture } from "../../tools/capture/capture.ts";
import { messageDetail } from "../../tools/offline/message-detail.ts";
import { reassess, type ReassessedMessage, store } from "../../tools/offline/reprocess.ts";
import { PageError } from "./page-error.ts";
import { runningAgent } from "./running-agent.ts";

const PAGE_ROWS = 50;

/** Adds the list of messages, a message with what became of it, its recording, and its reprocessing. */
export function messageRoutes(app: FastifyInstance, host: Host): void {
  app.get<{ Querystring: Record<string, unknown> }>("/local/v1/messages", ({ query }): LocalMessages => {
    const { config } = runningAgent(host);
    const [state, device, before] = ["state", "device", "before"].map((name) => textOf(query[name]));
    const row = before == null ? null : Number(before);
    if (row !== null && !Number.isSafeInteger(row)) throw new PageError(400, "before is not the number of a row");
    const wanted = { state: state ?? null, device: device ?? null };
    const page = readSpool(config.data, (db) => pageOfMessages(db, wanted, row, PAGE_ROWS));
    return { ...page, devices: config.devices.map(({ id }) => id) };
  });

  app.get<Named>("/local/v1/messages/:id", async ({ params: { id } }): Promise<LocalMessage> => {
    const { config } = runningAgent(host);
    const analyzers = analyzersOf(config);
    const found = await searchSpool(config.data, (db) => messageDetail(db, id, (device) => analyzers.get(device)));
    if (found === null) throw new PageError(404, "the agent has no such message: it removes old ones");
    return found;
  });

  app.get<Named>(
    "/local/v1/messages/:id/fixture",
    ({ params: { id } }): LocalFixture => fixtureOf(runningAgent(host), id),
  );

  reprocessingRoutes(app, host);
}

interface Named {
  Params: { id: string };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function fixtureOf({ config }: RunningAgent, id: string): LocalFixture {
  const analyzers = analyzersOf(config);
  const document = readSpool(config.data, (db) => documentOf(db, id));
  if (document !== null) {
    return { file_name: document.name, base64: Buffer.from(document.bytes).toString("base64"), notes: [] };
  }
  try {
    const { bytes, notes } = readSpool(config.data, (db) =>
      capture(db, config.data, id, (device) => analyzers.get(device), false),
    );
    return { file_name: `message-${id.slice(-8)}.bin`, base64: Buffer.from(bytes).toString("base64"), notes };
  } catch (error) {
    // The sentences of capture() explain why a message has no recording.
    throw new PageError(409, errorMessage(error));
  }
}

/** A user sees the difference before it is stored. The agent stores only the difference that the user saw. */
function reprocessingRoutes(app: FastifyInstance, host: Host): void {
  let isBusy = false;
  const alone = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isBusy) throw new PageError(409, "the agent processes another message again: try it in a moment");
    isBusy = true;
    try {
      return await work();
    } finally {
      isBusy = false;
    }
  };

  app.get<Named>(
    "/local/v1/messages/:id/reprocessing",
    ({ params: { id } }): Promise<LocalReprocessing> =>
      alone(async () => ({ diff: diffOf(await reassessed(runningAgent(host), id)) })),
  );

  app.post<Named & { Body: LocalReprocessing }>(
    "/local/v1/messages/:id/reprocessing",
    {
      schema: {
        body: {
          type: "object",
          required: ["diff"],
          properties: { diff: { type: "array", items: { type: "string" } } },
        },
      },
    },
    ({ params: { id }, body: { diff: seen } }): Promise<LocalReprocessing> =>
      alone(async () => {
        const agent = runningAgent(host);
        const done = await reassessed(agent, id);
        const diff = diffOf(done);
        const isSeen = diff.join("\n") === seen.join("\n");
        if (!isSeen || store(agent.config.data, done).overtaken > 0) {
          throw new PageError(409, "the message changed meanwhile: look at the difference again");
        }
        return { diff };
      }),
  );
}

/** Processes one message again, with the other messages of its studies. An image represents its complete study. */
function reassessed({ config }: RunningAgent, id: string): Promise<ReassessedMessage[]> {
  const devices = { analyzers: analyzersOf(config), imaging: imagingOf(config) };
  const wanted = { states: ["filed", "quarantined", "unmatched", "not-for-patients"] as const, since: 0, message: id };
  return reassess(config.data, wanted, devices, config.matchPatientsByName ?? false, () => undefined);
}

function diffOf(done: readonly ReassessedMessage[]): string[] {
  return [...new Set(done.flatMap(({ diff }) => diff))];
}
