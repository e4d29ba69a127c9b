import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import {
  REGISTRY_CHANGES_MAX,
  REGISTRY_FILE_BYTES_MAX,
  RegistryKey,
  RegistryOutcome,
} from "../../../shared/api/agent/registry.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { problems } from "../../../shared/schema/problems.ts";
import { faultWords, fieldWord } from "../../dashboard/types/file-faults.ts";
import type { FileQuestion } from "../../dashboard/types/file-import.ts";
import { ApiError } from "../../http/errors.ts";
import { readParameters, text } from "../../http/query-parameters.ts";
import { keyOf } from "../../http/request-context.ts";
import { takeFolderFile, type TakenFile } from "../../import/jobs/folder-file.ts";
import { sourcePattern } from "../../records/registry/sync/messages.ts";
import { storeChanges } from "../../records/registry/sync/changes.ts";
import type { RouteContext } from "../context.ts";
import { FAULTS_MAX, faultList } from "./pushed-study.ts";

// Animals, owners, merges and orders of practice software, which agents bring: POST /agent/v1/registry, and /agent/v1/registry/file for
// the files of a watched folder.

/** The parts around the changes, which are checked one by one. */
const body = compileLater(
  Type.Object({
    source: Type.String({ pattern: sourcePattern }),
    changes: Type.Array(Type.Object({ id: Type.Integer({ minimum: 0 }), key: RegistryKey }), {
      maxItems: REGISTRY_CHANGES_MAX,
    }),
  }),
);

interface Body {
  readonly source: string;
  readonly changes: readonly { readonly id: number; readonly key: string; readonly kind?: unknown }[];
}

const Outcomes = Type.Object({ outcomes: Type.Array(RegistryOutcome) });
const access = {
  header: "x-api-key",
  permissions: ["clinic.lab.ingest"],
  budget: "ingest",
  isOfPractice: true,
} as const;

/** One outcome for each change, in order. A change whose key came before is not stored again, and its outcome is the same. */
export function registryRoute(app: FastifyInstance, { store, now }: Pick<RouteContext, "store" | "now">): void {
  app.post("/agent/v1/registry", { config: access, schema: { response: { 200: Outcomes } } }, async (request) => {
    if (!body.Check(request.body)) {
      throw new ApiError("REQUEST.INVALID_BODY", `${faultList(problems(body, request.body, FAULTS_MAX))}.`);
    }
    const { source, changes } = request.body as Body;
    const { id: keyId, clinic_id: clinicId } = keyOf(request);
    const at = now();
    const by = { requestId: request.id, keyId, address: request.ip };
    const asked = { clinicId, source, items: changes, now: at, clock: () => at, by };
    return { outcomes: await store.transaction((session) => storeChanges(session, asked), { repeatable: true }) };
  });
}

const fileParameters = { name: text("Name of the file, without its folder.") };

/**
 * A file of animals, owners or stock from a folder that an agent watches. It is imported as at the dashboard, but without a person.
 * Register it in a scope of its own: its bodies are files, not JSON.
 */
export function registryFileRoute(app: FastifyInstance, { store, now }: Pick<RouteContext, "store" | "now">): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/octet-stream",
    { parseAs: "buffer", bodyLimit: REGISTRY_FILE_BYTES_MAX },
    async (_request: FastifyRequest, file: Buffer) => file,
  );
  app.post(
    "/agent/v1/registry/file",
    {
      bodyLimit: REGISTRY_FILE_BYTES_MAX,
      config: { ...access, parameters: fileParameters },
      schema: { response: { 200: Outcomes } },
    },
    async (request) => {
      const { name } = readParameters(request, fileParameters);
      if (!Buffer.isBuffer(request.body) || name === null) {
        throw new ApiError("REQUEST.INVALID_BODY", "The body is not a file with a name.");
      }
      const { id: keyId, clinic_id: clinicId } = keyOf(request);
      const taken = await takeFolderFile(store, { clinicId, keyId, name, bytes: request.body, now: now() });
      return { outcomes: [outcomeOf(taken)] };
    },
  );
}

const WAITS = "The file waits at the dashboard, Patients, Import a list.";

const QUESTIONS: Readonly<Record<FileQuestion, string>> = {
  columns: "No column is known for {missing}: choose it there.",
  date_order: "3/4/2020 has two meanings, and no date of the file decides: choose the order there.",
  weight_unit: "The weights have no unit: choose it there.",
};

function outcomeOf(taken: TakenFile): Static<typeof RegistryOutcome> {
  const none = { id: 0, fp: null };
  switch (taken.is) {
    case "imported":
      return { ...none, outcome: "created", code: null, reason: null };
    case "known":
      return { ...none, outcome: "unchanged", code: "REGISTRY.FILE_KNOWN", reason: "this file came before" };
    case "fault": {
      const { what, remedy } = faultWords(taken.fault, "en");
      const place = taken.fault.line === null ? "" : `line ${taken.fault.line}: `;
      return { ...none, outcome: "rejected", code: "REGISTRY.FILE_FAULT", reason: `${place}${what}. ${remedy}` };
    }
    case "question": {
      const missing = taken.missing.map((name) => fieldWord(name, "en")).join(", ");
      const asked = taken.questions.map((question) => QUESTIONS[question].replace("{missing}", missing));
      return { ...none, outcome: "rejected", code: "REGISTRY.FILE_QUESTION", reason: [WAITS, ...asked].join(" ") };
    }
  }
}
