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
      help: "1: a wire is open",
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
      help: "Faults of device or line",
      labelNames: ["device"],
      registers,
    }),
    noise: new Counter({
      name: "vetwire_device_noise_bytes_total",
      help: "Bytes that belong to no message, by device",
      labelNames: ["device"],
      registers,
    }),
    pushed: new Counter({
      name: "vetwire_push_outcomes_total",
      help: "The server's answers, by outcome",
      labelNames: ["outcome"],
      registers,
    }),
    pushFailures: new Counter({
      name: "vetwire_push_failures_total",
      help: "Times the channel to the server broke",
      labelNames: ["kind"],
      registers,
    }),
    forwarded: new Counter({
      name: "vetwire_forwarded_total",
      help: "Images offered to other archives, by destination and outcome",
      labelNames: ["destination", "outcome"],
      registers,
    }),
    messages: new Gauge({
      name: "vetwire_messages",
      help: "Messages kept, by state",
      labelNames: ["state"],
      registers,
    }),
    outboxDepth: new Gauge({ name: "vetwire_outbox_depth", help: "Studies waiting for the server", registers }),
    outboxOldest: new Gauge({
      name: "vetwire_outbox_oldest_seconds",
      help: "Age of the study that waits longest; 0: none waits",
      registers,
    }),
  };
}
