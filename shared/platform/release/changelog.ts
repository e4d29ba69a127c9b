// Reads and releases the sections of CHANGELOG.md (https://keepachangelog.com/en/1.1.0/).

interface Section {
  /** The day of the release; null for one without a day. */
  readonly day: string | null;
  /** The text below the heading. */
  readonly notes: string;
}

export const UNRELEASED = "Unreleased";

/** @returns the section of a version; null if there is none */
export function sectionOf(changelog: string, version: string): Section | null {
  const parts = changelog.split(/^## /m).slice(1);
  const part = parts.find((each) => each.startsWith(`[${version}]`));
  if (part === undefined) return null;
  const [heading = "", ...lines] = part.split("\n");
  const day = /^\[[^\]]+\] - (\d{4}-\d\d-\d\d)$/.exec(heading)?.[1] ?? null;
  return { day, notes: `${lines.join("\n").trim()}\n` };
}

/** Gives the unreleased lines to a version of that day. @throws Error without lines, and if the version has a section */
export function withSection(changelog: string, version: string, day: string): string {
  if (sectionOf(changelog, version) !== null) throw new Error(`CHANGELOG.md already has a section of ${version}`);
  if ((sectionOf(changelog, UNRELEASED)?.notes ?? "").trim() === "") {
    throw new Error(`CHANGELOG.md has no lines under ${UNRELEASED}, expected those of ${version}`);
  }
  const heading = `## [${UNRELEASED}]\n`;
  return changelog.replace(heading, `${heading}\n## [${version}] - ${day}\n`);
}
