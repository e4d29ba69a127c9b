import type { MakerNode, MessageView, Proposal, ProposalReason } from "../../page/types/maker.ts";
import { type Role, rolesAt } from "../../page/types/maker-roles.ts";
import { isAnalyteName } from "../../../shared/clinical/analytes/analytes.ts";
import { isKnownUnit } from "../../../shared/clinical/analytes/unit-spellings.ts";
import { readRange, readValue } from "../../../shared/clinical/analytes/value.ts";
import { readSpecies } from "../../../shared/clinical/species.ts";
import { isImpossible, readDate, readTime } from "../../report/device-time.ts";
import { patchOf } from "../roles.ts";
import type { Reader } from "../rows.ts";
import { nodeAt, nodesOf } from "../tree.ts";

// Proposes roles for places by what their texts look like in several messages. A person decides.

/** A message with its tree and what the draft reads in it now. */
export interface SeenMessage {
  readonly tree: MakerNode;
  readonly view: MessageView;
}

/** Facts in addition to the messages. */
export interface ProposalFacts {
  /** Returns whether the clinic's directory has the text, as which role. */
  readonly known?: (text: string) => "identifier" | "name" | "owner" | null;
}

const OFFERED = 0.4;
const CHOSEN = 0.7;
const IDENTITY: readonly Role[] = ["identifier", "name", "owner", "typed", "sample"];

/** Returns the proposals, the best first: one for each place. */
export function proposals(messages: readonly SeenMessage[], reader: Reader, facts: ProposalFacts = {}): Proposal[] {
  const found = [
    ...placeCandidates(messages, reader, facts),
    ...rowCandidates(messages, reader),
    ...rowKinds(messages, reader),
  ];
  const [places, roles] = [new Set<string>(), new Set<Role>()];
  return found
    .filter(({ score }) => score >= OFFERED)
    .toSorted((one, other) => other.score - one.score)
    .flatMap(({ record, ...candidate }) => {
      const { role, place } = candidate;
      const isRow = place === record.place;
      const isTaken = !isRow && (places.has(place) || roles.has(role));
      const patch = isTaken ? null : patchOf(reader.form, { role, place, record });
      if (patch === null) return [];
      places.add(place);
      roles.add(role);
      const message = messages.findIndex(({ tree }) => tree.children.includes(record));
      const at = { message, record: messages[message]?.tree.children.indexOf(record) ?? -1 };
      const isOne = messages.length === 1 && IDENTITY.includes(role);
      const against = [...candidate.against, ...(isOne ? [reason("oneMessage")] : [])];
      return [{ ...candidate, ...at, patch, against, isChosen: candidate.score >= CHOSEN && !isOne }];
    });
}

interface Candidate {
  readonly role: Role;
  readonly place: string;
  readonly record: MakerNode;
  readonly score: number;
  readonly reasons: readonly ProposalReason[];
  readonly against: readonly ProposalReason[];
}

function reason(code: ProposalReason["code"], ...values: readonly string[]): ProposalReason {
  return { code, values };
}

/** Records that a message has once, which name the sample and its patient. */
const HEADS = { hl7: ["PID", "OBR"], astm: ["P", "O"] } as const;
const SEX = /^([MF][NCIS]?|male|female)$/i;
/** Fields of their own meaning: numbers, codes of tests, times of birth. */
const NOT_ASKED = /^(PID-[138]|PID-3\.\d|OBR-[137]|OBR-4\.\d|P-[12389]|O-[1256])$/;

interface HeadTexts {
  readonly record: MakerNode;
  /** The text of each message. */
  readonly texts: string[];
}

/** Collects the texts of the records that name the sample and its patient, by their places. */
function headTexts(messages: readonly SeenMessage[], heads: readonly string[]): Map<string, HeadTexts> {
  const texts = new Map<string, HeadTexts>();
  for (const { tree } of messages) {
    const seen = new Set<string>();
    for (const record of tree.children.filter(({ place }) => heads.includes(place))) {
      for (const { place, text, children } of nodesOf(record)) {
        if (place === "" || children.length > 0 || text.trim() === "" || seen.has(place)) continue;
        seen.add(place);
        const of = texts.get(place) ?? { record, texts: [] };
        of.texts.push(text.trim());
        texts.set(place, of);
      }
    }
  }
  return texts;
}

