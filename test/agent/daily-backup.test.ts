import fs from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { backupSource, configFiles } from "../../agent/backup-source.ts";
import { startDailyBackup } from "../../agent/daily-backup.ts";
import { backupLine, retentionLines } from "../../agent/cli/common/care-text.ts";
import { checkConfig } from "../../agent/config/check.ts";
import type { Config } from "../../agent/config/values/schema.ts";
import { OwnProfiles } from "../../agent/devices/own/own-profiles.ts";
import { shippedForm } from "../../agent/devices/table/load.ts";
import { heartbeatTask } from "../../agent/push/heartbeat.ts";
import type { Spool } from "../../agent/spool/spool.ts";
import { createMetrics } from "../../agent/status/metrics.ts";
import type { Heartbeat } from "../../shared/api/study.ts";
import { recordBackup } from "../../shared/platform/care/backup-state.ts";
import { temporaryFolder } from "../support/machine/processes.ts";

const at = "2026-11-21T03:30:00.000Z";
const local = new Date(at).toLocaleString("sv-SE");
const made = { at, file: "/media/backup/b", seconds: 12, bytes: 1_400_000_000, error: null };
const failed = { ...made, at: "2026-11-22T03:30:00.000Z", bytes: null, error: "the disk is full: make room there" };

function configured(settings: object): Config {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  fs.mkdirSync(path.join(folder, "data"));
  const connection = { listen: "127.0.0.1:0" };
  const text = JSON.stringify({
    server: { url: "http://127.0.0.1:1", keyFile: "agent.key" },
    data: "data",
    timeZone: "UTC",
    devices: [{ id: "chem-1", profile: "generic-astm", connection }],
    ...settings,
  });
  const checked = checkConfig(text, folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  return { ...checked.config, file: path.join(folder, "agent.yaml") };
}

test("agent.yaml names folder, time and number of the backups, and the log file", () => {
  const config = configured({ backup: { folder: "backups" }, log: { file: "agent.log", maxMegabytes: 0.5 } });
  const folder = path.dirname(config.file ?? "");
  expect(config.backup).toEqual({ folder: path.join(folder, "backups"), at: "03:30", keep: 7, images: false });
  expect(config.log).toEqual({ file: path.join(folder, "agent.log"), bytesMax: 500_000, keep: 5 });
  expect(() => configured({ backup: { folder: "backups", at: "3 pm" } })).toThrow("backup.at");
});

test("a backup has agent.yaml and the files of its folder, and lists the others", () => {
  const config = configured({});
  const elsewhere = { ...config, server: { ...config.server, keyFile: "/etc/vetwire/agent.key" } };
  expect(backupSource(config, false).files.map(({ name }) => name)).toEqual(["config/agent.yaml", "config/agent.key"]);
  expect(backupSource(config, true).images?.folder).toBe("images");
  expect(configFiles(elsewhere)).toEqual({ inside: [config.file], outside: ["/etc/vetwire/agent.key"] });
});

test("a backup has the own profile that a device is pinned to, where a restore puts it back", () => {
  const profile = "own/generic-astm@2";
  const config = configured({});
  const form = { ...shippedForm("generic-astm")!, profile: "own/generic-astm" };
  for (const revision of [1, 2]) new OwnProfiles(config.data).put({ ...form, revision });
  const devices = config.devices.map((device) => ({ ...device, profile }));
  const names = backupSource({ ...config, devices }, false).files.map(({ name }) => name);
  expect(names).toEqual(["config/agent.yaml", "config/agent.key", "config/data/profiles/own/generic-astm/2.yaml"]);
});

test("metrics and heartbeat report the last failure and the last success", async () => {
  const config = configured({ backup: { folder: "backups" } });
  recordBackup(config.data, made);
  recordBackup(config.data, failed);
  const metrics = createMetrics();
  const backup = startDailyBackup(config, metrics, pino({ enabled: false }));
  onTestFinished(() => backup.stop());
  const text = await metrics.registry.metrics();
  expect(text.split("\n").filter((line) => line.startsWith("vetwire_backup"))).toEqual([
    `vetwire_backup_success_timestamp_seconds ${Date.parse(at) / 1000}`,
    "vetwire_backup_failed 1",
    "vetwire_backup_bytes 1400000000",
    "vetwire_backup_seconds 12",
  ]);

  const sent: Heartbeat[] = [];
  const answers: Readonly<Record<string, unknown>> = {
    outbox: { depth: 0, oldestAt: null, reason: null },
    getMeta: null,
  };
  const spool = { call: (name: string) => Promise.resolve(name in answers ? answers[name] : []) };
  const server = { post: (_: string, body: Heartbeat) => Promise.resolve(sent.push(body)) };
  const agent = {
    config,
    version: "1",
    startedAt: 0,
    devices: [],
    remote: null,
    backupState: () => backup.state(),
  };
  await heartbeatTask({ ...agent, spool: spool as unknown as Spool, server: server as never })();
  const { error } = failed;
  expect(sent[0]?.backup).toEqual({ at: failed.at, succeeded_at: at, bytes: made.bytes, error });
});

test("status describes the backups in words", () => {
  expect(backupLine(null, false)).toBe("backups: none are scheduled, add backup: { folder: ... } to agent.yaml");
  expect(backupLine(null, true)).toBe("backups: none yet, the first is made within minutes of the start");
  expect(backupLine({ last: made, succeeded: made }, true)).toBe(
    `backups: the last is of ${local}, 1.4 GB, /media/backup/b`,
  );
  const failedAt = new Date(failed.at).toLocaleString("sv-SE");
  expect(backupLine({ last: failed, succeeded: null }, true)).toBe(
    `BACKUP FAILED ${failedAt}: the disk is full: make room there; none was made so far`,
  );
});

test("status shows how long messages stay, and when the oldest is removed", () => {
  const counts = { kept_days: 30, bytes: 2_500_000, settled: 40 };
  expect(retentionLines({ ...counts, unsettled: 2, next_removal_at: at })).toEqual([
    `messages stay 30 days: 40 settled, 2.5 MB in the spool; the oldest is removed from ${local} on`,
    "2 unmatched or quarantined messages stay until they are settled",
  ]);
  expect(retentionLines({ ...counts, unsettled: 0, next_removal_at: null })).toHaveLength(1);
});
