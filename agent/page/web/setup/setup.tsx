import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { SetupStep, SetupView } from "../../types/setup.ts";
import { call } from "../../../../server/web/api.ts";
import { Loaded, Problem, useLocal } from "../../../../server/web/resource.tsx";
import { useInterval } from "../../../../server/web/use-interval.ts";
import { useAction } from "../../../../server/web/ui/form/use-action.ts";
import { ChooseLine } from "./choose-line.tsx";
import { FirstResult } from "./first-result.tsx";
import { FolderFiles } from "./folder-files.tsx";
import { Heard } from "./heard.tsx";
import { Listening } from "./listening.tsx";
import { NameDevice } from "./name-device.tsx";
import type { Say } from "./say.ts";
import { Place, Server } from "./server.tsx";
import { t } from "./texts.ts";
import "./setup.css";

// The set-up: it shows the step that the agent is at, and sends the answers. The agent keeps the state, so a page that is loaded
// again goes on where it was.

/** Steps in which something arrives by itself. */
const LIVE: readonly SetupStep["at"][] = ["listening", "first"];
const LOOK_MS = 700;

export function SetUp() {
  const resource = useLocal<SetupView>("/setup");
  const { run, retry, error, isRunning } = useAction();
  const { route } = useLocation();
  const { data, reload } = resource;
  const isLive = data !== undefined && (data.isBusy || LIVE.includes(data.step.at));
  useInterval(reload, LOOK_MS, isLive, data?.turn);
  const say: Say = (answer) =>
    run(async () => {
      await call("POST", "/setup", { turn: data?.turn ?? 0, answer });
      await reload();
      if ("next" in answer && answer.next === "finish") route("/");
    });
  return (
    <>
      <h1>{t("setUp")}</h1>
      <Loaded of={resource}>
        {({ step, turn }) => (
          <section class="setup" key={turn} aria-busy={isRunning}>
            <Progress at={step.at} />
            <div class="card">
              <Step step={step} say={say} />
              {error !== undefined && <Problem error={error} retry={retry} />}
              {CAN_GO_BACK.includes(step.at) && (
                <p class="actions">
                  <button type="button" disabled={isRunning} onClick={() => void say({ to: "back" })}>
                    {t("back")}
                  </button>
                </p>
              )}
            </div>
          </section>
        )}
      </Loaded>
    </>
  );
}

/** The parts of the set-up, and the steps of each. */
const PARTS = [
  { name: "partServer", steps: ["server", "place"] },
  { name: "partListen", steps: ["line", "listening"] },
  { name: "partDevice", steps: ["heard", "folder", "device"] },
  { name: "partResult", steps: ["first"] },
] as const satisfies readonly { readonly steps: readonly SetupStep["at"][]; readonly name: string }[];

function Progress({ at }: { at: SetupStep["at"] }) {
  return (
    <ol class="setup-parts" aria-label={t("parts")}>
      {PARTS.map(({ name, steps }) => (
        <li key={name} aria-current={steps.some((step) => step === at) ? "step" : undefined}>
          {t(name)}
        </li>
      ))}
    </ol>
  );
}

const CAN_GO_BACK: readonly SetupStep["at"][] = ["place", "heard", "folder", "device"];

function Step({ step, say }: { step: SetupStep; say: Say }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // A new step is read out from its heading on.
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        {t(step.at === "folder" ? "heard" : step.at)}
      </h2>
      <StepBody step={step} say={say} />
    </>
  );
}

function StepBody({ step, say }: { step: SetupStep; say: Say }) {
  switch (step.at) {
    case "server":
      return <Server step={step} say={say} />;
    case "place":
      return <Place step={step} say={say} />;
    case "line":
      return <ChooseLine step={step} say={say} />;
    case "listening":
      return <Listening step={step} say={say} />;
    case "heard":
      return <Heard step={step} say={say} />;
    case "folder":
      return <FolderFiles step={step} say={say} />;
    case "device":
      return <NameDevice step={step} say={say} />;
    case "first":
      return <FirstResult step={step} say={say} />;
  }
}
