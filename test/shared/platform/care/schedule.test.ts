import { expect, test } from "vitest";
import type { BackupAttempt } from "../../../../shared/platform/care/backup-state.ts";
import { backupName, isBackupName, isDue } from "../../../../shared/platform/care/schedule.ts";

/** A time of this machine on 21 November. */
const local = (time: string, day = 21) => new Date(`2026-11-${day}T${time}:00`).getTime();

function attempt(at: number, error: string | null = null): BackupAttempt {
  return { at: new Date(at).toISOString(), file: "f", seconds: 1, bytes: error === null ? 10 : null, error };
}

const made = (at: number) => ({ last: attempt(at), succeeded: attempt(at) });

test.each([
  ["the first one immediately", null, local("12:00"), true],
  ["not before its time", made(local("03:31", 20)), local("03:29"), false],
  ["at its time", made(local("03:31", 20)), local("03:30"), true],
  ["not twice", made(local("03:30")), local("23:59"), false],
  ["in the morning, if the machine was off at night", made(local("03:30", 19)), local("08:05"), true],
  ["an hour after a failure", { last: attempt(local("03:30"), "full"), succeeded: null }, local("04:30"), true],
  ["not sooner after a failure", { last: attempt(local("03:30"), "full"), succeeded: null }, local("04:29"), false],
  [
    "although the clock was a month ahead at the last one",
    made(local("03:30") + 30 * 86_400_000),
    local("12:00"),
    true,
  ],
  ["not again if the clock was set back a little", made(local("03:30")), local("03:29"), false],
])("a daily backup is made: %s", (_title, state, now, expected) => {
  expect(isDue(now, "03:30", state)).toBe(expected);
});

test("the name of a backup has program, machine and time, and no other file has such a name", () => {
  const name = backupName("agent", "front desk.local", Date.UTC(2026, 10, 21, 3, 30));
  expect(name).toBe("vetwire-agent-front_desk_local-2026-11-21T03-30-00Z.backup");
  expect(isBackupName(name)).toBe(true);
  expect(["holiday.jpg", `${name}.partial`, "before-upgrade.backup"].filter(isBackupName)).toEqual([]);
});
