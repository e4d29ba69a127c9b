import { EXTERNAL_ID_CHARS_MAX, type RegistryOrder } from "../../../../shared/api/agent/registry.ts";
import { analytes, foldName } from "../../../../shared/clinical/analytes/analytes.ts";
import { readTime } from "../../../report/device-time.ts";
import type { Segment } from "../message/segment.ts";
import type { RegistryContext } from "./animal.ts";
import { type Place, refuse, shownValue } from "./fault.ts";
import { agrees } from "./identifiers.ts";
import type { PracticeSettings } from "./settings.ts";

// Orders: groups of ORC and OBR (ORM^O01, OML^O21). Orders of one placer number are one order with several tests.

/** A group of ORC with the OBR after it. */
export interface OrderGroup {
  readonly orc: Place;
  readonly obrs: readonly Place[];
}

/** Returns the groups. @throws FaultyMessage for an OBR without ORC, and a message without any */
export function orderGroups(segments: readonly Segment[], header: Place): OrderGroup[] {
  const groups: { orc: Place; obrs: Place[] }[] = [];
  let obrs = 0;
  for (const segment of segments) {
    if (segment.name === "ORC") groups.push({ orc: { segment, sequence: groups.length + 1 }, obrs: [] });
    if (segment.name !== "OBR") continue;
    const obr = { segment, sequence: ++obrs };
    const last = groups.at(-1);
    if (last === undefined) return refuse(101, obr, 2, "has no ORC before it, expected ORC with its control code");
    last.obrs.push(obr);
  }
  if (groups.length === 0) refuse(101, header, 9, "is an order without ORC, expected ORC and OBR");
  return groups;
}

/** Returns the orders of an animal. @throws FaultyMessage */
export function readOrders(
  groups: readonly OrderGroup[],
  patient: string,
  sender: string,
  settings: PracticeSettings,
  context: RegistryContext,
): RegistryOrder[] {
  const orders = new Map<string, RegistryOrder & { tests: string[] }>();
  for (const { orc, obrs } of groups) {
    const isCancelled = cancels(orc);
    // A cancellation needs no test.
    for (const obr of obrs.length === 0 ? [null] : obrs) {
      const external_id = numberOf(orc, obr, sender);
      const known = orders.get(external_id);
      // One order cannot be both: the tests of the two groups would mix.
      if (known !== undefined && (known.cancelled === true) !== isCancelled) {
        refuse(205, orc, 2, `is ${shownValue(external_id)} of NW and of CA, expected a message for each`);
      }
      const tests = obr === null ? [] : testsOf(obr, settings);
      if (obr === null && !isCancelled) refuse(101, orc, 2, "has no OBR after it, expected the test");
      const ordered_at = timeOf(orc, obr, context);
      // A group without a test cancels them all, whatever another one names.
      const isWhole = obr === null || known?.tests.length === 0;
      orders.set(external_id, {
        ...{ external_id, patient, ordered_at: known?.ordered_at ?? ordered_at },
        tests: isWhole ? [] : [...new Set([...(known?.tests ?? []), ...tests])],
        ...(isCancelled && { cancelled: true as const }),
      });
    }
  }
  return [...orders.values()].map(({ tests, ...order }) => (tests.length === 0 ? order : { ...order, tests }));
}

/** ORC-1, table 0119: a new order, or the request to cancel one. */
function cancels(orc: Place): boolean {
  const control = orc.segment.component(1, 1).trim().toUpperCase();
  if (control === "") return refuse(101, orc, 1, "is missing, expected NW or CA");
  if (control !== "NW" && control !== "CA") return refuse(103, orc, 1, `is ${shownValue(control)}, expected NW or CA`);
  return control === "CA";
}

/** Returns the placer's number of ORC-2 or OBR-2. That of another system than the sender has its namespace: two systems count alike. */
function numberOf(orc: Place, obr: Place | null, sender: string): string {
  const [own, ofTest] = [entityIn(orc), obr === null ? null : entityIn(obr)];
  if (own !== null && ofTest !== null && (own.number !== ofTest.number || !agrees(own.namespace, ofTest.namespace))) {
    refuse(204, obr ?? orc, 2, `is ${shownValue(ofTest.number)}, expected ${shownValue(own.number)} as in ORC-2`);
  }
  const found = own ?? ofTest;
  if (found === null) return refuse(101, orc, 2, "is missing, expected the number of the order");
  const namespace = found.namespace || (ofTest?.namespace ?? "");
  const isOfSender = namespace === "" || namespace.toUpperCase() === sender.toUpperCase();
  const id = isOfSender ? found.number : `${found.number}^${namespace}`;
  if (id.length <= EXTERNAL_ID_CHARS_MAX) return id;
  return refuse(102, orc, 2, `has ${id.length} characters, expected at most ${EXTERNAL_ID_CHARS_MAX}`);
}

/** EI of the second field; null without a number. */
function entityIn({ segment }: Place): { readonly number: string; readonly namespace: string } | null {
  const [number = "", namespace = ""] = segment.components(2).map((part) => part.trim());
  return number === "" || number === '""' ? null : { number, namespace };
}

const CATALOGUE: ReadonlySet<string> = new Set(
  analytes
    .flatMap(({ code, api_code, name, synonyms, loinc }) => [code, api_code, name, ...synonyms, ...loinc])
    .map(foldName),
);

/** Whether the catalogue has the name, so that any device may run the test. */
export function isKnownTest(name: string): boolean {
  return CATALOGUE.has(foldName(name));
}

/** The characters that a test's name cannot have, because they have a meaning on the lines of devices. */
const NOT_IN_NAMES = /[\s\p{Cc},;|^~&\\]+/gu;

const TEST_CHARS_MAX = 64;

/** OBR-4: the tests of its code in the settings, or a name of the catalogue, or the code. The server may know it as a panel. */
function testsOf(obr: Place, { panels = {} }: PracticeSettings): readonly string[] {
  const [code = "", text = "", , otherCode = "", otherText = ""] = obr.segment.components(4).map((part) => part.trim());
  const names = [code, text, otherCode, otherText].filter((name) => name !== "" && name !== '""');
  const panel = names.find((name) => Object.hasOwn(panels, name));
  if (panel !== undefined) return panels[panel] ?? [];
  const known = names.find(isKnownTest) ?? names[0];
  const test = known?.replaceAll(NOT_IN_NAMES, " ").trim().slice(0, TEST_CHARS_MAX).trim() ?? "";
  return test === "" ? refuse(101, obr, 4, "is missing, expected the code of a test") : [test];
}

/** ORC-9, OBR-6, OBR-7, else the receipt. A clock that is ahead of this machine's does not delay an order. */
function timeOf(orc: Place, obr: Place | null, { timeZone, receivedAt }: RegistryContext): string {
  const given = [orc.segment.component(9, 1), obr?.segment.component(6, 1), obr?.segment.component(7, 1)];
  const read = given.flatMap((text) => readTime(text ?? "", timeZone) ?? [])[0];
  const received = new Date(receivedAt).toISOString();
  return read === undefined || read > received ? received : read;
}
