import { expect, test } from "vitest";
import { signedHeaders } from "../../../../../agent/imaging/archive/s3/signed-request.ts";
import { S3_KEY } from "../../../../support/peers/s3-server.ts";

// The examples of the S3 API reference, "Signature Calculations for the Authorization Header: Transferring Payload in a Single
// Chunk". Its example with a Range header is left out: the signer leaves that header unsigned, which the protocol allows.

const AT = new Date("2013-05-24T00:00:00Z");

test.each([
  ["GET", "/?lifecycle", "", {}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"],
  ["GET", "/?max-keys=2&prefix=J", "", {}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"],
  [
    "PUT",
    "/test$file.text",
    "Welcome to Amazon S3.",
    { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
] as const)("%s %s has the signature of the S3 API reference", async (method, path, text, headers, signature) => {
  const url = new URL(path, "https://examplebucket.s3.amazonaws.com");
  const target = { accessKeyId: S3_KEY.accessKeyId, region: "us-east-1" };
  const signed = await signedHeaders(target, S3_KEY.secret, url, { method, headers, body: Buffer.from(text) }, AT);
  expect(signed["authorization"]).toMatch(new RegExp(`Signature=${signature}$`));
});
