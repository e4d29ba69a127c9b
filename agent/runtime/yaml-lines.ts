import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";

// The place of a value in a text of YAML: its path in words, and its line.

/** Formats a path as `devices[0].connection`. */
export function dotted(steps: readonly string[]): string {
  return steps.reduce(
    (name, step) => (/^\d+$/.test(step) ? `${name}[${step}]` : name === "" ? step : `${name}.${step}`),
    "",
  );
}

/** Returns the line of the value at a path, or of the nearest value around it. */
export function lineAt(root: Node | null, steps: readonly string[], lines: LineCounter): number {
  let node: unknown = root;
  let start = root?.range?.[0] ?? 0;
  for (const step of steps) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (pair === undefined) break;
      if (isScalar(pair.key) && pair.key.range) start = pair.key.range[0];
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      const range = (node as Node | undefined)?.range;
      if (range) start = range[0];
    } else {
      break;
    }
  }
  return lines.linePos(start).line;
}

/** Returns the line of the value at a path in a text of YAML. */
export function lineIn(text: string, steps: readonly string[]): number {
  const lines = new LineCounter();
  return lineAt(parseDocument(text, { lineCounter: lines }).contents, steps, lines);
}
