import type { Platform, Release } from "./stage.ts";

export interface PackOrder {
  readonly program: "agent" | "server";
  readonly platform: Platform;
  readonly release: Release;
  /** The program's folder, laid out for the platform. It is not changed. */
  readonly staged: string;
  /** An empty folder for drafts. */
  readonly work: string;
  /** The folder of the finished packages. */
  readonly out: string;
  /** The files that sign a package of Windows; null for one without a signature. */
  readonly authenticode: { readonly certificate: string; readonly key: string } | null;
}

/** Makes one package and returns its file. The same order gives the same bytes. */
export type Pack = (order: PackOrder) => Promise<string>;
