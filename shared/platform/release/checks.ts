import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { VERSION } from "../../files/program-files.ts";
import { homepage, isExample } from "./addresses.ts";
import { sectionOf, UNRELEASED } from "./changelog.ts";

// Decides whether this checkout can be released.

export interface Checkout {
  readonly version: string;
  readonly changelog: string;
  readonly homepage: string;
  /** The changed and the unknown files, as git lists them. */
  readonly changes: readonly string[];
  readonly commit: string;
  /** The commit of the tag of this version; null if there is no such tag. */
  readonly tagged: string | null;
  /** Whether test/releases has the databases of this version, which later versions must open. */
  readonly hasDatabases: boolean;
}

/** Returns one sentence for each problem. */
export function releaseProblems(checkout: Checkout): string[] {
  const { version, changelog, changes, commit, tagged } = checkout;
  const found: string[] = [];
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    found.push(`package.json has the version ${version}, expected three numbers such as 0.2.0`);
  }
  if (changes.length > 0)
    found.push(`the tree has changes that no commit has, the first of ${changes.length} is ${changes[0]}: commit them`);
  const section = sectionOf(changelog, version);
  if (section?.day === null || section === null) {
    found.push(`CHANGELOG.md has no dated section of ${version}, expected "## [${version}] - 2026-12-01"`);
  } else if (section.notes.trim() === "") found.push(`the section of ${version} in CHANGELOG.md is empty`);
  if ((sectionOf(changelog, UNRELEASED)?.notes ?? "").trim() !== "") {
    found.push(`CHANGELOG.md has lines under ${UNRELEASED}: move them to the section of ${version}`);
  }
  if (tagged !== null && tagged !== commit) {
    found.push(`the tag v${version} is of another commit (${tagged.slice(0, 8)}): raise the version in package.json`);
  }
  if (isExample(checkout.homepage)) {
    found.push(`homepage in package.json is ${checkout.homepage || "missing"}, expected the owner's address`);
  }
  if (!checkout.hasDatabases) {
    found.push(`test/releases/${version} is missing: run node test/make-release-fixtures.ts, and commit it`);
  }
  return found;
}

/** Reads the checkout in this folder. */
export function readCheckout(): Checkout {
  const [tag] = linesOf(git("tag", "--list", `v${VERSION}`));
  return {
    version: VERSION,
    changelog: fs.readFileSync("CHANGELOG.md", "utf8"),
    homepage: homepage(),
    changes: linesOf(git("status", "--porcelain")),
    commit: git("rev-parse", "HEAD"),
    tagged: tag === undefined ? null : git("rev-parse", `${tag}^{commit}`),
    hasDatabases: fs.existsSync(`test/releases/${VERSION}`),
  };
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function git(...words: string[]): string {
  return execFileSync("git", words, { encoding: "utf8" }).trim();
}
