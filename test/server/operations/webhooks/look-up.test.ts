import type { LookupAddress } from "node:dns";
import { expect, test } from "vitest";
import { LookUps } from "../../../../server/operations/webhooks/look-up.ts";

const address = [{ address: "192.0.2.1", family: 4 }];

/** Look-ups of a system that ends each when the test says so. */
function world() {
  const begun: string[] = [];
  const ends = new Map<string, (found: LookupAddress[] | Error) => void>();
  const lookUps = new LookUps(
    async (host) =>
      new Promise((resolve, reject) => {
        begun.push(host);
        ends.set(host, (found) => (found instanceof Error ? reject(found) : resolve(found)));
      }),
  );
  return { begun, end: (host: string, found: LookupAddress[] | Error = address) => ends.get(host)?.(found), lookUps };
}

test("a name that hangs is looked up once, however many wait for it, and others pass", async () => {
  const { begun, end, lookUps } = world();
  const waiting = [1, 2, 3, 4].map(async () => lookUps.of("hangs.example"));
  const other = lookUps.of("clinic.example");
  end("clinic.example");
  expect(await other).toEqual(address);
  expect(begun).toEqual(["hangs.example", "clinic.example"]);
  end("hangs.example");
  expect(await Promise.all(waiting)).toEqual([address, address, address, address]);
  // A later request looks the name up anew.
  void lookUps.of("hangs.example");
  expect(begun).toEqual(["hangs.example", "clinic.example", "hangs.example"]);
});

test("names whose name servers are silent hold up no name that was found soon before", async () => {
  const { begun, end, lookUps } = world();
  const known = lookUps.of("clinic.example");
  end("clinic.example");
  await known;
  const silent = ["a", "b", "c", "d"].map(async (host) => lookUps.of(host));
  const again = lookUps.of("clinic.example");
  expect(begun).toEqual(["clinic.example", "a", "b", "clinic.example"]);
  end("clinic.example");
  expect(await again).toEqual(address);
  end("a");
  end("b");
  await expect.poll(() => begun.slice(4)).toEqual(["c", "d"]);
  end("c");
  end("d");
  await Promise.all(silent);
});

test("two names are looked up at a time, and a failure makes room for the next", async () => {
  const { begun, end, lookUps } = world();
  const all = ["a", "b", "c", "d", "e"].map(async (host) => lookUps.of(host).catch((error: Error) => error.message));
  expect(begun).toEqual(["a", "b"]);
  end("b", new Error("unknown"));
  await expect.poll(() => begun).toEqual(["a", "b", "c"]);
  end("c");
  await expect.poll(() => begun).toEqual(["a", "b", "c", "d"]);
  end("d");
  await expect.poll(() => begun).toEqual(["a", "b", "c", "d", "e"]);
  for (const host of ["a", "e"]) end(host);
  expect(await Promise.all(all)).toEqual([address, "unknown", address, address, address]);
});
