import type { FileProfileForm } from "../../devices/table/file.ts";
import type { MakerNode } from "../../page/types/maker.ts";
import { rolesAt } from "../../page/types/maker-roles.ts";
import type { Patch } from "../draft.ts";
import { type Click, escaped } from "../roles.ts";
import { fillerPattern, resultPattern, samplePattern } from "./line-patterns.ts";
import { HEADER_LINES, headerOfCells } from "./open-file.ts";

// The patch of a click on a file: a column, a named group or a path of XML gets a meaning.

export interface FileClick extends Click {
  /** Format of the time, which a person chose of those that fit. */
  readonly format?: string | undefined;
}

/** @returns null if a profile of files cannot say so */
export function filePatch(form: FileProfileForm, click: FileClick, tree: MakerNode): Patch | null {
  const { role, place, record, format, words, species } = click;
  const isRecord = place === record.place && !record.children.some((child) => child.place === place);
  const kind = isRecord ? "record" : "element";
  if (role !== "tests" && !rolesAt("file", { place, kind }).includes(role)) return null;
  const text = (click.text ?? "").trim();
  switch (role) {
    case "identifier":
    case "name":
    case "owner":
    case "sex":
    case "born":
      return { patient: { [role]: place }, ...noTest(form, place) };
    case "species":
      return { patient: { species: speciesAt(form, place, text, species) }, ...noTest(form, place) };
    case "sample":
      return { sample: { number: place }, ...noTest(form, place) };
    case "time":
      return format === undefined ? null : { sample: { time: { at: place, format } }, ...noTest(form, place) };
    case "code":
      return { results: perRow(form, { names: [place, ...rowNames(form).filter((each) => each !== place)] }) };
    case "value":
    case "unit":
    case "range":
    case "flag":
      return { results: perRow(form, { [role]: place }) };
    case "tests":
      return testsFrom(form, place, tree);
    case "doubt":
      return text === "" ? null : { doubts: { flags: { [text]: words ?? "the device doubts the value ({mark})" } } };
    case "control":
    case "no-value":
    case "remark":
      return rowRule(form, role, place, text, record, words);
    case "header":
      return "header" in form.file ? { file: { header: headerOf(record) } } : null;
    case "records":
      return form.file.kind === "xml" && text !== "" ? { file: { records: text } } : null;
    case "line-result":
    case "line-sample":
    case "line-filler":
      return lineRule(form, role, text);
    case "nothing":
      return clearing(form, place);
    default:
      return null;
  }
}

function headerOf({ children }: MakerNode): Patch {
  return headerOfCells(
    children.map(({ text }) => text),
    HEADER_LINES,
  );
}

/** A column that means something else is not a test. */
function noTest({ results }: FileProfileForm, place: string): Patch {
  if (results.per === "row") return {};
  return { results: { except: [...new Set([...(results.except ?? []), place])] } };
}

/** Returns the places that a source reads: columns, named groups or paths. */
export function sourcePlaces(source: unknown): string[] {
  if (typeof source === "string") return [source];
  if (Array.isArray(source)) return source.flatMap(sourcePlaces);
  if (typeof source !== "object" || source === null) return [];
  // The time and the two ends of an interval are objects of sources.
  return ["at", "low", "high"].flatMap((key) =>
    key in source ? sourcePlaces((source as Record<string, unknown>)[key]) : [],
  );
}

function speciesAt(form: FileProfileForm, place: string, text: string, species: string | undefined): unknown {
  if (species === undefined || text === "") return place;
  const before = [form.patient?.species ?? []].flat().find((each) => typeof each === "object" && each.at === place);
  return [{ at: place, map: { ...(typeof before === "object" ? before.map : {}), [text]: species } }, place];
}

type Results = FileProfileForm["results"];
type PerRow = Extract<Results, { per: "row" }>;

function rowNames({ results }: FileProfileForm): PerRow["names"] {
  return results.per === "row" ? (results.names ?? []) : [];
}

/** A file has one result a row, or one a column: what belongs to the other goes. */
function perRow({ results }: FileProfileForm, stated: Patch): Patch {
  return results.per === "row" ? stated : { per: "row", from: null, except: null, unit: null, ...stated };
}

