import { isIP } from "node:net";
import type { NetworkRefusal, NetworkSetting } from "../dashboard/types/settings/network.ts";
import { isAddressRange } from "../../shared/network/network-address.ts";
import { certificateRefusal } from "./own-certificate.ts";
import { errorCode, errorMessage } from "../../shared/runtime/error-message.ts";

/** @returns why a setting cannot be used, before a port is opened; null if it may be. `mainPort` is open already. */
export function settingRefusal(setting: NetworkSetting, mainPort: number, now: number): NetworkRefusal | null {
  const port = "port" in setting ? setting.port : setting.way === "proxy" ? setting.listen?.port : undefined;
  if (port === mainPort) return { code: "port of this machine", got: String(port) };
  if (setting.way === "own certificate") return certificateRefusal(setting.chain, setting.key, now);
  if (setting.way !== "proxy") return null;
  const { url, proxies, listen } = setting;
  if (!/^https?:\/\/[^/?#\s]+$/.test(url) || !URL.canParse(url)) return { code: "wrong url", got: url };
  const wrong = proxies.find((range) => !isAddressRange(range));
  if (wrong !== undefined || proxies.length === 0) return { code: "wrong proxy", got: wrong ?? "" };
  return listen === null || isIP(listen.host) !== 0 ? null : { code: "no such address", got: listen.host };
}

/** Returns why a port could not be opened, or the setting could not be written. */
export function listenRefusal(
  error: unknown,
  { host = "", port }: { host?: string | undefined; port: number },
): NetworkRefusal {
  switch (errorCode(error)) {
    case "EADDRINUSE":
      return { code: "port in use", got: String(port) };
    case "EACCES":
    case "EPERM":
      return { code: "port not allowed", got: String(port) };
    case "EADDRNOTAVAIL":
      return { code: "no such address", got: host };
    default:
      return { code: "not saved", got: errorMessage(error) };
  }
}
