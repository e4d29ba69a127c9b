import { refusal } from "../../../../server/dashboard/types/refusals.ts";
import { describe, expect, test } from "vitest";
import {
  amendmentProblem,
  signedAtProblem,
  soapChangeProblem,
  soapStatusProblem,
} from "../../../../server/records/soap/soap-rules.ts";
import type { SoapStatus } from "../../../../shared/api/soap.ts";

describe("a SOAP record", () => {
  const statuses = ["DRAFT", "IN_PROGRESS", "SIGNED", "LOCKED"] as const;

  test("a record advances one status, skips none and never returns", () => {
    const allowed = statuses.flatMap((from) =>
      statuses.filter((to) => soapStatusProblem(from, to) === null).map((to) => `${from} ${to}`),
    );
    expect(allowed).toEqual(["DRAFT IN_PROGRESS", "IN_PROGRESS SIGNED", "SIGNED LOCKED"]);
    expect(soapStatusProblem("DRAFT", "SIGNED")).toEqual(refusal("SOAP.STATUS", "SIGNED", "DRAFT", "IN_PROGRESS"));
    expect(soapStatusProblem("LOCKED", "DRAFT")).toEqual(refusal("SOAP.FINAL", "DRAFT", "LOCKED"));
  });

  test("a signed record keeps its content, and the step to LOCKED changes no content", () => {
    const table: [SoapStatus, SoapStatus, string[], boolean][] = [
      ["DRAFT", "DRAFT", ["plan"], true],
      ["DRAFT", "IN_PROGRESS", ["plan"], true],
      ["IN_PROGRESS", "SIGNED", ["plan", "signed_at"], true],
      ["SIGNED", "SIGNED", [], true],
      ["SIGNED", "SIGNED", ["plan"], false],
      ["SIGNED", "LOCKED", [], true],
      ["SIGNED", "LOCKED", ["plan"], false],
      ["LOCKED", "LOCKED", [], true],
      ["LOCKED", "LOCKED", ["plan"], false],
      ["LOCKED", "SIGNED", [], false],
      ["SIGNED", "IN_PROGRESS", ["signed_at"], false],
    ];
    for (const [from, to, differing, allowed] of table) {
      expect([from, to, differing, soapChangeProblem(from, to, differing) === null]).toEqual([
        from,
        to,
        differing,
        allowed,
      ]);
    }
    expect(soapChangeProblem("SIGNED", "SIGNED", ["plan", "objective"])).toEqual(
      refusal("SOAP.SIGNED", "SIGNED", "plan", "objective"),
    );
  });

  test("a record has signed_at from SIGNED on", () => {
    for (const status of statuses) {
      const signed = status === "SIGNED" || status === "LOCKED";
      expect(signedAtProblem({ status, signed_at: "2026-11-01T09:00:00.000Z" }) === null).toBe(signed);
      expect(signedAtProblem({ status, signed_at: null }) === null).toBe(!signed);
    }
  });

  test("an amendment needs a signed record of the same patient, other than itself", () => {
    const amendment = { fp: "a", patientId: 1 };
    for (const status of statuses) {
      const allowed = amendmentProblem(amendment, { fp: "b", patientId: 1, status }) === null;
      expect([status, allowed]).toEqual([status, status === "SIGNED" || status === "LOCKED"]);
    }
    expect(amendmentProblem(amendment, { fp: "b", patientId: 2, status: "SIGNED" })).toEqual(
      refusal("SOAP.AMENDS_OTHER", "b"),
    );
    expect(amendmentProblem(amendment, { fp: "a", patientId: 1, status: "SIGNED" })).toEqual(
      refusal("SOAP.AMENDS_ITSELF"),
    );
  });
});
