import { pipeline } from "node:stream/promises";
import { Command, Option } from "commander";
import { parseTime } from "../../shared/platform/cli/options.ts";
import { listRows } from "../records/audit/audit.ts";
import { findKeyById } from "../records/clinics/keys.ts";
import type { Store } from "../database/store.ts";
import { type AuditFormat, auditFormats, auditLines } from "./audit-log.ts";
import { clinicOption, type DataOption, dataOption } from "./common/options.ts";
import { textChunks } from "./common/text-chunks.ts";
import { clinicIdOf, withStore } from "./common/with-store.ts";

export const auditCommand = new Command("audit")
  .description("print each request with its key or its user, the oldest first")
  .option("--since <time>", "from then on, such as 24h ago or 2026-11-21T09:30:00Z", parseTime)
  .option("--until <time>", "before then", parseTime)
  .addOption(clinicOption("only requests with the clinic's keys and of its users"))
  .addOption(new Option("--key <id>", "only requests with the key").conflicts("clinic"))
  .addOption(new Option("--format <format>", "output format").choices(auditFormats).default("text"))
  .addOption(new Option("--json", "print a JSON object a line").implies({ format: "json" }))
  .addOption(dataOption())
  .action(printAudit);

interface AuditOptions extends DataOption {
  readonly since?: number;
  readonly until?: number;
  readonly clinic?: string;
  readonly key?: string;
  readonly format: AuditFormat;
}

async function printAudit({ data, clinic, key, since, until, format }: AuditOptions): Promise<void> {
  await withStore(data, async (store) => {
    const rows = listRows(store, {
      since: since ?? 0,
      until: until ?? Number.MAX_SAFE_INTEGER,
      ...(clinic !== undefined && { clinicId: await clinicIdOf(store, clinic) }),
      ...(key !== undefined && { keyId: await keyIdOf(store, key) }),
    });
    await pipeline(textChunks(auditLines(rows, format)), process.stdout);
  });
}

async function keyIdOf(store: Store, publicId: string): Promise<number> {
  const key = await findKeyById(store, publicId);
  if (key === undefined) throw new Error(`key ${publicId} does not exist, expected an id that keys list shows`);
  return key.id;
}
