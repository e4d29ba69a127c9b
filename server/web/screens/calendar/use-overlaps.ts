import { useEffect, useState } from "preact/hooks";
import type { EventCheck, ListedEvent, PlannedEvent } from "../../../dashboard/types/calendar.ts";
import { call, RequestError } from "../../api.ts";
import { clinicPath } from "../../session.ts";

const CHOOSING_MS = 200;

/** Other events at the time of a planned one. Null if it has no time yet. */
export function useOverlaps(planned: PlannedEvent | null): {
  readonly shown: readonly ListedEvent[];
  /** Asks, unless the shown ones are those of the plan. @returns whether one appeared that the user has not seen */
  readonly hasUnseen: () => Promise<boolean>;
} {
  const plan = planned === null ? null : JSON.stringify(planned);
  const [found, setFound] = useState<{ plan: string; overlaps: readonly ListedEvent[] }>();
  const ask = async (): Promise<readonly ListedEvent[]> => {
    if (plan === null) return [];
    const { overlaps } = await call<EventCheck>("POST", `${clinicPath()}/calendar/check`, JSON.parse(plan));
    setFound({ plan, overlaps });
    return overlaps;
  };
  useEffect(() => {
    const timer = setTimeout(() => {
      ask().catch((failed: unknown) => {
        // Saving asks again, and shows why there is no response.
        if (!(failed instanceof RequestError)) throw failed;
      });
    }, CHOOSING_MS);
    return () => clearTimeout(timer);
  }, [plan]);
  const shown = found !== undefined && found.plan === plan ? found.overlaps : [];
  return { shown, hasUnseen: async () => found?.plan !== plan && (await ask()).length > 0 };
}
