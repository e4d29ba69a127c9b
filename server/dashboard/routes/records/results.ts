import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DateTime, IANAZone } from "luxon";
import { Type } from "typebox";
import { isFp } from "../../../../shared/api/fp.ts";
import { isRealDate } from "../../../../shared/schema/timestamp.ts";
import { Modality } from "../../../../shared/api/study.ts";
import {
  type DeviceNames,
  type ListedStudy,
  type ResultsPage,
  ROWS_MAX,
  type StudyPage,
} from "../../types/results/results.ts";
import { ApiError } from "../../../http/errors.ts";
import { choice, type Parameter, positiveInteger, readParameters, text } from "../../../http/query-parameters.ts";
import {
  type ListFilter,
  listDeviceNames,
  type ListPage,
  type ListPosition,
  listResults,
  PAGE_ROWS,
} from "../../../records/results/results.ts";
import { loadReportContext } from "../../../records/results/report-context.ts";
import { readStudyPage } from "../../../records/results/study-page.ts";
import { findPatient } from "../../../records/patients/patients.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import type { DashboardContext } from "../../context.ts";
import { csvLine } from "../../csv.ts";
import { attachment, reportFileName } from "../../report/file-name.ts";
import { PdfThread } from "../../report/pdf-thread.ts";
import { studyCsvHeads, studyCsvRows } from "../../report/study-report.ts";

// The list of results, one study, and both as files.

/** Studies that a CSV file reads in one query. */
const CSV_PAGE = 500;

/** The least severity of a study with such a flag. */
const SEVERITIES = { outside: 1, critical: 2 } as const;

const zone: Parameter<string> = {
  schema: Type.String({ description: "IANA time zone of days and printed times." }),
  read: (given, name) => {
    if (given === null) return "UTC";
    if (IANAZone.isValidZone(given)) return given;
    throw invalid(name, "a time zone such as Europe/Istanbul");
  },
};
const filters = {
  patient: text("Fp of a patient."),
  device: text("Name of a device."),
  modality: choice(Modality.enum, "Kind of the study."),
  flag: choice(["critical", "outside"], "Worst flag."),
  follow: choice(["mine", "open"], "Open follow-ups: the user's own, or all."),
  from: day("First day."),
  to: day("Last day."),
  q: text("Start of a name, identifier or sample number."),
  after: position("The `next` of a page."),
  zone,
};
const listed = {
  rows: positiveInteger({ otherwise: PAGE_ROWS, max: ROWS_MAX, description: "Greatest number of rows." }),
};
const reportParameters = { language: choice(["en", "tr"], "Language of the report."), zone };
const csvParameters = { language: choice(["en", "tr"], "Language of the sentences, English by default.") };
const config = { access: "reader" } as const;

export function resultRoutes(app: FastifyInstance, context: DashboardContext): void {
  listRoutes(app, context);
  studyRoutes(app, context);
}

function listRoutes(app: FastifyInstance, { store }: DashboardContext): void {
  app.get(
    "/clinic/v1/clinics/:clinic/results",
    { config: { ...config, parameters: { ...filters, ...listed } } },
    async (request): Promise<ResultsPage> => {
      const { rows } = readParameters(request, listed);
      const { filter, patient } = await readFilter(request, store);
      if (filter === null) return { items: [], next: null, is_search_cut: false, patient: null, left_out: 0 };
      const { items, next, isCut, leftOut } = await listResults(store, filter, rows);
      const after = next === null ? null : `${next.at}.${next.id}`;
      return { items, next: after, is_search_cut: isCut, patient, left_out: leftOut };
    },
  );
  app.get(
    "/clinic/v1/clinics/:clinic/results-devices",
    { config },
    async (request): Promise<DeviceNames> => ({ items: await listDeviceNames(store, clinicOf(request).id) }),
  );
  app.get(
    "/clinic/v1/clinics/:clinic/results.csv",
    { config: { ...config, parameters: filters } },
    async (request, reply) => {
      const { filter } = await readFilter(request, store);
      const content = Readable.from(listLines(store, filter));
      return sendFile(reply, { type: "text/csv; charset=utf-8", name: "results.csv", content });
    },
  );
}

/** Makes the CSV file of a complete list, page by page. */
async function* listLines(store: DashboardContext["store"], filter: ListFilter | null): AsyncGenerator<string> {
  yield csvLine(listHeads);
  let after: ListPosition | null = filter?.after ?? null;
  let damaged = 0;
  for (let isLast = filter === null; !isLast; isLast = after === null) {
    const page: ListPage = await listResults(store, { ...filter!, after }, CSV_PAGE, Infinity);
    yield page.items.map((study) => csvLine(listCells(study))).join("");
    damaged += page.leftOut;
    after = page.next;
  }
  // The last line names the omitted studies, because the file would otherwise look complete.
  if (damaged > 0) yield csvLine([`left out, because the database has damaged them: ${damaged}`]);
}

