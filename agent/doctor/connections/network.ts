import fs from "node:fs";
import { currentProxy } from "../../../shared/network/client.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { urlOfDestination } from "../../config/values/destination.ts";
import { useConfiguredNetwork } from "../../config/network.ts";
import type { Config } from "../../config/values/schema.ts";
import { configCheck } from "../check/check.ts";
import { ok, problem, warning } from "../check/finding.ts";

/** Names the proxy of each target, and the further authorities. The later checks take the same way. */
export const network = configCheck("network", "Way out of the network", (config) => {
  useConfiguredNetwork(config);
  return [...targetsOf(config).map(wayOf), ...extraAuthorities(config)];
});

function targetsOf({ server, destinations }: Config): readonly { readonly name: string; readonly url: string }[] {
  const archives = destinations.flatMap((destination) => {
    const url = urlOfDestination(destination);
    return url === null ? [] : [{ name: destination.id, url }];
  });
  return [{ name: "the server", url: server.url }, ...archives];
}

function wayOf({ name, url: text }: { readonly name: string; readonly url: string }): Finding {
  const url = new URL(text);
  try {
    const proxy = currentProxy(url);
    if (proxy === null) return ok("network.direct", `requests to ${name}, ${url.host}, go there directly`);
    return ok(
      "network.proxy",
      `requests to ${name}, ${url.host}, go through the proxy ${proxy.name} (${proxy.source})`,
    );
  } catch (error) {
    return problem("network.setting", errorMessage(error), "correct the address of the proxy, or remove it");
  }
}

function extraAuthorities({ ca }: Config): Finding[] {
  const extra = process.env["NODE_EXTRA_CA_CERTS"] ?? "";
  const named = [ca, extra].filter((file) => file !== undefined && file !== "");
  const found =
    named.length === 0 ? [] : [ok("network.authorities", `also trusted: the certificates of ${named.join(", ")}`)];
  // Node warns once at its start, and goes on without the file.
  if (extra === "" || fs.existsSync(extra)) return found;
  return [
    warning("network.no-authorities", `NODE_EXTRA_CA_CERTS names ${extra}, which does not exist`, "correct the name"),
  ];
}
