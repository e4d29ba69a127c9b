import type { TodayState } from "../../../dashboard/types/results/today.ts";
import { lazy } from "../../lazy.tsx";
import { Loaded, useResource } from "../../resource.tsx";
import { useInterval } from "../../use-interval.ts";
import { todayText } from "../../text.ts";
import { LeftOut } from "../../ui/list/left-out.tsx";
import { MovingRows } from "../../ui/list/moving-rows.tsx";
import { countNeeds, Later, Needs } from "./needs.tsx";
import { Newest } from "./newest.tsx";
import { TheDay } from "./the-day.tsx";
import { t } from "./texts.ts";
import "./today.css";

/** Interval of reloads: an agent that becomes silent changes no data. */
const REFRESH_MS = 60_000;

/** Only an admin of a new clinic needs them. */
const FirstSteps = lazy(async () => (await import("./first-steps.tsx")).FirstSteps);

/** Shows the work that waits for a person, and the newest results. */
export function Today() {
  const today = useResource<TodayState>("/today");
  useInterval(today.reload, REFRESH_MS);
  return (
    <Loaded of={today}>
      {(state) => (
        <>
          <Head count={countNeeds(state)} />
          <LeftOut count={state.left_out} />
          <div class="split">
            <div>
              <MovingRows>
                <Needs state={state} reload={today.reload} />
                {state.first_steps.length > 0 && <FirstSteps steps={state.first_steps} reload={today.reload} />}
                <Later state={state} reload={today.reload} />
              </MovingRows>
              <Newest results={state.newest} />
            </div>
            <TheDay orders={state.orders} silent={state.silent} />
          </div>
        </>
      )}
    </Loaded>
  );
}

function Head({ count }: { count: number }) {
  return (
    <div class="page-head">
      <div>
        <h1>{t("today")}</h1>
        <p data-testid={count === 0 ? "calm" : undefined}>
          {todayText()} · {count === 0 ? t("nothing") : t("needYou", { count })}
        </p>
      </div>
    </div>
  );
}