const listHeads = [
  ...["study_fp", "acquired_at", "received_at", "patient_fp", "patient", "species", "device_name", "modality"],
  ...["sample_ids", "results", "outside", "critical"],
];

function listCells({ patient, outside, ...study }: ListedStudy) {
  const critical = outside.filter(({ flag }) => flag === "critical");
  return [
    ...[study.fp, study.acquired_at, study.received_at, patient?.fp ?? null, patient?.name ?? study.hint_name],
    ...[patient?.species ?? null, study.device_name, study.modality, study.sample_ids.join(" "), study.results],
    ...[study.outside_total, critical.map(({ analyte, text: value }) => `${analyte} ${value}`).join("; ")],
  ];
}

function studyRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  const pdfs = new PdfThread();
  const read = async (request: FastifyRequest): Promise<StudyPage> => {
    const { fp } = request.params as { fp: string };
    const { id, units } = clinicOf(request);
    const found = isFp("cds", fp) ? await readStudyPage(store, id, fp, units) : undefined;
    if (found === undefined) throw new ApiError("RECORD.NOT_FOUND", "This study");
    return found;
  };
  const url = "/clinic/v1/clinics/:clinic/results/:fp";
  app.route({ method: "GET", url, config, handler: read });
  app.get(`${url}/report.pdf`, { config: { ...config, parameters: reportParameters } }, async (request, reply) => {
    const study = await read(request);
    const parameters = readParameters(request, reportParameters);
    const { id: clinicId, language } = clinicOf(request);
    const asked = { language: parameters.language ?? language ?? "en", zone: parameters.zone };
    const context = await loadReportContext(store, { ...asked, clinicId, study, now: now() });
    const content = await pdfs.make({ study, context });
    return sendFile(reply, { type: "application/pdf", name: reportFileName(study, asked), content });
  });
  app.get(`${url}/results.csv`, { config: { ...config, parameters: csvParameters } }, async (request, reply) => {
    const study = await read(request);
    const { language } = readParameters(request, csvParameters);
    const content = [studyCsvHeads, ...studyCsvRows(study, language ?? "en")].map(csvLine).join("");
    return sendFile(reply, { type: "text/csv; charset=utf-8", name: `${study.fp}.csv`, content });
  });
}

function sendFile(
  reply: FastifyReply,
  { type, name, content }: { type: string; name: string; content: string | Buffer | Readable },
): FastifyReply {
  return reply.type(type).header("content-disposition", attachment(name)).send(content);
}

/** Reads the filters of a request. A null filter lists nothing: the clinic may not see the patient. */
async function readFilter(
  request: FastifyRequest,
  store: DashboardContext["store"],
): Promise<{ filter: ListFilter | null; patient: ResultsPage["patient"] }> {
  const given = readParameters(request, filters);
  const { id: clinicId, units } = clinicOf(request);
  const found = given.patient === null ? undefined : await findPatient(store, clinicId, given.patient);
  if (given.patient !== null && found?.connected !== true) return { filter: null, patient: null };
  const start = (date: string | null, days: number) =>
    date === null ? null : DateTime.fromISO(date, { zone: given.zone }).plus({ days }).toMillis();
  const search = given.q?.trim() ?? "";
  const anybody = given.follow === null ? null : "anybody";
  const filter: ListFilter = {
    clinicId,
    patientId: found?.id ?? null,
    device: given.device,
    modality: given.modality,
    severity: given.flag === null ? 0 : SEVERITIES[given.flag],
    followed: given.follow === "mine" ? userOf(request).userId : anybody,
    from: start(given.from, 0),
    to: start(given.to, 1),
    search: search === "" ? null : search.slice(0, 200),
    after: given.after,
    units,
  };
  return { filter, patient: found === undefined ? null : { fp: found.patient.fp, name: found.patient.name } };
}

function day(description: string): Parameter<string | null> {
  return {
    schema: Type.String({ format: "date", description }),
    read: (given, name) => {
      if (given === null || isRealDate(given)) return given;
      throw invalid(name, "a day such as 2026-11-21");
    },
  };
}

function position(description: string): Parameter<ListPosition | null> {
  return {
    schema: Type.String({ description }),
    read: (given, name) => {
      if (given === null) return null;
      const [, at = "", id = ""] = /^(-?\d{1,15})\.(\d{1,15})$/.exec(given) ?? [];
      if (id === "") throw invalid(name, "the next of an earlier page");
      return { at: Number(at), id: Number(id) };
    },
  };
}

function invalid(name: string, rule: string): ApiError {
  return new ApiError("REQUEST.INVALID_PARAMETER", `${name} is invalid, expected ${rule}.`);
}
