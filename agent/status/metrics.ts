import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

export type Metrics = ReturnType<typeof createMetrics>;

/** Bounds in seconds of the classes of a group commit. */
const COMMIT_BUCKETS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers });
  return {
    registry,
    commits: new Histogram({
      name: "vetwire_spool_commit_seconds",
      help: "Time of one group commit, fsync included",
      buckets: COMMIT_BUCKETS,
      registers,
    }),
    connected: gauge("vetwire_device_connected", "1 while a wire is open", "device"),
    received: counter("vetwire_device_messages_total", "Messages stored, by device", "device"),
    warnings: counter("vetwire_device_warnings_total", "Faults of the device or its line", "device"),
    noise: counter("vetwire_device_noise_bytes_total", "Bytes outside any message, by device", "device"),
    pushed: counter("vetwire_push_outcomes_total", "Pushed studies, by outcome", "outcome"),
    pushFailures: counter("vetwire_push_failures_total", "Failures of the push to the server, by kind", "kind"),
    forwarded: counter(
      "vetwire_forwarded_total",
      "Images sent to other archives, by destination and outcome",
      "destination",
      "outcome",
    ),
    messages: gauge("vetwire_messages", "Stored messages, by state", "state"),
    outboxDepth: gauge("vetwire_outbox_depth", "Studies waiting for the server"),
    outboxOldest: gauge("vetwire_outbox_oldest_seconds", "Age of the oldest study that waits; 0 if none waits"),
    qualityWaiting: gauge("vetwire_quality_records_waiting", "Control runs and device events waiting for the server"),
    backupSucceeded: gauge(
      "vetwire_backup_success_timestamp_seconds",
      "Time of the last successful backup, in seconds since 1970; 0 before the first",
    ),
    backupFailed: gauge("vetwire_backup_failed", "1 if the last backup failed"),
    backupBytes: gauge("vetwire_backup_bytes", "Size of the last backup"),
    backupSeconds: gauge("vetwire_backup_seconds", "Duration of the last backup"),
  };
}
