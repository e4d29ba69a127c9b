import { expect, test } from "vitest";
import { lineDiff } from "../../../../agent/page/types/line-diff.ts";

test.each<[string, string, string[]]>([
  ["a\nb", "a\nb", []],
  ["a\nb\nc", "a\nB\nc", ["  a", "- b", "+ B", "  c"]],
  ["1\n2\n3\n4\n5\n6", "1\n2\n3\nx\n4\n5\n6", ["  2", "  3", "+ x", "  4", "  5"]],
  ["1\n2\n3\n4\n5\n6\n7\n8", "0\n2\n3\n4\n5\n6\n7\n9", ["- 1", "+ 0", "  2", "  3", "  6", "  7", "- 8", "+ 9"]],
  ["a", "a\na", ["  a", "+ a"]],
  ["", "a", ["- ", "+ a"]],
])("%j against %j", (before, after, lines) => {
  expect(lineDiff(before, after)).toEqual(lines);
});
