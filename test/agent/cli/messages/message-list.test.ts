import { describe, expect, test } from "vitest";
import { isWanted, MessageFeed, messageTable } from "../../../../agent/cli/messages/message-list.ts";
import type { MessageSummary } from "../../../../agent/spool/queries/messages/message-summaries.ts";
import type { MessageState } from "../../../../agent/spool/queries/messages/message-outcome.ts";
import { useSpool } from "../../../support/spool.ts";
import Database from "better-sqlite3";
import path from "node:path";

// Method: the test writes rows to a real spool while the feed reads them.

const used = useSpool();
let rows = 0;

function write(sql: string, ...values: readonly (string | number | null)[]): void {
  const db = new Database(path.join(used.folder, "spool.db"));
  db.prepare(sql).run(...values);
  db.close();
}

function add(id: string, state: MessageState, device = "chem-1"): void {
  rows += 1;
  write(
    "INSERT INTO message (id, session, ordinal, device, profile, received_at, bytes, state) VALUES (?, 1, ?, ?, 'p', ?, x'', ?)",
    id,
    rows,
    device,
    rows,
    state,
  );
}

const become = (id: string, state: MessageState) => write("UPDATE message SET state = ? WHERE id = ?", state, id);
const shown = (messages: readonly MessageSummary[]) => messages.map(({ id, state }) => [id, state]);

const message: MessageSummary = {
  id: "01M7Z5XWFP307N2DJXZ2RS60JG",
  device: "chem-1",
  received_at: "2026-11-21T07:00:30.000Z",
  state: "unmatched",
  reason: "no patient",
  study_fps: ["cds_01M7Z5XWFP307N2DJXZ2RS60JG"],
  sample_ids: ["S-77"],
};

describe("a message feed", () => {
  test("the feed returns every message once, and again when it leaves the state pending", () => {
    add("a", "filed");
    add("b", "pending");
    const feed = new MessageFeed(used.folder);
    expect(shown(feed.next())).toEqual([
      ["a", "filed"],
      ["b", "pending"],
    ]);
    expect(feed.next()).toEqual([]);
    add("c", "pending");
    expect(shown(feed.next())).toEqual([["c", "pending"]]);
    become("b", "filed");
    expect(shown(feed.next())).toEqual([["b", "filed"]]);
    become("c", "quarantined");
    add("d", "unmatched");
    expect(shown(feed.next())).toEqual([
      ["c", "quarantined"],
      ["d", "unmatched"],
    ]);
    expect(feed.next()).toEqual([]);
  });
});

describe("the message table", () => {
  test("the table has a header, times in the zone, and a device column as wide as the longest id", () => {
    const { header, row } = messageTable(["chem-1", "hematology"], "Europe/Istanbul");
    expect([header, row(message), row({ ...message, reason: null, study_fps: [], sample_ids: [] })]).toEqual([
      "received             message                     device      state             study                           sample      reason (times of Europe/Istanbul)",
      "2026-11-21 10:00:30  01M7Z5XWFP307N2DJXZ2RS60JG  chem-1      unmatched         cds_01M7Z5XWFP307N2DJXZ2RS60JG  S-77        no patient",
      "2026-11-21 10:00:30  01M7Z5XWFP307N2DJXZ2RS60JG  chem-1      unmatched         -                               -",
    ]);
  });

  test("the list is filtered by state, device and time of receipt", () => {
    const all = { states: [], devices: [], since: 0 };
    const at = Date.parse(message.received_at);
    const filters = [
      [all, true],
      [{ ...all, states: ["filed", "unmatched"] }, true],
      [{ ...all, states: ["filed"] }, false],
      [{ ...all, devices: ["chem-1"] }, true],
      [{ ...all, devices: ["chem-2"] }, false],
      [{ ...all, since: at }, true],
      [{ ...all, since: at + 1 }, false],
    ] as const;
    for (const [filter, wanted] of filters) expect([filter, isWanted(message, filter)]).toEqual([filter, wanted]);
  });
});
