import { type ChildProcess, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { ROOT } from "../support/machine/processes.ts";

/** Starts the server from the build, which may call receivers in the local network. It ends with the test. */
export async function startBuiltServer(
  data: string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ child: ChildProcess; address: string }> {
  const command = ["dist/server/main.js", "run", "--port", "0", "--allow-private-webhooks", "--data", data];
  const child = spawn(process.execPath, command, {
    ...{ cwd: ROOT, env: { ...process.env, ...env } },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let log = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    log += String(chunk);
    const address = /listening on (http:[^"]+)/.exec(log)?.[1];
    if (address === undefined) continue;
    child.stdout.resume();
    return { child, address };
  }
  throw new Error(`the server ended: ${log}`);
}
