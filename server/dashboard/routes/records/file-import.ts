import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { timestampOrNull } from "../../../../shared/runtime/timestamp.ts";
import {
  type FileChoices,
  type ImportState,
  type LastImport,
  MEANINGS,
  type UndoAnswer,
  WEIGHT_UNITS,
} from "../../types/file-import.ts";
import { faultWords, fieldWord } from "../../types/file-faults.ts";
import type { Session } from "../../../database/query.ts";
import type { Store } from "../../../database/store.ts";
import { ApiError } from "../../../http/errors.ts";
import { choice, readParameters, text } from "../../../http/query-parameters.ts";
import {
  beginPhase,
  deleteImport,
  endPhase,
  type FileImport,
  findImport,
  folderImports,
  keepReading,
  KEPT_MS,
  lastImport,
  partsOf,
  refusalsOf,
  replaceImport,
} from "../../../import/jobs/file-imports.ts";
import { isBusy } from "../../../import/jobs/import-runner.ts";
import { fromParts, shownName, toParts } from "../../../import/jobs/stored-file.ts";
import { SEPARATORS } from "../../../../shared/files/table/csv-records.ts";
import { DATE_ORDERS } from "../../../import/table/dates.ts";
import { ENCODINGS } from "../../../../shared/files/table/encoding.ts";
import { FILE_BYTES_MAX } from "../../../import/table/read-table.ts";
import { openFile } from "../../../import/table/read-thread.ts";
import { undoBatch } from "../../../records/registry/undo.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { csvLine } from "../../csv.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// The import of animals, owners and stock from a file: staff uploads it, corrects what was decided, previews and imports it. A clinic
// has one file of its users at a time, and those that agents bring from watched folders.

const URL = "/clinic/v1/clinics/:clinic/imports";

const refusedParameters = { language: choice(["en", "tr"], "Language of the reasons.") };

const fileParameters = { name: text("Name of the file, for people.") };

const choicesBody = bodyReader({
  encoding: Type.Optional(Type.Enum([...ENCODINGS])),
  separator: Type.Optional(Type.Enum([...SEPARATORS])),
  date_order: Type.Optional(Type.Enum([...DATE_ORDERS])),
  weight_unit: Type.Optional(Type.Enum([...WEIGHT_UNITS])),
  columns: Type.Optional(Type.Array(Type.Union([Type.Enum([...MEANINGS]), Type.Null()]), { maxItems: 200 })),
});
const noBody = bodyReader({});

export function fileImportRoutes(app: FastifyInstance, context: DashboardContext): void {
  const { store, now, imports } = context;
  app.register(async (files) => {
    files.addContentTypeParser(
      "application/octet-stream",
      { parseAs: "buffer", bodyLimit: FILE_BYTES_MAX },
      async (_request: FastifyRequest, body: Buffer) => body,
    );
    files.post(
      URL,
      {
        bodyLimit: FILE_BYTES_MAX,
        config: { access: "staff", parameters: fileParameters, repeats: "it replaces the file that is not imported" },
      },
      (request) => upload(request, context),
    );
  });
  app.get(URL, { config: { access: "staff" } }, async (request): Promise<LastImport> => {
    const found = await lastImport(store, clinicOf(request).id);
    const folder = await folderImports(store, clinicOf(request).id);
    return {
      last: found === undefined ? null : stateOf(found, now()),
      folder: folder.map((each) => stateOf(each, now())),
    };
  });
  app.put(
    `${URL}/:id/choices`,
    { config: { access: "staff", repeats: "equal choices read the file alike" } },
    async (request) => {
      const found = await idle(store, request);
      await read(store, { ...found, userId: userOf(request).userId }, choicesBody(request.body), now());
      return answer(store, request, now());
    },
  );
  for (const [step, phase] of [
    ["preview", "previewing"],
    ["start", "running"],
  ] as const) {
    app.post(`${URL}/:id/${step}`, { config: { access: "staff" } }, async (request) => {
      noBody(request.body);
      const found = await idle(store, request);
      if (found.reading === null || found.reading.questions.length > 0) refuse(refusal("IMPORT.QUESTION"));
      if (phase === "running" && found.phase !== "previewed") refuse(refusal("IMPORT.NO_PREVIEW"));
      await store.transaction((session) => beginPhase(session, found.id, phase, now()));
      // After the response, when the transaction of the request has ended.
      setImmediate(() => void imports.check());
      return answer(store, request, now());
    });
  }
  endRoutes(app, context);
}

/** How an import ends: discarded, undone, and its refused lines. */
function endRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.delete(`${URL}/:id`, { config: { access: "staff" } }, async (request): Promise<{ last: null }> => {
    const found = await named(store, request);
    if (found.phase === "running") refuse(refusal("IMPORT.RUNS"));
    await store.transaction((session) => deleteImport(session, found.id));
    return { last: null };
  });
  app.post(`${URL}/:id/undo`, { config: { access: "staff" } }, async (request): Promise<UndoAnswer> => {
    noBody(request.body);
    const { batch, clinicId, id } = await idle(store, request, "done");
    if (batch === null) refuse(refusal("IMPORT.NOTHING"));
    return store.transaction(async (session) => {
      const undo = { now: now(), clock: now, served: null };
      const outcome = await undoBatch(session, { clinicId, fp: batch.fp }, undo);
      if (outcome.undone) await endPhase(session, id, "undone", now(), false);
      const state = await answer(session, request, now());
      return { state, refusal: outcome.undone ? null : { code: outcome.code, total: outcome.total } };
    });
  });
  const ofRefused = { config: { access: "staff", parameters: refusedParameters } } as const;
  app.get(`${URL}/:id/refused`, ofRefused, async (request, reply) => {
    const { language } = readParameters(request, refusedParameters);
    const found = await named(store, request);
    reply.headers({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="refused.csv"',
    });
    return refusedFile(store, found, language ?? "en");
  });
}

