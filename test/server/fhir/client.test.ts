import type { AddressInfo } from "node:net";
import type { Bundle, DiagnosticReport } from "fhir/r4.js";
import { Client } from "fhir-kit-client";
import { expect, test } from "vitest";
import { idOf } from "../../../server/fhir/resources/ids.ts";
import { faultsOf } from "../../support/clinic/fhir.ts";
import { bird, dog, first, named, startPractice } from "./practice.ts";

// A client of somebody else, over a real socket.

test("a FHIR client reads the statement, walks a search by its links, and resolves what it finds", async () => {
  const { server, key } = await startPractice();
  await server.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = server.app.server.address() as AddressInfo;
  const client = new Client({ baseUrl: `http://127.0.0.1:${port}/fhir/R4`, bearerToken: key });

  expect(await client.capabilityStatement()).toMatchObject({
    resourceType: "CapabilityStatement",
    fhirVersion: "4.0.1",
  });
  const report = (await client.read({
    resourceType: "DiagnosticReport",
    id: idOf(first),
  })) as unknown as DiagnosticReport;
  expect(report.presentedForm?.[0]?.url).toBe(`http://127.0.0.1:${port}/api/v1/lab/diagnostics/${first}/report.pdf`);
  const subject = await client.resolve({ reference: report.subject?.reference ?? "" });
  expect(subject).toMatchObject({ resourceType: "Patient", id: idOf(dog.fp) });

  const seen: string[] = [];
  let page = (await client.search({ resourceType: "Patient", searchParams: { _count: 1 } })) as unknown as
    | Bundle
    | undefined;
  for (
    ;
    page !== undefined;
    page = (await client.nextPage({ bundle: page as never })) as unknown as Bundle | undefined
  ) {
    expect(faultsOf(page)).toEqual([]);
    seen.push(...named(page));
  }
  expect(seen.toSorted()).toEqual([`Patient/${idOf(dog.fp)}`, `Patient/${idOf(bird.fp)}`].toSorted());

  const missing = client.read({ resourceType: "Patient", id: "patient-x" });
  await expect(missing).rejects.toMatchObject({
    response: { status: 404, data: { resourceType: "OperationOutcome", issue: [{ code: "not-found" }] } },
  });
});
