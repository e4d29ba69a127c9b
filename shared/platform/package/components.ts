import fs from "node:fs";
import path from "node:path";

// Lists the packages of others that a package of ours carries, each as its lock file has it.

/** A package of npm. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** An SPDX identifier or expression; null if only the text of its license names it. */
  readonly license: string | null;
  /** The hash of its archive in base64, as in the lock file: `sha512-...` */
  readonly integrity: string;
  /** Its licenses as published. Empty if the package has no file of them. */
  readonly licenseTexts: readonly string[];
  /** The address of its sources; "" if it names none. */
  readonly sources: string;
}

/** The part of package-lock.json that is read: each package by its folder. */
export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Description {
  readonly name: string;
  readonly version: string;
  readonly license?: string | { readonly type: string };
  readonly licenses?: readonly { readonly type: string }[];
  readonly repository?: string | { readonly url: string };
}

/** Returns the folder of the npm package that a file belongs to, such as `node_modules/pg`; null for our own file. */
export function packageOf(file: string): string | null {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/[^/]+|[^@/][^/]*)(?=\/)/.exec(file)?.[0] ?? null;
}

export function readLock(root: string): Lock {
  return JSON.parse(fs.readFileSync(path.join(root, "package-lock.json"), "utf8")) as Lock;
}

/** Returns the folders of the named packages and of all that they depend on, as Node resolves them. */
export function withDependencies({ packages }: Lock, names: readonly string[]): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const folder = path.posix.join(from, "node_modules", name);
    const locked = packages[folder];
    if (locked === undefined) {
      if (from === "") throw new Error(`the lock file has no ${name}`);
      visit(name, from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/"))));
      return;
    }
    if (found.has(folder)) return;
    found.add(folder);
    for (const each of Object.keys(locked.dependencies ?? {})) visit(each, folder);
  };
  for (const name of names) visit(name, "");
  return [...found];
}

/** Reads the packages in `folders`. The folders are relative to `root`, which has the lock file. One version is one component. */
export function componentsIn(root: string, folders: Iterable<string>): Component[] {
  const lock = readLock(root);
  return [...new Set(folders)].map((folder) => {
    const description = JSON.parse(fs.readFileSync(path.join(root, folder, "package.json"), "utf8")) as Description;
    const { name, version } = description;
    const locked = lock.packages[folder];
    if (locked?.integrity === undefined || locked.version !== version)
      throw new Error(`${folder}: the lock file has ${locked?.version ?? "no version"}, not ${version}: run npm ci`);
    const [license, texts] = [licenseOf(description), licenseTexts(path.join(root, folder))];
    if (license === null && texts.length === 0)
      throw new Error(`${name} has no license: ask its authors for one, or leave the package out`);
    return {
      ...{ name, version, integrity: locked.integrity },
      license,
      licenseTexts: texts,
      sources: sourcesOf(description),
    };
  });
}

/** Joins lists of components in the order of their names. A version that is in several lists is there once. */
export function joined(...lists: readonly (readonly Component[])[]): Component[] {
  const byVersion = new Map(lists.flat().map((each) => [`${each.name}@${each.version}`, each]));
  return [...byVersion].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, component]) => component);
}

function licenseOf({ license, licenses }: Description): string | null {
  const one = typeof license === "object" ? license.type : license;
  return one ?? licenses?.map(({ type }) => type).join(" OR ") ?? null;
}

function licenseTexts(folder: string): string[] {
  return fs
    .readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file) && fs.statSync(path.join(folder, file)).isFile())
    .toSorted()
    .map((file) => fs.readFileSync(path.join(folder, file), "utf8").replaceAll("\r\n", "\n").trim());
}

function sourcesOf({ repository }: Description): string {
  const url = typeof repository === "object" ? repository.url : (repository ?? "");
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(url)?.[1];
  return short === undefined ? url.replace(/^git\+/, "").replace(/^git:/, "https:") : `https://github.com/${short}`;
}
