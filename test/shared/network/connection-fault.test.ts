import { expect, test } from "vitest";
import { connectionFault, isUnreached } from "../../../shared/network/connection-fault.ts";

const fault = (code: string, message = "") => Object.assign(new Error(message), { code });

test.each<[Error, string, boolean]>([
  [fault("ENETUNREACH"), "there is no way there (ENETUNREACH)", true],
  [fault("ECONNRESET", "read ECONNRESET"), "the connection broke off (ECONNRESET)", false],
  [fault("EPROTO", "406D6C6EC07F0000:error:0A00010B:SSL routines"), "no TLS is spoken there (EPROTO)", false],
  [fault("HPE_INVALID_CONSTANT", "Parse Error"), "no HTTP is spoken there (HPE_INVALID_CONSTANT)", false],
  [fault("CERT_HAS_EXPIRED", "certificate has expired"), "certificate has expired (CERT_HAS_EXPIRED)", false],
  [
    Object.assign(new AggregateError([fault("EACCES", "connect EACCES 10.0.0.5:80")]), { code: "EACCES" }),
    "connect EACCES 10.0.0.5:80 (EACCES)",
    false,
  ],
  [new DOMException("no transfer within 5 s", "TimeoutError"), "no transfer within 5 s", false],
])("%o is told as %s", (error, words, unreached) => {
  expect([connectionFault(error), isUnreached(error)]).toEqual([words, unreached]);
});
