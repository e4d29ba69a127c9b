import { connectionShare } from "../../shared/files/descriptors.ts";

/**
 * The listeners of the agent share its descriptors: each device counts as one, and the page.
 * @returns the bound of each of the two groups of a device's listener (see OpenConnections), at most `most`
 */
export function connectionsOfGroup(devices: number, most: number): number {
  return Math.max(1, Math.floor(connectionShare(devices + 1, 2 * most) / 2));
}
