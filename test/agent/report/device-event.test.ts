import path from "node:path";
import { expect, test } from "vitest";
import { profileById } from "../../../agent/devices/index.ts";
import { replay } from "../../../agent/tools/offline/replay.ts";
import { recordings } from "../../support/fixtures.ts";
import { context } from "../records.ts";

test("x", () => {
  const all = recordings
    .map(({ name, bytes }) => {
      const profile = profileById(path.dirname(name));
      if (profile === undefined) return [name, "no profile"];
      const { messages } = replay([bytes], profile, context, null);
      return [
        name,
        ...messages.flatMap(({ reading }) =>
          (reading.events ?? []).map((e) => [e.event, e.subject, e.lot, e.expires, e.text, e.at, e.count].join("|")),
        ),
      ];
    })
    .filter((x) => x.length > 1);
  console.log(JSON.stringify(all, null, 1));
});
