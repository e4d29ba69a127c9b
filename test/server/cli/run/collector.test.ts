import { expect, test } from "vitest";
import { collectorOf } from "../../../../server/cli/run/collector.ts";

const ENDPOINT = "http://127.0.0.1:4318";
const read = (endpoint: string | undefined, headers?: string) =>
  collectorOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers });

test("without an endpoint no span is sent", () => {
  expect([read(undefined), read("", "a=b")]).toEqual([null, null]);
});

test("headers are pairs with percent-encoded values", () => {
  expect(read(ENDPOINT)).toEqual({ endpoint: new URL(ENDPOINT), headers: {} });
  expect(read(ENDPOINT, " Api-Key = s3cret==,authorization=Basic%20YTpi%2Cx, ")?.headers).toEqual({
    "api-key": "s3cret==",
    authorization: "Basic YTpi,x",
  });
});

test.each(["secret", "=secret", "a b=secret", "a=secret%0d%0ab: c", "a=secret%zz", "a=secret\u20ac"])(
  "headers such as %j are refused without their value",
  (headers) => {
    const wanted =
      "invalid OTEL_EXPORTER_OTLP_HEADERS, expected name=value pairs with commas between them, such as api-key=...";
    expect(() => read(ENDPOINT, headers)).toThrow(new Error(wanted));
  },
);

test.each(["127.0.0.1:4318", "grpc://127.0.0.1:4317", "x"])("the endpoint %s is refused", (endpoint) => {
  expect(() => read(endpoint)).toThrow("invalid OTEL_EXPORTER_OTLP_ENDPOINT, expected a URL such as");
});
