import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    commits: new Histogram({
      name: "vetwire_spool_commit_seconds",
      help: "Time of one group commit, fsync included",
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
      registers,
    }),
    connected: new Gauge({
      name: "vetwire_device_connected",
      help: "1 while a wire is open",
      labelNames: ["device"],
      registers,
    }),
    received: new Counter({
      name: "vetwire_device_messages_total",
      help: "Messages stored, by device",
      labelNames: ["device"],
      registers,
    }),
    warnings: new Counter({
      name: "vetwire_device_warnings_total",
      help: "Faults of the device or its line",
      labelNames: ["device"],
      registers,
    }),
    noise: new Counter({
      name: "vetwire_device_noise_bytes_total",
      help: "Bytes outside any message, by device",
      labelNames: ["device"],
      registers,
    }),
    pushed: new Counter({
      name: "vetwire_push_outcomes_total",
      help: "Pushed studies, by outcome",
      labelNames: ["outcome"],
      registers,
    }),
    pushFailures: new Counter({
      name: "vetwire_push_failures_total",
      help: "Failures of the push to the server, by kind",
      labelNames: ["kind"],
      registers,
    }),
    forwarded: new Counter({
      name: "vetwire_forwarded_total",
      help: "Images sent to other archives, by destination and outcome",
      labelNames: ["destination", "outcome"],
      registers,
    }),
    messages: new Gauge({
      name: "vetwire_messages",
      help: "Stored messages, by state",
      labelNames: ["state"],
      registers,
    }),
    outboxDepth: new Gauge({ name: "vetwire_outbox_depth", help: "Studies waiting for the server", registers }),
    outboxOldest: new Gauge({
      name: "vetwire_outbox_oldest_seconds",
      help: "Age of the oldest study that waits; 0 if none waits",
      registers,
    }),
    backupSucceeded: new Gauge({
      name: "vetwire_backup_success_timestamp_seconds",
      help: "Time of the last backup that was made, in seconds since 1970; 0 if there was none",
      registers,
    }),
    backupFailed: new Gauge({
      name: "vetwire_backup_failed",
      help: "1 if the last backup failed",
      registers,
    }),
    backupBytes: new Gauge({ name: "vetwire_backup_bytes", help: "Size of the last backup", registers }),
    backupSeconds: new Gauge({ name: "vetwire_backup_seconds", help: "Duration of the last backup", registers }),
  };
}
