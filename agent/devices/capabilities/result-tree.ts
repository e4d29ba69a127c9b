import type { DeviceResult } from "../../report/report.ts";
import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import type { Segment } from "../../protocols/hl7/message/segment.ts";

// OBX-4 is a tree: `1.0.n` is the result of a target in words, below it `.1` the sample rate, `.2` the Ct value, `.3` the curve.

/** Reads words and Ct values of the targets. A cut message lacks rows, and a negative internal control ends the run. */
export const resultTree: Partial<Hl7Profile> = {
  damage: damageOf,
  results: (result, obx, { rows }) => {
    const { target, child } = nodeOf(obx);
    if (target === "") return [result];
    const answer = rows.find((row) => nodeOf(row).target === target && nodeOf(row).child === "") ?? obx;
    // The internal control, the sample rate and the curve check the run.
    if (isControl(answer) || child === "1" || child === "3") return [];
    const failed = rows.find((row) => isControl(row) && /(^|\^)neg/i.test(row.field(5).trim()));
    const notFinal = failed === undefined ? result.notFinal : `the internal control ${titleOf(failed)} is Negative`;
    return [{ ...(child === "2" ? ctValue(result, answer) : word(result, answer)), notFinal }];
  },
};

/** Max rows of a run. Each row is compared with all others. */
const ROWS_MAX = 1_000;

/** Children of a target: the number after `1.0.n`. */
const NODE = /^(\d+\.\d+\.\d+)(?:\.(\d+))?$/;

function nodeOf(obx: Segment): { readonly target: string; readonly child: string } {
  const [, target = "", child = ""] = NODE.exec(obx.field(4).trim()) ?? [];
  return { target, child };
}

/**
 * Returns what a cut message lacks: the word or the Ct value of a target, or a row of the last target that the first one has.
 * The rows below an internal control are not needed.
 */
function damageOf(rows: readonly Segment[]): string | null {
  if (rows.length > ROWS_MAX) return `${rows.length} rows, at most ${ROWS_MAX}`;
  const nodes = rows
    .map((obx) => ({ ...nodeOf(obx), isControl: isControl(obx) }))
    .filter(({ target }) => target !== "");
  const controls = new Set(nodes.flatMap((node) => (node.isControl ? [node.target] : [])));
  const targets = [...new Set(nodes.map(({ target }) => target))];
  const childrenOf = (of: string | undefined) => nodes.filter(({ target }) => target === of).map(({ child }) => child);
  const missing = targets.flatMap((target) => {
    if (controls.has(target)) return [];
    const needed = ["", "2", ...(target === targets.at(-1) ? childrenOf(targets[0]) : [])];
    const sent = childrenOf(target);
    return [...new Set(needed)].filter((child) => !sent.includes(child)).map((child) => nameOf(target, child));
  });
  return missing.length === 0 ? null : `the message lacks row ${missing.join(", ")}`;
}

function nameOf(target: string, child: string): string {
  return child === "" ? target : `${target}.${child}`;
}

/** A target whose name ends in IC is an internal control. */
function isControl(answer: Segment): boolean {
  return nodeOf(answer).child === "" && answer.components(3).some((part) => /(^|[^A-Z])IC$/.test(part.trim()));
}

function titleOf(answer: Segment): string {
  const [code = "", name = ""] = answer.components(3).map((part) => part.trim());
  return name || code || answer.field(4);
}

/** A word has no unit and interval: its row holds the Ct value's. */
function word(result: DeviceResult, answer: Segment): DeviceResult {
  return { ...result, ...named(answer, ""), unit: "", range: "" };
}

/** 0.00: the curve never crosses the threshold, which leaves no Ct value. */
function ctValue(result: DeviceResult, answer: Segment): DeviceResult {
  const value = Number(result.value) === 0 ? "" : result.value;
  return { ...result, ...named(answer, " Ct"), value, unit: result.unit || "ct", range: answer.field(7) };
}

/** A Ct value and its word are two results, so each has its own code. */
function named(answer: Segment, suffix: string): Pick<DeviceResult, "names" | "code" | "label"> {
  const code = `${answer.component(3, 1).trim() || answer.field(4).trim()}${suffix}`;
  const label = `${titleOf(answer)}${suffix}`;
  return { names: [code, label], code, label };
}
