import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DeviceActivity } from "../../../agent/spool/device-activity.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

describe("a pause", () => {
  function startPause(activity: DeviceActivity): { isOver: boolean } {
    const pause = { isOver: false };
    void activity.pause().then(() => (pause.isOver = true));
    return pause;
  }

  test("a pause is over immediately if no device has sent data", async () => {
    const pause = startPause(new DeviceActivity());
    await vi.advanceTimersByTimeAsync(0);
    expect(pause.isOver).toBe(true);
  });

  test("a pause waits for the next event of an active device and 2 ms of silence after it", async () => {
    const activity = new DeviceActivity();
    activity.note("chem-1");
    await vi.advanceTimersByTimeAsync(10);
    const pause = startPause(activity);
    await vi.advanceTimersByTimeAsync(10);
    expect(pause.isOver).toBe(false);
    activity.note("chem-1");
    await vi.advanceTimersByTimeAsync(1);
    expect(pause.isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(pause.isOver).toBe(true);
  });

  test("a pause waits at most 25 ms for a device that sends nothing more, or sends all the time", async () => {
    const silent = new DeviceActivity();
    silent.note("chem-1");
    const busy = new DeviceActivity();
    busy.note("chem-2");
    const pauses = [startPause(silent), startPause(busy)];
    for (let ms = 0; ms < 24; ms++) {
      await vi.advanceTimersByTimeAsync(1);
      busy.note("chem-2");
    }
    expect(pauses).toEqual([{ isOver: false }, { isOver: false }]);
    await vi.advanceTimersByTimeAsync(1);
    expect(pauses).toEqual([{ isOver: true }, { isOver: true }]);
  });
});

describe("the number of busy devices", () => {
  test("the number of busy devices counts each device of the last period once", () => {
    const activity = new DeviceActivity();
    vi.advanceTimersByTime(1_000);
    for (const device of ["chem-1", "chem-2", "chem-1"]) activity.note(device);
    expect(activity.busyDevices).toBe(0);
    vi.advanceTimersByTime(100);
    activity.note("chem-1");
    expect(activity.busyDevices).toBe(2);
    vi.advanceTimersByTime(100);
    activity.note("chem-1");
    expect(activity.busyDevices).toBe(1);
  });

  test("the number of busy devices is 0 after a silence of one period", () => {
    const activity = new DeviceActivity();
    vi.advanceTimersByTime(1_000);
    activity.note("chem-1");
    vi.advanceTimersByTime(200);
    activity.note("chem-1");
    expect(activity.busyDevices).toBe(0);
  });
});
