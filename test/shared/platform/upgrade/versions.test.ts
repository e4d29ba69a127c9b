import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compareVersions } from "../../../../shared/api/upgrade.ts";
import { LastWords } from "../../../../shared/platform/upgrade/last-words.ts";
import {
  accept,
  choose,
  countStart,
  discountStart,
  fault,
  NO_UPGRADE,
  obstacle,
  order,
  type Pending,
  recorded,
  refusal,
  rollBack,
  type UpgradeRecord,
  versionInForce,
  type Versions,
} from "../../../../shared/platform/upgrade/versions.ts";

const EXPECTS = { heartbeat: true, known: [] };
const PENDING: Pending = { version: "0.3.0", starts: 0, expects: EXPECTS };

function record(of: Partial<UpgradeRecord>): UpgradeRecord {
  return { from: "0.1.0", to: "0.2.0", at: "2026-11-23T18:00:00.000Z", outcome: "done", reason: null, ...of };
}

test("the package's own version runs, or the one of the last upgrade, whichever is later", () => {
  const upgraded: Versions = { ...NO_UPGRADE, current: "0.2.0" };
  expect(choose("0.1.0", NO_UPGRADE, []).version).toBe("0.1.0");
  expect(choose("0.1.0", upgraded, ["0.2.0"]).version).toBe("0.2.0");
  // A package of apt or an msi brought a later one.
  expect(choose("0.10.0", upgraded, ["0.2.0"]).version).toBe("0.10.0");
  // The folder was removed by hand.
  expect(choose("0.1.0", upgraded, []).version).toBe("0.1.0");
});

test("an ordered version is tried, unless it is lower or not there", () => {
  const ordered = order({ ...NO_UPGRADE, current: "0.2.0", rolledBack: true }, "0.3.0", EXPECTS);
  expect(choose("0.1.0", ordered, ["0.2.0", "0.3.0"])).toEqual({ version: "0.3.0", trial: PENDING });
  expect(choose("0.1.0", ordered, ["0.2.0"])).toEqual({ version: "0.2.0", trial: null });
  expect(choose("0.4.0", ordered, ["0.2.0", "0.3.0"])).toEqual({ version: "0.4.0", trial: null });
});

test("an ordered version that a package overtook or that lost its files has an obstacle", () => {
  const ordered = order({ ...NO_UPGRADE, current: "0.2.0" }, "0.3.0", EXPECTS);
  expect(obstacle("0.1.0", NO_UPGRADE, [])).toBeNull();
  expect(obstacle("0.1.0", ordered, ["0.2.0", "0.3.0"])).toBeNull();
  for (const own of ["0.3.0", "0.4.0"]) {
    expect(obstacle(own, ordered, ["0.2.0"])).toBe("a package brought this version or a later one");
  }
  expect(obstacle("0.1.0", ordered, ["0.2.0"])).toBe("its files are missing: order the upgrade again");
});

test("a version that stays becomes the current one, and a failed one lets the version before take the database back", () => {
  const ordered = order({ ...NO_UPGRADE, current: "0.2.0" }, "0.3.0", EXPECTS);
  expect(accept(PENDING)).toEqual({ current: "0.3.0", pending: null, rolledBack: false });
  expect(rollBack(ordered)).toEqual({ current: "0.2.0", pending: null, rolledBack: true });
});

test("a start without a verdict counts, an ordered stop does not, and there is no fourth start", () => {
  let versions = order(NO_UPGRADE, "0.3.0", EXPECTS);
  for (const starts of [1, 2, 3]) {
    versions = countStart(versions, versions.pending!)!;
    expect(versions.pending?.starts).toBe(starts);
  }
  expect(countStart(versions, versions.pending!)).toBeNull();
  expect(discountStart(versions).pending?.starts).toBe(2);
});

