import { expect, test } from "vitest";
import type { Config } from "../../../agent/config/values/schema.ts";
import type { Announcement, Connection } from "../../../agent/connection/connection.ts";
import { awaitDirective, Directives, placeDirective } from "../../../agent/connection/device-commands.ts";
import { until } from "../../support/machine/processes.ts";
import { useSpool } from "../../support/spool.ts";

// Goal: a directive from the command line reaches the connection, and its outcome comes back.

const used = useSpool();

const config = () =>
  ({
    data: used.folder,
    devices: [
      { id: "poc-1", profile: "generic-poct1a", connection: { listen: "127.0.0.1:0" } },
      { id: "chem-1", profile: "generic-astm", connection: { listen: "127.0.0.1:0" } },
    ],
  }) as unknown as Config;

/** Adds a connection that records its announcements. */
function serve(directives: Directives) {
  const announced: Announcement[] = [];
  directives.add("poc-1", { announce: (one: Announcement) => void announced.push(one) } as unknown as Connection);
  return announced;
}

test("a directive is announced once, and its outcome reaches the waiting command", async () => {
  const directives = new Directives(used.spool);
  const announced = serve(directives);
  await directives.check();
  expect(announced).toEqual([]);
  const placed = placeDirective(config(), "poc-1", "LOCK");
  await directives.check();
  await directives.check();
  expect(announced.map(({ message }) => Buffer.from(message).toString())).toEqual([
    '<DTV.R01><DTV><DTV.command_cd V="LOCK"/></DTV></DTV.R01>',
  ]);
  expect(await awaitDirective(used.folder, placed, 0)).toMatchObject({ state: "waiting" });
  announced[0]!.refused("escape OTH");
  expect(await awaitDirective(used.folder, placed, 5_000)).toEqual({
    ...placed,
    state: "refused",
    reason: "escape OTH",
  });
  await directives.check();
  expect(announced).toHaveLength(1);
});

test("a restart announces a waiting directive again and an accepted one not", async () => {
  placeDirective(config(), "poc-1", "LOCK");
  await new Directives(used.spool).check(); // an agent that stops before it announces
  const directives = new Directives(used.spool);
  const announced = serve(directives);
  await directives.check();
  expect(announced).toHaveLength(1);
  announced[0]!.sent();
  await until("it is noted", async () => (await used.spool.call("deviceCommandOf", "poc-1"))?.state === "taken");
  const later = new Directives(used.spool);
  const again = serve(later);
  await later.check();
  expect(again).toEqual([]);
});

test("the outcome of an older directive does not change a newer one", async () => {
  const directives = new Directives(used.spool);
  const announced = serve(directives);
  placeDirective(config(), "poc-1", "LOCK");
  await directives.check();
  const unlock = placeDirective(config(), "poc-1", "UNLOCK");
  announced[0]!.sent();
  await directives.check();
  expect(announced).toHaveLength(2);
  expect(await used.spool.call("deviceCommandOf", "poc-1")).toEqual(unlock);
});

test.each([
  ["poc-2", "--device is poc-2, did you mean poc-1?"],
  ["chem-1", "--device is chem-1, whose profile generic-astm cannot be locked: only POCT1-A devices can"],
])("a directive for %s is refused with the reason", (device, sentence) => {
  expect(() => placeDirective(config(), device, "LOCK")).toThrow(sentence);
});
