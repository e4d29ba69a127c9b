import { useEffect } from "preact/hooks";
import type { TodayState } from "../../../dashboard/types/results/today.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { LeftOut } from "../../ui/list/left-out.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { Needs, OpenOrders } from "./needs.tsx";
import { Newest } from "./newest.tsx";
import { t } from "./texts.ts";
import "./today.css";

/** Interval of reloads: an agent that becomes silent changes no data. */
const REFRESH_MS = 60_000;

/** Shows the work that waits for a person, and the newest results. */
export function Today() {
  const today = useResource<TodayState>("/today");
  useEffect(() => {
    const timer = setInterval(() => void today.reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <h1>{t("today")}</h1>
      <Loaded of={today}>
        {(state) => (
          <>
            <LeftOut count={state.left_out} />
            <FirstSteps steps={state.first_steps} reload={today.reload} />
            <Needs state={state} reload={today.reload} />
            <OpenOrders orders={state.orders} />
            <Newest results={state.newest} />
          </>
        )}
      </Loaded>
    </>
  );
}
