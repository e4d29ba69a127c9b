import type { Platform, Release } from "./stage.ts";

/** One package to make. */
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
}

/** Makes one package and returns its file. The same order gives the same bytes. */
export type Pack = (order: PackOrder) => Promise<string>;
