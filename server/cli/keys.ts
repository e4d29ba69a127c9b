import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { parsePeriod } from "../../shared/platform/cli/options.ts";
import { printError, printJson, printLine, printTable, type Table } from "../../shared/platform/cli/output.ts";
import { syncFolder } from "../../shared/files/private-folder.ts";
import { createKey, type Permission, permissions, rollKey } from "../http/auth/api-keys.ts";
import type { KeyHolder } from "../dashboard/types/settings/keys.ts";
import { permissionWords } from "../http/auth/permission-words.ts";
import { type KeyDescription, listKeys, revokeKey } from "../records/clinics/keys.ts";
import { type ClinicOption, clinicOption, type DataOption, dataOption } from "./common/options.ts";
import { clinicIdOf, growingClinicId, loadStorePepper, withStore } from "./common/with-store.ts";

const createCommand = new Command("create")
  .description("create a key and print it, once")
  .addOption(clinicOption("clinic of the key").makeOptionMandatory())
  .requiredOption("--name <name>", "purpose of the key")
  .requiredOption("--permissions <list>", `some of ${permissionList()}`, parsePermissions)
  .addOption(
    new Option("--type <type>", "holder of the key")
      .choices(["integration", "device", "partner"])
      .default("integration"),
  )
  .option("--expires <period>", "lifetime of the key, such as 90d", parsePeriod)
  .option("--out <file>", "write the key to a new file that only its owner can read, in place of printing it")
  .addOption(dataOption())
  .action(create);

const listCommand = new Command("list")
  .description("list a clinic's keys")
  .addOption(clinicOption("clinic of the keys").makeOptionMandatory())
  .option("--json", "print JSON")
  .addOption(dataOption())
  .action(list);

const revokeCommand = new Command("revoke")
  .argument("<id>")
  .description("revoke a key immediately")
  .addOption(dataOption())
  .action(revoke);

const rollCommand = new Command("roll")
  .argument("<id>")
  .description("create the successor of a key and print it, once; the old key expires after the grace period")
  .requiredOption("--grace <period>", "remaining lifetime of the old key, such as 24h", parsePeriod)
  .option("--expires <period>", "lifetime of the new key; by default it expires when the old one would", parsePeriod)
  .addOption(dataOption())
  .action(roll);

export const keysCommand = new Command("keys")
  .description("API keys of the clinics")
  .addCommand(createCommand)
  .addCommand(listCommand)
  .addCommand(revokeCommand)
  .addCommand(rollCommand);

interface CreateOptions extends DataOption, ClinicOption {
  readonly out?: string;
  readonly name: string;
  readonly permissions: Permission[];
  readonly type: KeyHolder;
  readonly expires?: number;
}

async function create({ data, clinic, expires, out, ...described }: CreateOptions): Promise<void> {
  await withStore(data, async (store) => {
    const clinicId = await growingClinicId(store, clinic);
    const now = Date.now();
    const expiresAt = expires === undefined ? null : now + expires;
    const createNow = async () =>
      createKey(store, await loadStorePepper(store, data), { ...described, clinicId, now, expiresAt });
    if (out === undefined) return printLine(await createNow());
    // The file is opened first: without a place to write it to, no key is created.
    const file = openSync(out, "wx", 0o600);
    try {
      writeFileSync(file, `${await createNow()}\n`, { flush: true });
      syncFolder(dirname(out));
    } catch (error) {
      rmSync(out);
      throw error;
    } finally {
      closeSync(file);
    }
    printError(`the key is in ${out}, which its owner alone can read`);
  });
}

async function list({ data, clinic, json }: DataOption & ClinicOption & { json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    const keys = await listKeys(store, await clinicIdOf(store, clinic));
    if (json) printJson(keys);
    else await printTable(keyTable, keys);
  });
}

async function revoke(id: string, { data }: DataOption): Promise<void> {
  await withStore(data, async (store) => {
    const found = await store.transaction((session) => revokeKey(session, id, Date.now()));
    if (!found) throw new Error(`key ${id} does not exist, expected an id that keys list shows`);
    printLine(`${id} is revoked`);
  });
}

interface RollOptions extends DataOption {
  readonly grace: number;
  readonly expires?: number;
}

async function roll(publicId: string, { data, grace, expires }: RollOptions): Promise<void> {
  await withStore(data, async (store) => {
    const now = Date.now();
    const rolled = await rollKey(store, await loadStorePepper(store, data), {
      publicId,
      graceMs: grace,
      now,
      ...(expires !== undefined && { expiresAt: now + expires }),
    });
    // Scripts read the key from stdout, so the deadline goes to stderr.
    printLine(rolled.key);
    const until = rolled.expiresAt === null ? "never expires" : `expires ${new Date(rolled.expiresAt).toISOString()}`;
    printError(`${publicId} expires ${new Date(rolled.oldExpiresAt).toISOString()}, the new key ${until}`);
  });
}

const keyTable: Table<KeyDescription> = {
  head: ["ID", "KEY", "TYPE", "STATE", "USE", "PERMISSIONS", "NAME"],
  cells: (key) => {
    const used = key.last_used_at ? `last used ${key.last_used_at}` : "never used";
    return [key.id, key.key, key.type, validityText(key), used, key.permissions.join(","), key.name];
  },
};

function validityText({ revoked_at, expires_at }: KeyDescription): string {
  if (revoked_at !== null) return `revoked ${revoked_at}`;
  if (expires_at === null) return "active";
  return Date.parse(expires_at) > Date.now() ? `expires ${expires_at}` : `expired ${expires_at}`;
}

function permissionList(): string {
  return permissions.map((permission) => `${permission} (${permissionWords(permission)})`).join(", ");
}

function parsePermissions(text: string): Permission[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.filter((name) => !permissions.some((permission) => permission === name));
  if (unknown.length > 0) {
    throw new InvalidArgumentError(`${unknown.join(", ")} unknown, expected some of ${permissions.join(", ")}`);
  }
  return names as Permission[];
}
