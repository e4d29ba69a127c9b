import { expect, test } from "vitest";
import { judgeLimit, openFiles } from "../../../../agent/doctor/machine/open-files.ts";
import { descriptorLimit } from "../../../../shared/files/descriptors.ts";

test("a low limit of the service is a warning that names the service, the limit and the remedy", () => {
  const found = judgeLimit(5, 128, "the service vetwire-agent");
  expect([found.status, found.id]).toEqual(["warning", "files.few"]);
  expect(found.sentence).toMatch(
    /^the service vetwire-agent may have 128 open files, which leaves each listener \d+ connections$/,
  );
  expect(found.remedy).toBe("raise ulimit -n, or LimitNOFILE of the service");
});

test.each([null, 4_096])("a limit of %s is enough for five devices", (limit) => {
  expect(judgeLimit(5, limit, "this command").status).toBe("ok");
});

test("a configuration with problems is not checked", async () => {
  const facts = { config: null } as Parameters<typeof openFiles.run>[0];
  expect((await openFiles.run(facts)).map(({ status }) => status)).toEqual(["skipped"]);
});

test.runIf(process.platform === "linux")(
  "the limit of another process is known, and that of an ended one is not",
  () => {
    expect(descriptorLimit(process.ppid)).toBeGreaterThan(0);
    expect(descriptorLimit(2 ** 30)).toBeNull();
  },
);
