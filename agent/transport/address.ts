export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Parses `host:port`, `[v6]:port`, or a port of the loopback address. @returns null for any other text */
export function parseAddress(text: string): Address | null {
  const match = /^(?:(?:\[([^\]]+)\]|([^:\s]+)):)?(\d{1,5})$/.exec(text);
  if (match === null) return null;
  const port = Number(match[3]);
  return port > 65_535 ? null : { host: match[1] ?? match[2] ?? "127.0.0.1", port };
}
