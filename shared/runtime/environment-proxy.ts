import http from "node:http";
import https from "node:https";

// The proxy of the environment: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in either case, as other programs read them.

/**
 * Sends the requests of this program through the environment's proxy, if it names one. A request with an agent of its own, or with
 * `agent: false`, stays direct: a webhook's address is checked before it connects, which a proxy would undo.
 */
export function useEnvironmentProxy(env: NodeJS.ProcessEnv = process.env): void {
  if (variable(env, "http_proxy") === null && variable(env, "https_proxy") === null) return;
  const options = { keepAlive: true, timeout: 5000, proxyEnv: env };
  http.globalAgent = new http.Agent(options);
  https.globalAgent = new https.Agent(options);
}

/** Returns the host and port of the proxy for a URL, without its password; null for a direct connection. */
export function proxyFor(url: URL, env: NodeJS.ProcessEnv = process.env): string | null {
  const proxy = variable(env, url.protocol === "https:" ? "https_proxy" : "http_proxy");
  if (proxy === null || isExempt(url, variable(env, "no_proxy") ?? "")) return null;
  return URL.canParse(proxy) ? new URL(proxy).host : proxy;
}

/** Whether NO_PROXY names the host: itself, with its port, a domain that it belongs to, or `*`. */
function isExempt({ hostname, host }: URL, list: string): boolean {
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((name) => name !== "")
    .some((name) => {
      const domain = name.replace(/^\*?\./, "");
      return name === "*" || name === hostname || name === host || (domain !== name && hostname.endsWith(`.${domain}`));
    });
}

function variable(env: NodeJS.ProcessEnv, name: string): string | null {
  return env[name] || env[name.toUpperCase()] || null;
}
