import type { ControlledDevice, QualityBody, ShownSeries } from "../../../dashboard/types/quality.ts";

// The device and the series that the address names. What it leaves out is chosen: first a series that needs a person, then the
// one with the latest control.

type Query = Readonly<Partial<Record<"device" | "analyte" | "level" | "lot", string>>>;

export interface Choice {
  readonly device: ControlledDevice;
  /** Null for a device that has no control yet. */
  readonly series: ShownSeries | null;
}

/** @returns null without a device */
export function chosenOf({ devices, out_of_use: outOfUse }: QualityBody, query: Query): Choice | null {
  const inUse = devices.filter(({ device_id }) => !outOfUse.includes(device_id));
  const device =
    devices.find(({ device_id }) => device_id === query.device) ?? bestDevice(inUse) ?? bestDevice(devices);
  if (device === undefined) return null;
  const fits = device.series.filter(
    ({ analyte, level, lot }) =>
      analyte === (query.analyte ?? analyte) && level === (query.level ?? level) && lot === (query.lot ?? lot),
  );
  // A level or lot that the chosen analyte lacks is dropped before the analyte is.
  const near = fits.length > 0 ? fits : device.series.filter(({ analyte }) => analyte === query.analyte);
  return { device, series: best(near) ?? best(device.series) ?? null };
}

function bestDevice(devices: readonly ControlledDevice[]): ControlledDevice | undefined {
  return (
    devices.find(({ series }) => series.some(({ unexplained }) => unexplained > 0)) ??
    devices.find(({ series }) => series.length > 0) ??
    devices[0]
  );
}

function best(series: readonly ShownSeries[]): ShownSeries | undefined {
  return series.toSorted(
    (one, other) =>
      other.unexplained - one.unexplained ||
      (other.last_at ?? "").localeCompare(one.last_at ?? "") ||
      one.analyte.localeCompare(other.analyte) ||
      one.level.localeCompare(other.level),
  )[0];
}

/** The address of a series, with each of its names. */
export function addressOf({ device_id, analyte, level, lot }: ShownSeries): string {
  return `/dashboard/quality?${new URLSearchParams({ device: device_id, analyte, level, lot })}`;
}