async function upload(request: FastifyRequest, { store, now }: DashboardContext): Promise<ImportState> {
  const { name } = readParameters(request, fileParameters);
  if (!Buffer.isBuffer(request.body)) throw new ApiError("REQUEST.INVALID_BODY", "The body is not a file.");
  const clinicId = clinicOf(request).id;
  const parts = await toParts(request.body);
  const publicId = await store.transaction(async (session) => {
    const before = await lastImport(session, clinicId);
    if (before !== undefined && isBusy(before.phase)) refuse(refusal("IMPORT.OTHER_RUNS"));
    const by = { userId: userOf(request).userId, keyId: null };
    return replaceImport(session, { clinicId, ...by, fileName: shownName(name ?? ""), parts, now: now() });
  });
  await read(store, await findNamed(store, clinicId, publicId), {}, now());
  return stateOf(await findNamed(store, clinicId, publicId), now());
}

async function findNamed(session: Session, clinicId: number, publicId: string): Promise<FileImport> {
  const found = await findImport(session, { clinicId, publicId });
  if (found === undefined) throw new ApiError("RECORD.NOT_FOUND", "This file");
  return found;
}

/** Reads a file with the choices, and keeps what was decided. */
async function read(
  store: Store,
  { id, clinicId, userId }: Pick<FileImport, "id" | "clinicId" | "userId">,
  choices: FileChoices,
  now: number,
): Promise<void> {
  const file = await openFile(await fromParts(await partsOf(store, id)), { clinicId, choices, now });
  const [reading, fault] = "fault" in file ? [null, file.fault] : [file.reading, null];
  if (!("fault" in file)) await file.close();
  await store.transaction((session) => keepReading(session, id, { choices, reading, fault, userId }));
}

/** Finds the import that the path names. */
async function named(session: Session, request: FastifyRequest): Promise<FileImport> {
  const { id } = request.params as { id: string };
  return findNamed(session, clinicOf(request).id, id);
}

/** An import that no server works on, and that is not over unless `phase` is asked for. */
async function idle(session: Session, request: FastifyRequest, phase?: "done"): Promise<FileImport> {
  const found = await named(session, request);
  if (isBusy(found.phase)) refuse(refusal("IMPORT.RUNS"));
  const isOver = !["read", "previewed"].includes(found.phase);
  if (phase === undefined ? isOver : !["done", "failed"].includes(found.phase)) refuse(refusal("IMPORT.OVER"));
  return found;
}

async function answer(session: Session, request: FastifyRequest, now: number): Promise<ImportState> {
  return stateOf(await named(session, request), now);
}

function stateOf(found: FileImport, now: number): ImportState {
  const { finishedAt, startedAt, phase, batch } = found;
  const until = (finishedAt ?? 0) + KEPT_MS;
  const canUndo = (phase === "done" || phase === "failed") && batch !== null && until > now;
  return {
    id: found.publicId,
    file_name: found.fileName,
    phase,
    by: found.by,
    started_at: new Date(startedAt).toISOString(),
    finished_at: timestampOrNull(finishedAt),
    reading: found.reading,
    fault: found.fault,
    choices: found.choices,
    done: found.done,
    result: found.result,
    undo_until: canUndo ? new Date(until).toISOString() : null,
  };
}

/** The refused lines as the file has them, with the reasons, to be corrected and imported again. */
async function refusedFile(store: Store, found: FileImport, language: "en" | "tr"): Promise<string> {
  const file = await openFile(await fromParts(await partsOf(store, found.id)), { ...found, now: found.startedAt });
  if ("fault" in file) return "";
  try {
    const headers = file.reading.columns.map(({ header }) => header);
    const added =
      language === "en" ? ["Line", "Why it stays out", "What to do"] : ["Satır", "Neden alınmadı", "Ne yapmalı"];
    let lines = csvLine([...headers, ...added]);
    let after = -1;
    for (;;) {
      const refused = await refusalsOf(store, found.id, after);
      for (const { position, line, faults } of refused) {
        const [record] = await file.records(position, position + 1);
        const cells = headers.map((_, index) => record?.cells[index] ?? "");
        const words = faults.map((fault) => {
          const { what, remedy } = faultWords(fault, language);
          return { what: `${fieldWord(fault.field, language)} ${what}`.trim(), remedy };
        });
        lines += csvLine([
          ...cells,
          String(line),
          words.map(({ what }) => what).join("; "),
          [...new Set(words.map(({ remedy }) => remedy))].join(" "),
        ]);
      }
      const end = refused.at(-1);
      if (end === undefined) return `\ufeff${lines}`;
      after = end.position;
    }
  } finally {
    await file.close();
  }
}