function placeCandidates(
  messages: readonly SeenMessage[],
  { form, context }: Reader,
  facts: ProposalFacts,
): Candidate[] {
  const texts = headTexts(messages, HEADS[form.protocol === "astm" ? "astm" : "hl7"]);
  const read = new Set(
    messages.flatMap(({ view }) => view.nodes.filter(({ role }) => role !== "time").map(({ place }) => place)),
  );
  const hasSpecies = messages.some(({ view }) => readSpecies(view.sample?.species ?? "") !== null);
  const hasTime = messages.every(({ view }) =>
    view.nodes.some(({ role, place }) => role === "time" && !/^(MSH|H)-/.test(place)),
  );
  const hasIdentity = messages.every(({ view }) => (view.sample?.identifier ?? null) !== null);
  const species = [...texts].filter(([, of]) => share(of.texts, (text) => readSpecies(text) !== null) >= 0.8);
  const speciesPlace = hasSpecies ? null : (species[0]?.[0] ?? null);
  const hasBorn = messages.some(({ view }) => (view.sample?.born ?? null) !== null);
  const hasSex = messages.some(({ view }) => (view.sample?.sex ?? null) !== null);
  const found: Candidate[] = [];
  let letters = 0;
  for (const [place, { record, texts: own }] of texts) {
    const roles = rolesAt(form.protocol, { place, kind: "field" });
    const add = (
      role: Role,
      score: number,
      reasons: readonly ProposalReason[],
      against: readonly ProposalReason[] = [],
    ) => {
      if (roles.includes(role)) found.push({ role, place, record, score, reasons, against });
    };
    const sample = own[0] ?? "";
    if (place === speciesPlace) {
      add("species", 0.9, [reason("speciesWords", sample)]);
      continue;
    }
    const known = own.map((text) => facts.known?.(text) ?? null).find((role) => role !== null) ?? null;
    if (known !== null && !read.has(place)) add(known, 0.9, [reason("ofDirectory", sample)]);
    if (NOT_ASKED.test(place)) continue;
    if (place.startsWith("PID-") && !hasBorn && readDate(sample) !== null) {
      add("born", 0.6, [reason("isTime", sample)]);
      continue;
    }
    if (place.startsWith("PID-") && !hasSex && share(own, (text) => SEX.test(text)) === 1) {
      add("sex", 0.5, [reason("unreadText", sample)]);
      continue;
    }
    const isTime = share(own, (text) => isTimeText(text, context)) === 1;
    if (isTime && !hasTime) add("time", 0.85, [reason("isTime", sample)]);
    if (isTime || readDate(sample) !== null) continue;
    if (/^OBR-4$/.test(place) && !hasIdentity && !isAnalyteName(sample)) {
      add("typed", 0.6, [reason("unreadText", sample)]);
    }
    const isName = share(own, (text) => /^\p{L}[\p{L} '.-]+$/u.test(text) && text.length > 1) === 1;
    // The species was read as a name there, so the next texts are the name and the owner.
    if (isName && /^(PID|P|O)-/.test(place) && !(read.has(place) && speciesPlace === null)) {
      letters += 1;
      if (letters === 1) add("name", 0.55, [reason("unreadText", sample)]);
      if (letters === 2) add("owner", 0.5, [reason("unreadText", sample)]);
      continue;
    }
    if (hasIdentity || read.has(place)) continue;
    const isDistinct = new Set(own).size === own.length && own.length > 1;
    if (isDistinct && own.every((text) => /\d/.test(text))) {
      if (isCounter(own)) add("sample", 0.45, [reason("differs", sample)], [reason("counter")]);
      else add("sample", 0.75, [reason("differs", sample)]);
    }
  }
  return [...found, ...senderCandidates(messages, form)];
}

function senderCandidates(messages: readonly SeenMessage[], form: Reader["form"]): Candidate[] {
  if (form.recognize?.sender !== undefined || messages.length < 2) return [];
  const places = form.protocol === "hl7" ? ["MSH-3", "MSH-4"] : ["H-5"];
  return places.flatMap((place) => {
    const own = messages.map(({ tree }) =>
      tree.children[0] === undefined ? "" : (nodeAt(tree.children[0], place)?.text.trim() ?? ""),
    );
    const [text = ""] = own;
    const record = messages[0]?.tree.children[0];
    if (!/\p{L}{2}/u.test(text) || own.some((each) => each !== text) || record === undefined) return [];
    return [{ role: "sender" as const, place, record, score: 0.5, reasons: [reason("constant", text)], against: [] }];
  });
}

function share(texts: readonly string[], is: (text: string) => boolean): number {
  return texts.length === 0 ? 0 : texts.filter(is).length / texts.length;
}

function isTimeText(text: string, { timeZone, receivedAt }: Reader["context"]): boolean {
  if (!/^\d{8,}/.test(text)) return false;
  const time = readTime(text, timeZone);
  return time !== null && !isImpossible(time, receivedAt);
}

/** Numbers that rise by one are the device's own counter. */
function isCounter(texts: readonly string[]): boolean {
  const numbers = texts.map(Number);
  return numbers.every((number, index) => index === 0 || number - (numbers[index - 1] ?? 0) === 1);
}

/** Places of the rows with better codes, units and ranges than those that are read now. */
function rowCandidates(messages: readonly SeenMessage[], { form }: Reader): Candidate[] {
  const rows = resultRows(messages, form.protocol);
  const [first] = rows;
  if (first === undefined) return [];
  const now = messages.flatMap(({ view }) => view.rows.filter(({ result }) => result !== null));
  const known = now.length === 0 ? 0 : now.filter(({ result }) => result?.analyte !== null).length / now.length;
  const hasUnits = now.some(({ result }) => result?.unit !== null);
  const hasRanges = now.some(({ result }) => result?.range !== null);
  const texts = new Map<string, string[]>();
  for (const record of rows) {
    for (const { place, text, children } of nodesOf(record)) {
      if (place === "" || children.length > 0 || text.trim() === "") continue;
      texts.set(place, [...(texts.get(place) ?? []), text.trim()]);
    }
  }
  const found: Candidate[] = [];
  const codePlaces = new Set(
    now.flatMap(({ nodes }) => nodes.filter(({ role }) => role === "code").map(({ place }) => place)),
  );
  for (const [place, own] of texts) {
    const roles = rolesAt(form.protocol, { place, kind: "field" });
    const add = (role: Role, score: number, why: ProposalReason) => {
      if (roles.includes(role)) found.push({ role, place, record: first, score, reasons: [why], against: [] });
    };
    const codes = share(own, isAnalyteName);
    const isFilled = own.length >= rows.length * 0.6;
    if (isFilled && !codePlaces.has(place) && codes > known + 0.2 && new Set(own).size > 1) {
      add(
        "code",
        Math.min(0.95, 0.4 + codes / 2),
        reason("knownCodes", String(Math.round(codes * own.length)), String(own.length)),
      );
    }
    if (!hasUnits && isFilled && share(own, isKnownUnit) >= 0.6) add("unit", 0.8, reason("knownUnits", own[0] ?? ""));
    if (
      !hasRanges &&
      isFilled &&
      share(own, (text) => /\d\s*[-^]\s*\d/.test(text) && readRange(text) !== null) >= 0.6
    ) {
      add("range", 0.75, reason("ranges", own[0] ?? ""));
    }
  }
  return [...found, ...finalCandidate(rows, form, first)];
}

/** A status that every row has is final: the device has no other. */
function finalCandidate(rows: readonly MakerNode[], form: Reader["form"], first: MakerNode): Candidate[] {
  const place = form.protocol === "hl7" ? "OBX-11" : "R-9";
  const statuses = new Set(rows.map((row) => nodeAt(row, place)?.text.trim().toUpperCase() ?? ""));
  const [status = ""] = statuses;
  if (statuses.size !== 1 || !/^[PRSI]$/.test(status) || rows.length < 2) return [];
  if (form.statuses?.[status] === "final") return [];
  return [{ role: "final", place, record: first, score: 0.8, reasons: [reason("everyRow", status)], against: [] }];
}

function resultRows(messages: readonly SeenMessage[], protocol: string): MakerNode[] {
  const name = protocol === "hl7" ? "OBX" : "R";
  return messages.flatMap(({ tree }) => tree.children.filter(({ place }) => place === name));
}

/** `""` is an empty text. */
function textAt(record: MakerNode, place: string): string {
  const found = nodeAt(record, place)?.text.trim() ?? "";
  return found === '""' ? "" : found;
}

/** Rows that are not results: the species, and rows without number and unit that every message has. */
function rowKinds(messages: readonly SeenMessage[], { form }: Reader): Candidate[] {
  const isHl7 = form.protocol === "hl7";
  const at = isHl7 ? { code: "OBX-3", value: "OBX-5", unit: "OBX-6" } : { code: "R-3", value: "R-4", unit: "R-5" };
  const hasSpecies = messages.some(({ view }) => readSpecies(view.sample?.species ?? "") !== null);
  const found: Candidate[] = [];
  const seen = new Set<string>();
  for (const { tree, view } of messages) {
    const ruled = new Set(view.rows.filter(({ rule }) => rule !== null).map(({ record }) => record));
    for (const [index, record] of tree.children.entries()) {
      const [code, value, unit] = [at.code, at.value, at.unit].map((place) => textAt(record, place)) as [
        string,
        string,
        string,
      ];
      if (record.place !== (isHl7 ? "OBX" : "R") || ruled.has(index) || code === "" || seen.has(code)) continue;
      seen.add(code);
      const names = code.split(/[\^]/);
      if (unit !== "" || names.some(isAnalyteName)) continue;
      const { place } = record;
      if (isHl7 && !hasSpecies && readSpecies(value) !== null) {
        found.push({
          role: "species-row",
          place,
          record,
          score: 0.85,
          reasons: [reason("speciesWords", value)],
          against: [],
        });
        continue;
      }
      const read = readValue(value, { decimalComma: true });
      const isNumber = read.is === "number" || /\d/.test(value);
      if (isNumber || textAt(record, isHl7 ? "OBX-7" : "R-6") !== "") continue;
      const isWord = value !== "" && /^(pos|neg|\+|-|trace)/i.test(value);
      if (isWord) continue;
      const reasons = [reason("noNumber", names.find(Boolean) ?? code, value)];
      found.push({ role: "remark", place, record, score: value === "" ? 0.6 : 0.7, reasons, against: [] });
    }
  }
  return found;
}
