import { expect, test } from "vitest";
import { messageRow } from "../../../../../agent/spool/queries/messages/message-row.ts";
import { openOperations } from "../../../../support/spool-operations.ts";

// Goal: a stored message that the disk changed is marked, and stops no other. The checksum is that of the message's own bytes.

const BYTES = new TextEncoder().encode("H|\\^&||GLU 5.2");
const message = { device: "chem-1", profile: "generic-astm", receivedAt: 1, incomplete: null, bytes: BYTES };

function openWithMessages() {
  const { db, spool } = openOperations();
  spool.addMessages(["a", "b"].map((id, ordinal) => messageRow({ ...message, id, session: 1, ordinal }, null)));
  return { db, read: () => spool.unprocessedMessages("chem-1", [1, 2]) };
}

test.each(["bytes = CAST(replace(bytes, '5.2', '9.2') AS BLOB)", "profile = 'generic-hl7'", "received_at = 2"])(
  "a message with a changed column is marked, and its neighbour is not (%s)",
  (change) => {
    const { db, read } = openWithMessages();
    db.exec(`UPDATE message SET ${change} WHERE id = 'a'`);
    expect(read().map(({ damage }) => damage)).toEqual([expect.stringContaining("damaged"), undefined]);
  },
);

test("control: without a checksum the change of a message is not seen", () => {
  const { db, read } = openWithMessages();
  db.exec("UPDATE message SET bytes = CAST(replace(bytes, '5.2', '9.2') AS BLOB), checksum = NULL WHERE id = 'a'");
  const [changed] = read();
  expect([changed?.damage, new TextDecoder().decode(changed?.bytes)]).toEqual([undefined, "H|\\^&||GLU 9.2"]);
});
