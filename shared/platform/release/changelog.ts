// Reads CHANGELOG.md (https://keepachangelog.com/en/1.1.0/).

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