test("no sequence of orders, successes and failures ever runs a lower version than a success before", () => {
  const versionText = fc.tuple(fc.nat(3), fc.nat(12), fc.nat(3)).map((parts) => parts.join("."));
  const step = fc.record({ to: versionText, does: fc.constantFrom("passes", "fails", "is stopped", "package") });
  fc.assert(
    fc.property(versionText, fc.array(step, { maxLength: 40 }), (first, steps) => {
      let [own, versions, records]: [string, Versions, UpgradeRecord[]] = [first, NO_UPGRADE, []];
      const unpacked: string[] = [];
      const again: (string | null)[] = [];
      let highest = own;
      for (const { to, does } of steps) {
        const running = choose(own, versions, unpacked).version;
        if (does === "package") {
          // A package manager installs no lower version.
          if (compareVersions(to, own) > 0) own = to;
        } else if (refusal(to, running, records) === null) {
          unpacked.push(to);
          versions = order(versions, to, EXPECTS);
          const { trial } = choose(own, versions, unpacked);
          if (trial === null) continue;
          if (does === "passes") versions = accept(trial);
          if (does === "fails") {
            versions = rollBack(versions);
            records = recorded(records, record({ to, outcome: "rolled back", reason: "it failed" }));
            again.push(refusal(to, running, records));
          }
        }
        const now = versionInForce(own, versions, unpacked);
        expect(compareVersions(now, highest)).toBeGreaterThanOrEqual(0);
        highest = now;
      }
      expect(again.every((reason) => reason?.includes("was rolled back before"))).toBe(true);
    }),
  );
});

test.each<[string, string]>([
  ["0.2.0", "runs already"],
  ["0.1.9", "older than 0.2.0"],
  ["0.3.0", "was rolled back before (it crashed): take a later version"],
  ["latest", "is not a version: expected three numbers"],
  ["../../etc", "is not a version"],
])("an upgrade to %s is refused", (to, reason) => {
  const records = [record({ to: "0.3.0", outcome: "rolled back", reason: "it crashed" })];
  expect(refusal(to, "0.2.0", records)).toContain(reason);
  expect(refusal("0.3.1", "0.2.0", records)).toBeNull();
});

test("a new version passes if it lives, is as ready as the version before, and its server responded", () => {
  const port = { what: "chem-1", reason: "cannot open: no such port" };
  const healthy = { problems: [], heartbeat: true };
  expect(fault(healthy, EXPECTS)).toBeNull();
  expect(fault(null, EXPECTS)).toBe("it did not become ready in time");
  expect(fault({ problems: [port], heartbeat: true }, EXPECTS)).toBe(
    "it was not ready: chem-1: cannot open: no such port",
  );
  expect(fault({ problems: [port], heartbeat: true }, { heartbeat: true, known: ["chem-1"] })).toBeNull();
  expect(fault({ problems: [], heartbeat: false }, EXPECTS)).toBe("the server responded to none of its heartbeats");
  // The server was away before the upgrade too.
  expect(fault({ problems: [], heartbeat: false }, { heartbeat: false, known: [] })).toBeNull();
});

test("a repeated refusal is one record, and the list keeps fifty", () => {
  const refused = record({ outcome: "refused", reason: "the disk is full" });
  const later = { ...refused, at: "2026-11-23T19:00:00.000Z" };
  expect(recorded(recorded([], refused), later)).toEqual([later]);
  // A server refuses heartbeats with a longer version.
  expect(recorded([], record({ to: "9".repeat(65) }))[0]?.to.length).toBe(64);
  const many = Array.from({ length: 60 }, (_, index) => record({ to: `0.${index}.0` }));
  const kept = many.reduce<readonly UpgradeRecord[]>((records, each) => recorded(records, each), []);
  expect([kept.length, kept.at(-1)?.to]).toEqual([50, "0.59.0"]);
});

test("the last words of a process are its error, or its last line", () => {
  const wordsOf = (...parts: readonly string[]) => {
    const words = new LastWords();
    for (const part of parts) words.add(part);
    return words.sentence;
  };
  expect(wordsOf()).toBeNull();
  expect(wordsOf("agent.yaml: no such", " file\n")).toBe("agent.yaml: no such file");
  const crash = "/app/main.js:3\n  throw x;\n  ^\n\nError: the port is in use\n    at main.js:3\n\nNode.js v24.21.0\n";
  expect(wordsOf("a warning\n", crash)).toBe("Error: the port is in use");
});
