import type { Collector } from "../../operations/span-export.ts";

const NAMES = { endpoint: "OTEL_EXPORTER_OTLP_ENDPOINT", headers: "OTEL_EXPORTER_OTLP_HEADERS" } as const;

/** Reads OpenTelemetry's own variables; null without an endpoint. @throws Error that quotes no value, since a header holds a key */
export function collectorOf(env: NodeJS.ProcessEnv): Collector | null {
  const text = env[NAMES.endpoint] ?? "";
  if (text === "") return null;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error(`invalid ${NAMES.endpoint}, expected a URL such as http://127.0.0.1:4318`);
  const headers = (env[NAMES.headers] ?? "").split(",").filter((pair) => pair.trim() !== "");
  return { endpoint: new URL(text), headers: Object.fromEntries(headers.map(headerOf)) };
}

/** Values are percent-encoded, as in W3C Baggage. */
function headerOf(pair: string): [name: string, value: string] {
  const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
  const decoded = decode(value ?? "");
  if (name === undefined || decoded === null || !/^[\t\x20-\x7e]*$/.test(decoded))
    throw new Error(
      `invalid ${NAMES.headers}, expected name=value pairs with commas between them, such as api-key=...`,
    );
  return [name.toLowerCase(), decoded];
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
