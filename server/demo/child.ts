// Preloaded into the demo's server and agent, so that they end with the demo, even if it is killed.
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
process.channel?.unref();