/** Each column from here on is a test. A column with another meaning is not. */
function testsFrom(form: FileProfileForm, place: string, tree: MakerNode): Patch | null {
  const header = tree.children.find((record) => record.place === "header");
  const at = header?.children.findIndex((column) => column.place === place) ?? -1;
  if (header === undefined || at < 0) return null;
  const used = new Set(
    [form.patient, form.sample].flatMap((section) => Object.values(section ?? {}).flatMap(sourcePlaces)),
  );
  const except = header.children
    .slice(at)
    .map((column) => column.place)
    .filter((each) => used.has(each));
  const isUnitNext = header.children[at + 1]?.text === "";
  const none = { names: null, value: null, unit: null, flag: null, range: null };
  return {
    results: {
      ...none,
      per: "column",
      from: place,
      ...(except.length === 0 ? {} : { except }),
      ...(isUnitNext ? { unit: "next" } : {}),
    },
  };
}

/** A row with this text is not a result; a whole row by its code. */
function rowRule(
  form: FileProfileForm,
  role: "control" | "no-value" | "remark",
  place: string,
  text: string,
  record: MakerNode,
  words: string | undefined,
): Patch | null {
  const isRow = role === "remark";
  const [code] = sourcePlaces(rowNames(form)[0]);
  const at = isRow ? code : place;
  const found = isRow ? (record.children.find((child) => child.place === code)?.text ?? "") : text;
  if (at === undefined || found === "") return null;
  const rule = {
    as: role === "no-value" ? ("no-result" as const) : role,
    when: { [at]: `^${escaped(found)}$` },
    ...(role === "no-value" ? { reason: words ?? `${at} is ${found}`.slice(0, 200) } : {}),
  };
  return { rows: [rule, ...(form.rows ?? [])] };
}

/** A line of the sample is looked for before one of results, which may look alike; one that means nothing first of all. */
function lineRule(
  { file }: FileProfileForm,
  role: "line-result" | "line-sample" | "line-filler",
  text: string,
): Patch | null {
  if (file.kind !== "txt" || text === "") return null;
  const lines = file.lines ?? [];
  const of = (as: string) => lines.filter((line) => line.as === as);
  const taken = lines.flatMap(({ pattern }) => [...pattern.matchAll(/\(\?<(\w+)>/g)].map(([, name = ""]) => name));
  const [fillers, samples, results] = [of("filler"), of("sample"), of("result")];
  if (role === "line-filler") fillers.push({ as: "filler", pattern: fillerPattern(text) });
  if (role === "line-sample") samples.push({ as: "sample", pattern: samplePattern(text, taken) });
  if (role === "line-result") results.push({ as: "result", pattern: resultPattern(text) });
  const all = [...fillers, ...samples, ...results];
  return all.some(({ pattern }) => pattern.length > 500) ? null : { file: { lines: all } };
}

/** Takes from the form what a click gave to the place. */
function clearing(form: FileProfileForm, place: string): Patch | null {
  const patch: Record<string, unknown> = {};
  const reads = (source: unknown) => sourcePlaces(source).includes(place);
  const patient = Object.entries(form.patient ?? {}).filter(([, source]) => reads(source));
  if (patient.length > 0) patch["patient"] = Object.fromEntries(patient.map(([key]) => [key, null]));
  const sample: Record<string, null> = {};
  if (reads(form.sample.number)) sample["number"] = null;
  if (reads(form.sample.time?.at)) sample["time"] = null;
  if (Object.keys(sample).length > 0) patch["sample"] = sample;
  const { results } = form;
  if (results.per === "column") patch["results"] = { except: [...new Set([...(results.except ?? []), place])] };
  else {
    const own = Object.entries(results).filter(([key, source]) => key !== "per" && reads(source));
    const names = rowNames(form).filter((each) => !reads(each));
    if (own.length > 0)
      patch["results"] = Object.fromEntries(
        own.map(([key]) => [key, key === "names" && names.length > 0 ? names : null]),
      );
  }
  const rows = form.rows ?? [];
  const left = rows.filter(({ when }) => when === undefined || Array.isArray(when) || !Object.hasOwn(when, place));
  if (left.length < rows.length) patch["rows"] = left;
  return Object.keys(patch).length === 0 ? null : patch;
}
