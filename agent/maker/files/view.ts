import type { Measurement } from "../../../shared/clinical/results.ts";
import type { Profile } from "../../devices/profile.ts";
import type { AnyProfileForm } from "../../devices/table/file.ts";
import type { MakerNode, MessageView, RoleNode } from "../../page/types/maker.ts";
import { columnName } from "../../protocols/file/layouts/records.ts";
import type { ReadContext } from "../../report/report.ts";
import { read } from "../../study/read.ts";
import { measured, plainView } from "../rows.ts";
import { nodesOf } from "../tree.ts";
import { sourcePlaces } from "./file-roles.ts";

// The parts that a draft reads in a file or a text, with the nodes that its places are.

/** Reads a message by the draft's profile. */
export function fileView(
  bytes: Uint8Array,
  tree: MakerNode,
  { form, profile, context }: { form: AnyProfileForm; profile: Profile; context: ReadContext },
): MessageView {
  const reading = read(bytes, profile, context);
  const plain = plainView(reading);
  const found = measured(reading);
  const recordOf = recordFinder(tree, form);
  const rows = plain.rows.map((row, index) => {
    const of = found[index];
    return of === undefined ? row : { ...row, code: of.device_code ?? "", record: recordOf(of) };
  });
  return { ...plain, rows, nodes: roleNodes(tree, form) };
}

/** Finds the record of a row by the texts of its name and value. Each record is one row's. */
function recordFinder(tree: MakerNode, form: AnyProfileForm): (row: Measurement) => number | null {
  if ("per" in (form.results ?? {}) && (form.results as { per: string }).per === "column") return () => null;
  const { names, value } = rowPlaces(form);
  const records = tree.children.map((record) =>
    record.place === "row" || record.place === "result" ? textsOf(record) : null,
  );
  const used = new Set<number>();
  return ({ device_code: code, device_label: label, text }) => {
    const fits = (texts: ReadonlyMap<string, string>, isExact: boolean) => {
      const name = names.some((place) => [code, label].includes(texts.get(place)));
      return name && (!isExact || value.some((place) => (texts.get(place) ?? "").includes(text)));
    };
    const at = [true, false]
      .map((isExact) => records.findIndex((texts, index) => texts !== null && !used.has(index) && fits(texts, isExact)))
      .find((index) => index >= 0);
    if (at !== undefined) used.add(at);
    return at ?? null;
  };
}

function rowPlaces({ results, protocol }: AnyProfileForm): { readonly names: string[]; readonly value: string[] } {
  const { names = protocol === "text" ? ["name"] : [], value = "value" } = (results ?? {}) as {
    names?: unknown;
    value?: unknown;
  };
  return { names: sourcePlaces(names), value: sourcePlaces(value) };
}

function textsOf(record: MakerNode): ReadonlyMap<string, string> {
  return new Map([...nodesOf(record)].map(({ place, text }) => [place, text]));
}

/** Returns each node that a source of the form reads. Of a table it is the column's. */
export function roleNodes(tree: MakerNode, form: AnyProfileForm): RoleNode[] {
  const { names, per: _per, except: _except, from, ...results } = (form.results ?? {}) as Record<string, unknown>;
  const { number, time } = (form.sample ?? {}) as Record<string, unknown>;
  const sources = { ...form.patient, ...results, sample: number, time, code: names, tests: from };
  const roles = Object.entries(sources).map(([role, source]) => ({
    role,
    places: sourcePlaces(source).map(columnName),
  }));
  const isTable = tree.children.some(({ place }) => place === "header");
  return tree.children.flatMap((record, index) => {
    if (isTable && record.place !== "header") return [];
    return [...nodesOf(record)].flatMap(({ place, from: start, to }) =>
      roles
        .filter(({ places }) => place !== "" && places.includes(columnName(place)))
        .map(({ role }) => ({ role, place, record: index, from: start, to })),
    );
  });
}
