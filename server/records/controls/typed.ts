import { newFp } from "../../../shared/api/fp.ts";
import type { ControlResult, ControlRun, DeviceEvent } from "../../../shared/api/quality.ts";
import { analyteByCode, findAnalyte } from "../../../shared/clinical/analytes/analytes.ts";
import { readUnit } from "../../../shared/clinical/analytes/units.ts";
import { readValue } from "../../../shared/clinical/analytes/value.ts";
import { shown } from "../../../shared/schema/problems.ts";
import { isRealDate } from "../../../shared/schema/timestamp.ts";
import type { TypedControl, TypedEvent } from "../../dashboard/types/quality.ts";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";
import { digestOf } from "../audit/sealed-text.ts";

// Controls and events of devices that a user types, as records of a device.

/** Reads a typed control. @returns the first value that is not a number, or all other problems, if there are any */
export function readTypedControl(
  typed: TypedControl,
  deviceName: string,
  userId: number,
): { run: ControlRun } | { problems: string[] } | { refused: Refusal } {
  const read = typed.results.map(readResult);
  const noNumber = read.find((each) => "refused" in each);
  if (noNumber !== undefined) return noNumber;
  const problems = read.flatMap((each) => ("problem" in each ? [each.problem] : []));
  const results = read.flatMap((each) => ("result" in each ? [each.result] : []));
  const names = results.map(({ analyte }) => analyte);
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) < index));
  problems.push(...[...repeated].map((name) => `${name} is listed more than once`));
  if (typed.expires !== null && !isRealDate(typed.expires))
    problems.push(`expires is ${typed.expires}, expected a day that exists`);
  if (problems.length > 0) return { problems };
  const fp = newFp("control");
  const { device_id, measured_at, material, level, lot, expires, comment } = typed;
  const named = { material, level, lot, expires, sample_ids: [] };
  const run: ControlRun = {
    ...{
      kind: "control",
      fp,
      dedupe_key: keyOf(typed, userId),
      device_name: deviceName,
      measured_at,
      ...named,
      results,
    },
    ...{ comments: comment === null ? [] : [comment], source: { device_id } },
  };
  return { run };
}

function readResult({
  analyte: name,
  text,
  unit,
}: TypedControl["results"][number]): { result: ControlResult } | { problem: string } | { refused: Refusal } {
  const context = { modality: null, urine: false, unit: unit ?? "" };
  const analyte = analyteByCode(name) ?? findAnalyte([name], context)?.analyte;
  if (analyte === undefined) return { problem: `analyte is ${shown(name)}, expected one of the catalogue` };
  const read = readValue(text, { decimalComma: true });
  if (read.is === "none") return { refused: refusal("CONTROL.NO_NUMBER", analyte.code, text) };
  if (read.is === "word") {
    if (analyte.value_type !== "numeric") {
      return { result: { analyte: analyte.code, value: null, text: read.text, unit: null } };
    }
    return { refused: refusal("CONTROL.NO_NUMBER", analyte.code, text) };
  }
  const value = read.is === "ordinal" ? read.rank : read.value;
  const spelled = readUnit(analyte, unit ?? "", value);
  if (spelled.warning !== null) return { problem: spelled.warning };
  const comparator = read.is === "number" ? read.comparator : null;
  const result = { analyte: analyte.code, value, text: read.text, unit: spelled.unit };
  return { result: comparator === null ? result : { ...result, comparator } };
}

/** Makes the record of a typed event. */
export function typedEvent(typed: TypedEvent, deviceName: string, userId: number): DeviceEvent {
  const { entry_id: _entry, device_id, ...event } = typed;
  const fp = newFp("devevt");
  return {
    ...{ kind: "event", fp, dedupe_key: keyOf(typed, userId), device_name: deviceName, ...event, count: null },
    source: { device_id },
  };
}

/** Equal for a form that is sent again. A form that was changed before it was sent again is another record, so that no change is lost. */
function keyOf({ entry_id: entry, ...content }: TypedControl | TypedEvent, userId: number): string {
  return `typed ${userId} ${entry} ${digestOf(JSON.stringify(content))}`;
}
