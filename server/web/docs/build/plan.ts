import type { Language } from "../../../../shared/api/language.ts";
import { helpPages } from "../../screens/help/pages.ts";
import type { Word } from "../words.ts";

// The order of the documents, as a reader needs them. A README that no part names belongs to the developers.

/** A part of the menu: files, or pages of the server that are made elsewhere. */
export interface Part {
  readonly name: Word;
  readonly files: readonly string[];
  readonly references?: readonly Reference[];
}

export interface Reference {
  readonly url: string;
  readonly title: string;
}

export interface Section {
  readonly name: Word;
  readonly parts: readonly Part[];
}

/** The first page, and the list of the versions. */
export const HOME = "README.md";
export const VERSIONS = "CHANGELOG.md";

const REFERENCES: readonly Reference[] = [
  { url: "/docs/api", title: "Read API (OpenAPI)" },
  { url: "/sync/docs", title: "Sync API (OpenAPI)" },
  { url: "/fhir/R4/metadata", title: "FHIR CapabilityStatement" },
];

type HelpPage = (typeof helpPages)[number];
const help = (language: Language, ...names: readonly HelpPage[]) => names.map((name) => helpFile(language, name));

export function helpFile(language: Language, name: string): string {
  return `server/web/help/${language}/${name}.md`;
}

function readmes(...folders: readonly string[]): string[] {
  return folders.map((folder) => `${folder}/README.md`);
}

/**
 * Sorts the Markdown files of the project into the menu of a language: its help pages, and everything else in English.
 * @throws Error that names a file of the menu that is missing, or a help page without a place
 */
export function menuOf(files: readonly string[], language: Language): Section[] {
  const named = namedSections(language);
  const placed = new Set(named.flatMap(({ parts }) => parts.flatMap((part) => part.files)));
  const missing = [...placed].filter((file) => !files.includes(file));
  const lost = helpPages.map((name) => helpFile(language, name)).filter((file) => !placed.has(file));
  if (missing.length + lost.length > 0)
    throw new Error(
      `plan.ts of the documents: missing ${missing.join(", ") || "-"}, without a place ${lost.join(", ") || "-"}`,
    );
  const rest = files.filter((file) => !placed.has(file) && !isHelp(file) && file !== HOME && file !== VERSIONS);
  return [...named, { name: "development", parts: forDevelopers(rest) }];
}

export function isHelp(file: string): boolean {
  return file.startsWith("server/web/help/");
}

function namedSections(language: Language): Section[] {
  const setUp = help(language, "first-steps", "network", "connection", "import", "ranges", "updates", "backup");
  const devices = help(language, "new-devices", "silent-devices", "unknown-codes", "quality-control", "images");
  const daily = [
    ...help(language, "patients", "animals", "results", "flags", "placing", "orders"),
    ...help(language, "manual-study", "records", "calendar", "stock"),
  ];
  const guides = [
    ...help(language, "api-keys", "practice-software", "webhooks"),
    ...readmes("shared/client", "server/fhir", "server/import", "test/conformance"),
  ];
  const install = readmes(
    "shared/platform/package",
    "agent/config",
    "agent/devices",
    "agent/imaging",
    "server/network",
  );
  const run = [
    ...readmes("server", "server/cli", "agent/cli", "agent/doctor", "shared/platform/service"),
    ...readmes("server/operations", "server/operations/alerts"),
  ];
  const backup = readmes("shared/platform/care", "shared/platform/upgrade", "shared/platform/release");
  const security = [".github/SECURITY.md", ".github/THREATS.md", ...readmes("server/records/erasure")];
  return [
    {
      name: "clinic",
      parts: [
        { name: "setUp", files: setUp },
        { name: "devices", files: devices },
        { name: "daily", files: daily },
      ],
    },
    {
      name: "integration",
      parts: [
        { name: "references", files: [], references: REFERENCES },
        { name: "guides", files: guides },
      ],
    },
    {
      name: "operation",
      parts: [
        { name: "install", files: install },
        { name: "run", files: run },
        { name: "backup", files: backup },
        { name: "security", files: security },
      ],
    },
  ];
}

/** The files by their folder: contributing first, then the programs, tests and decisions. */
function forDevelopers(files: readonly string[]): Part[] {
  const below = (folder: string) => files.filter((file) => file.startsWith(folder));
  return [
    { name: "development", files: files.filter((file) => /^\.github\/\w+\.md$/.test(file)) },
    { name: "agent", files: below("agent/") },
    { name: "server", files: below("server/") },
    { name: "shared", files: below("shared/") },
    { name: "tests", files: below("test/") },
    { name: "decisions", files: below(".github/adr/") },
  ];
}
