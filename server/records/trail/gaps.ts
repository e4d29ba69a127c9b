import type { TimeLineEvent, TrailGap } from "../../dashboard/types/results/results.ts";

/** Returns what a time line cannot show of the way of a study. */
export function gapsIn(events: readonly TimeLineEvent[]): TrailGap[] {
  const revisions = events.flatMap((event) => (event.kind === "revision" ? [event] : []));
  const received = new Map(events.flatMap((event) => (event.kind === "received" ? [[event.revision, event.at]] : [])));
  return [
    ...revisions.flatMap(({ revision, cause, at }, index): TrailGap[] => {
      const before = revisions[index - 1]?.revision ?? 0;
      const receipt = received.get(revision);
      return [
        ...(revision > before + 1 ? [{ code: "REVISION_MISSING", revision: revision - 1 } as const] : []),
        ...(cause === "pushed" && receipt === undefined ? [{ code: "NO_RECEIPT", revision } as const] : []),
        ...(receipt !== undefined && receipt > at ? [{ code: "CLOCKS_DISAGREE", revision } as const] : []),
      ];
    }),
    ...events.flatMap((event): TrailGap[] =>
      (event.kind === "delivery" || event.kind === "handed") && event.ended_at === null
        ? [{ code: "NO_END", attempt: event.attempt }]
        : [],
    ),
  ];
}
