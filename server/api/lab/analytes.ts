import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { Modality } from "../../../shared/api/study.ts";
import { analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { ucumOf } from "../../../shared/clinical/analytes/unit-spellings.ts";
import { Nullable } from "../../../shared/schema/schema.ts";
import type { Operation } from "../../http/openapi/document.ts";
import { LONG_PAGE_MAX, pageParameters, positiveInteger, readParameters } from "../../http/query-parameters.ts";
import { EnvelopeOf, LongPageOf, pageOf } from "../context.ts";

// GET /api/v1/lab/analytes: the catalogue. It changes with the version of the server alone.

const Analyte = Type.Object(
  {
    code: Type.String({
      description:
        "Code that results have as `analyte`. With `modality` it names one analyte: `GLU` is one of blood and one of urine.",
    }),
    modality: Modality,
    specimen: Type.String({ description: "What is measured, such as `blood`, `urine` or `feces`." }),
    name: Type.String({ description: "Name in English." }),
    name_tr: Type.String({ description: "Name in Turkish." }),
    value_type: Type.Enum(["numeric", "ordinal", "word"], {
      description:
        "`ordinal`: the rank of a step such as `2+`. `word`: the value is in words, so that `value` is null.",
    }),
    unit: Nullable(
      Type.String({
        description: "Unit of the reference data; null for ranks and words. Results keep the unit of their device.",
      }),
    ),
    ucum: Nullable(Type.String({ description: "That unit in UCUM; null without one." })),
    loinc: Type.Array(Type.String(), {
      description: "LOINC codes of this finding. Several differ by what the unit measures; empty if none is known.",
    }),
    expected_word: Nullable(
      Type.String({
        description: "The word of a normal result, such as `Negative`; null for a number, and for words without one.",
      }),
    ),
  },
  { title: "Analyte", description: "An analyte of the catalogue.", additionalProperties: false },
);
type Analyte = Static<typeof Analyte>;

const AnalytePageEnvelope = EnvelopeOf(LongPageOf(Analyte, "AnalytePage"), "AnalytePageEnvelope");

const catalogue: readonly Analyte[] = analytes.map((analyte) => ({
  code: analyte.api_code,
  modality: analyte.modality,
  specimen: analyte.specimen,
  name: analyte.name,
  name_tr: analyte.name_tr,
  value_type: analyte.value_type,
  unit: analyte.canonical_unit,
  ucum: analyte.canonical_unit === null ? null : ucumOf(analyte.canonical_unit),
  loinc: [...analyte.loinc],
  expected_word: analyte.expected_word ?? null,
}));

const list = {
  operationId: "listAnalytes",
  summary: "List analytes",
  description:
    "An addition to the published specification. All analytes that results may have, by default on one page. They change with a new " +
    "version of the server alone: a client asks once a day with `If-None-Match`. A result of a code that a device has and this " +
    "list lacks has `code_source`.",
  header: "authorization",
  permissions: ["clinic.patient.view", "clinic.lab.view"],
  parameters: {
    page: pageParameters.page,
    page_size: positiveInteger({
      otherwise: LONG_PAGE_MAX,
      max: LONG_PAGE_MAX,
      description: "Greatest number of analytes on a page.",
    }),
  },
  example: {
    success: true,
    data: pageOf(
      { items: catalogue.filter(({ code }) => code === "GLU" || code === "CPV"), total: 3 },
      1,
      LONG_PAGE_MAX,
    ),
  },
} satisfies Operation;

export function analyteRoutes(app: FastifyInstance): void {
  app.get("/api/v1/lab/analytes", { schema: { response: { 200: AnalytePageEnvelope } }, config: list }, (request) => {
    const { page, page_size: size } = readParameters(request, list.parameters);
    const items = catalogue.slice((page - 1) * size, page * size);
    return { success: true, data: pageOf({ items, total: catalogue.length }, page, size) };
  });
}
