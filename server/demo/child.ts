// Preloaded into the demo's server and agent: they end when the demo does, also when it was killed and could not say so.
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
process.channel?.unref();
