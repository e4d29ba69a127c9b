import { expect, test } from "vitest";
import { pairingFault } from "../../../agent/push/faults.ts";
import { SendError, type SendFault } from "../../../agent/runtime/send-error.ts";

const NOW = new Date("2026-11-28T10:00:00.000Z");

test.each([
  ["CERT_HAS_EXPIRED", /^the server's certificate is not valid at this PC's time, 2026-11-28T10:00:00\.000Z/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", /^the server's certificate is for another name/],
  ["SELF_SIGNED_CERT_IN_CHAIN", /^this PC does not know the authority of the server's certificate/],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /^this PC does not know the authority of the server's certificate/],
  ["ECONNREFUSED", /^the server cannot be reached: .* then try again with the same code$/],
])("a pairing that fails with %s has a remedy", (code, expected) => {
  const cause = Object.assign(new Error("words of the library"), { code });
  const fault = pairingFault(new SendError("transient", "the server cannot be reached", { cause }), "https://x", NOW);
  expect([fault.answer, fault.message]).toEqual(["server", expect.stringMatching(expected)]);
});

test.each<[SendFault, RegExp]>([
  ["SPEAKS_TLS", /^words$/],
  ["NO_TLS", /^words$/],
  ["TOO_LONG", /^another program than a Vetwire server answered/],
])("a pairing that fails with %s is explained by that code, whatever the words", (fault, expected) => {
  const { answer, message } = pairingFault(new SendError("uncertain", "words", { fault }), "https://x", NOW);
  expect([answer, message]).toEqual(["server", expect.stringMatching(expected)]);
});
