import { expect, test } from "vitest";
import {
  explainRejection,
  negotiate,
  type ScpOptions,
} from "../../../../../agent/protocols/dicom/network/negotiation.ts";
import { encodeAssociateRequest } from "../../../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { Scp } from "../../../../../agent/protocols/dicom/network/scp.ts";
import {
  associateRequest,
  CR_STORAGE,
  EXPLICIT,
  IMPLICIT,
  JPEG,
  VERIFICATION,
} from "../../../../support/protocols/dicom.ts";
import { MODALITY_WORKLIST } from "../../../../../agent/protocols/dicom/uids.ts";

const options: ScpOptions = { aeTitle: "VETWIRE", callingAeTitles: ["DX1"], admits: () => true };

function negotiated(...proposed: readonly (readonly [string, ...string[]])[]) {
  const response = negotiate(associateRequest(proposed), options);
  return "contexts" in response ? response.contexts : response;
}

test.each([
  ["verification", VERIFICATION, "acceptance"],
  ["a storage class", "1.2.840.10008.5.1.4.1.1.3.1", "acceptance"],
  ["a storage class with another prefix", "1.2.840.10008.5.1.4.34.7", "acceptance"],
  ["a private class", "1.3.12.2.1107.5.9.1", "acceptance"],
  ["query", "1.2.840.10008.5.1.4.1.2.1.1", "abstract-syntax"],
  ["an invalid UID", "../../x", "abstract-syntax"],
])("a proposed context for %s is negotiated", (_, abstractSyntax, result) => {
  expect(negotiated([abstractSyntax, JPEG, IMPLICIT])).toEqual([
    { id: 1, result, transferSyntax: result === "acceptance" ? JPEG : IMPLICIT },
  ]);
});

test("an invalid transfer syntax is skipped", () => {
  expect(negotiated([CR_STORAGE, "x", "1.2.3"], [CR_STORAGE, "x"])).toEqual([
    { id: 1, result: "acceptance", transferSyntax: "1.2.3" },
    { id: 3, result: "transfer-syntaxes", transferSyntax: IMPLICIT },
  ]);
});

test("a worklist context needs a transfer syntax without compression", () => {
  expect(negotiated([MODALITY_WORKLIST, JPEG, EXPLICIT], [MODALITY_WORKLIST, JPEG])).toEqual([
    { id: 1, result: "acceptance", transferSyntax: EXPLICIT },
    { id: 3, result: "transfer-syntaxes", transferSyntax: IMPLICIT },
  ]);
});

test.each<[string, Partial<Parameters<typeof associateRequest>[1]>, Partial<ScpOptions>, object]>([
  ["another called AE title", { calledAe: "OTHER" }, {}, { result: 1, source: 1, reason: 7 }],
  ["another calling AE title", { callingAe: "DX2" }, {}, { result: 1, source: 1, reason: 3 }],
  ["one association too many", {}, { admits: () => false }, { result: 2, source: 3, reason: 2 }],
])("a request with %s is rejected", (_, request, own, reject) => {
  const proposed = associateRequest([[VERIFICATION, IMPLICIT]], request);
  expect(negotiate(proposed, { ...options, ...own })).toEqual(reject);
});

test.each<[string, object, string | null]>([
  ["another called AE title", { calledAe: "vetwire" }, 'it called "vetwire", this device is "VETWIRE"'],
  ["another calling AE title", { callingAe: "dx1" }, 'it is "dx1", expected "DX1" or "DX2"'],
])("a rejection of %s names both titles", (_, request, explanation) => {
  const proposed = associateRequest([[VERIFICATION, IMPLICIT]], request);
  const own = { ...options, callingAeTitles: ["DX1", "DX2"] };
  const reject = negotiate(proposed, own);
  expect("result" in reject && explainRejection(proposed, reject, own)).toBe(explanation);
  const scp = new Scp(own);
  const over = scp.receive(encodeAssociateRequest(proposed)).find((action) => action.do === "over");
  expect(over?.do === "over" ? over.reason : null).toContain(`AE title not recognized: ${explanation}`);
});

test("a rejection for want of room needs no titles", () => {
  const proposed = associateRequest([[VERIFICATION, IMPLICIT]]);
  expect(explainRejection(proposed, { result: 2, source: 3, reason: 2 }, options)).toBeNull();
});
