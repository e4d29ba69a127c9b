import { parse } from "yaml";
import { type Static } from "typebox";
import { X509Certificate } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { type Network, useNetwork } from "../../shared/network/client.ts";
import { environmentProxies, readProxyUrl } from "../../shared/network/proxy.ts";
import { readTextFile } from "../../shared/files/text-file.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { asObject, contentProblem, type ReportProblem } from "./values/problem-report.ts";
import { NetworkSchema } from "./values/schema.ts";
import { sentFileProblem } from "./values/sent-file.ts";
import { readSecret } from "./values/secret-file.ts";

// How the agent's requests leave the clinic: `proxy`, `proxyPasswordFile`, `noProxy` and `ca` of agent.yaml.

type NetworkKeys = Static<typeof NetworkSchema>;

const validator = compileLater(NetworkSchema);

const SOURCE = "proxy of agent.yaml";

/**
 * Applies the configured proxy and certificates to the requests of this process.
 * @throws Error if the certificates cannot be read
 */
export function useConfiguredNetwork(config: NetworkKeys): void {
  useNetwork(networkOf(config, process.env));
}

/**
 * Does so for a file that may be missing, or incomplete as before the pairing.
 * @throws Error if these keys are wrong
 */
export function useNetworkOfFile(file: string): void {
  if (!fs.existsSync(file)) return;
  const folder = path.dirname(file);
  const root = asObject(parse(readTextFile(file)));
  const wrong: string[] = [];
  networkProblems(root, folder, ([key], message) => wrong.push(`${key} ${message}`));
  if (!validator.Check(root)) wrong.push("proxy, proxyPasswordFile, noProxy or ca has a wrong type");
  else if (wrong.length === 0) return useConfiguredNetwork({ ...root, ...resolveNetworkFiles(root, folder) });
  throw new Error(`${file}: ${wrong.join("; ")}`);
}

/** `proxy` replaces the environment's proxies, `noProxy` and `ca` add to what the environment names. Paths are resolved. */
function networkOf({ proxy, proxyPasswordFile, noProxy = [], ca }: NetworkKeys, env: NodeJS.ProcessEnv): Network {
  const environment = environmentProxies(env);
  const except = [environment.except, ...noProxy].join(" ");
  const own = proxy === undefined ? null : { text: proxy, source: SOURCE };
  const password = proxyPasswordFile === undefined ? null : () => readSecret(proxyPasswordFile);
  const proxies = own === null ? { ...environment, except } : { http: own, https: own, except, password };
  return { proxies, ca: ca === undefined ? null : readAuthorities(ca) };
}

/** Resolves the paths against the folder of the configuration. */
export function resolveNetworkFiles({ proxyPasswordFile, ca }: NetworkKeys, folder: string): NetworkKeys {
  return {
    ...(proxyPasswordFile === undefined ? {} : { proxyPasswordFile: path.resolve(folder, proxyPasswordFile) }),
    ...(ca === undefined ? {} : { ca: path.resolve(folder, ca) }),
  };
}

/** Reports what the schema cannot express. No sentence quotes the address of the proxy, which may hold a password. */
export function networkProblems(root: Record<string, unknown>, folder: string, report: ReportProblem): void {
  const { proxy, proxyPasswordFile, ca } = root;
  if (typeof proxy === "string") {
    const fault = proxyFault(proxy, typeof proxyPasswordFile === "string");
    if (fault !== null) report(["proxy"], fault);
  }
  if (typeof proxyPasswordFile === "string") {
    const fault = proxy === undefined ? "needs proxy" : passwordFault(proxyPasswordFile, folder);
    if (fault !== null) report(["proxyPasswordFile"], fault);
  }
  if (typeof ca === "string") {
    const fault = contentProblem(path.resolve(folder, ca), readAuthorities);
    if (fault !== null) report(["ca"], fault);
  }
}

function proxyFault(text: string, hasPasswordFile: boolean): string | null {
  const url = readProxyUrl(text);
  if (typeof url === "string") return url;
  if (url.password !== "") return "holds a password, expected it alone in a file that proxyPasswordFile names";
  return hasPasswordFile && url.username === ""
    ? "names no user, expected such as http://user@proxy.example:3128"
    : null;
}

function passwordFault(name: string, folder: string): string | null {
  return sentFileProblem(name, folder) ?? contentProblem(path.resolve(folder, name), readSecret);
}

/** @throws Error for a file without a certificate in PEM */
function readAuthorities(file: string): string {
  const text = fs.readFileSync(file, "latin1");
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new Error("expected certificates in PEM (-----BEGIN CERTIFICATE-----), got none");
  for (const certificate of found) void new X509Certificate(certificate);
  return found.join("\n");
}
