import type { Session } from "../../database/query.ts";
import type { DeviceControls } from "./marks.ts";

export function deviceControls(
  _session: Session,
  _clinicId: number,
  _deviceId: string,
): Promise<DeviceControls | null> {
  return Promise.resolve(null);
}
