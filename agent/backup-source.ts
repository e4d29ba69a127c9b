import path from "node:path";
import type { BackupSource } from "../shared/platform/care/backup.ts";
import { CONFIG_PREFIX, type RestoreTarget } from "../shared/platform/care/restore.ts";
import { VERSION } from "../shared/files/program-files.ts";
import { namedFiles } from "./config/named-files.ts";
import type { Config } from "./config/values/schema.ts";
import { IMAGES_FOLDER } from "./imaging/files/image-folder.ts";
import { SCHEMA_VERSION } from "./spool/thread/schema.ts";

// The parts of an agent that a backup holds, and their places at a restore.

const DATABASE = "spool.db";
const IMAGE_FILES = "SELECT message || '.dcm' FROM instance";

/** The spool, agent.yaml and the files that it names, and the images if they are wanted. */
export function backupSource(config: Config, images: boolean): BackupSource {
  return {
    program: "agent",
    version: VERSION,
    schema: SCHEMA_VERSION,
    folder: config.data,
    database: DATABASE,
    files: configFiles(config).inside.map((file) => ({ name: memberName(config, file), path: file })),
    images: images
      ? { folder: IMAGES_FOLDER, query: `${IMAGE_FILES} WHERE removed_at IS NULL ORDER BY message` }
      : null,
  };
}

/** The configuration and its files. A restore writes into the folder of the configuration alone. */
export function configFiles(config: Config): { readonly inside: string[]; readonly outside: string[] } {
  const { file } = config;
  if (file === undefined) return { inside: [], outside: [] };
  const files = [file, ...namedFiles(config)];
  const isInside = (each: string) => each.startsWith(path.dirname(file) + path.sep);
  return { inside: files.filter(isInside), outside: files.filter((each) => !isInside(each)) };
}

function memberName({ file = "" }: Config, each: string): string {
  return CONFIG_PREFIX + path.relative(path.dirname(file), each).replaceAll(path.sep, "/");
}

export const AGENT_BACKUP = { program: "agent", schema: SCHEMA_VERSION, database: DATABASE } as const;

export function restoreTarget(folder: string): RestoreTarget {
  const images = { folder: IMAGES_FOLDER, query: IMAGE_FILES };
  return { ...AGENT_BACKUP, folder, files: [], images };
}
