import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type {
  DestinationAttempt,
  DestinationDelivery,
  DestinationPage,
  DestinationRow,
  DestinationTest,
} from "../../../../dashboard/types/settings/destinations.ts";
import { outcomeText } from "../../../../../shared/network/hl7-sender/outcome-words.ts";
import { isRefusal, refusalText } from "../../../../dashboard/types/refusals.ts";
import { call } from "../../../api.ts";
import { Loaded, Problem, useResource } from "../../../resource.tsx";
import { useInterval } from "../../../use-interval.ts";
import { clinicPath } from "../../../session.ts";
import { dateTime, language } from "../../../text.ts";
import { changesOf, formValues } from "../../../ui/form/form.ts";
import { useAction } from "../../../ui/form/use-action.ts";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { MovingRows } from "../../../ui/list/moving-rows.tsx";
import { SettingsFrame } from "../frame.tsx";
import { DestinationState, senderOf } from "./destinations.tsx";
import { OptionFields, optionsIn } from "./options.tsx";
import { t } from "./texts.ts";

/** Interval of reloads while something waits, in milliseconds. */
const LOOK_AGAIN_MS = 3000;

/** One destination with its queue. */
export function DestinationScreen() {
  return (
    <SettingsFrame part="destinations">
      <DestinationOfClinic />
    </SettingsFrame>
  );
}

function DestinationOfClinic() {
  const { id = "" } = useRoute().params;
  const page = useResource<DestinationPage>(`/destinations/${id}`);
  const reload = () => void page.reload();
  const isMoving = page.data !== undefined && page.data.waiting.length > 0;
  useInterval(reload, LOOK_AGAIN_MS, isMoving, id);
  return (
    <>
      <p>
        <a href="/dashboard/settings/destinations">{t("back")}</a>
      </p>
      <Loaded of={page}>
        {({ destination, waiting, parked }) => (
          <>
            <h2>{destination.name}</h2>
            <p class="quiet">
              {destination.address ?? t(destination.kind)}, {senderOf(destination)}
            </p>
            <p>
              <DestinationState of={destination} />
            </p>
            {destination.agent !== null && <p class="quiet">{t("ofAgent")}</p>}
            <Commands of={destination} reload={reload} />
            <MovingRows>
              <h2>{t("refusedHead")}</h2>
              <Refused of={destination} deliveries={parked} reload={reload} />
              <h2>{t("waitingHead")}</h2>
              <Waiting of={destination} deliveries={waiting} reload={reload} />
            </MovingRows>
            {destination.waiting > waiting.length && <p class="quiet">{t("queueShown")}</p>}
            {destination.agent === null && <Options of={destination} reload={reload} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function Commands({ of, reload }: { of: DestinationRow; reload: () => void }) {
  const { id, name, paused, removable } = of;
  const isOwn = of.agent === null;
  const { run, retry, error, isRunning } = useAction();
  const { route } = useLocation();
  const [tested, setTested] = useState<DestinationTest | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const path = `${clinicPath()}/destinations/${id}`;
  const test = async () => {
    setTested(null);
    await run(async () => setTested(await call<DestinationTest>("POST", `${path}/test`, {})));
  };
  const pause = async () => {
    await run(async () => call("POST", `${path}/pause`, { paused: !paused }));
    reload();
  };
  const remove = async () => {
    await call("POST", `${path}/delete`, {});
    route("/dashboard/settings/destinations");
  };
  return (
    <>
      <p class="actions" hidden={!isOwn && !removable}>
        {isOwn && (
          <>
            <button type="button" class="primary" disabled={isRunning} onClick={() => void test()}>
              {t("test")}
            </button>
            <button type="button" disabled={isRunning} onClick={() => void pause()}>
              {t(paused ? "resume" : "pause")}
            </button>
          </>
        )}
        {removable && (
          <button type="button" class="danger" disabled={isRunning} onClick={() => setRemoving(true)}>
            {t("remove")}
          </button>
        )}
      </p>
      <p role="status">
        {tested !== null && (tested.code === null ? t("testOpened") : wordsOf(tested.code, tested.text))}
      </p>
      {error !== undefined && <Problem error={error} retry={retry} />}
      {isRemoving && (
        <FormDialog
          title={t("removeTitle")}
          button={t("remove")}
          isDangerous
          act={remove}
          close={() => setRemoving(false)}
        >
          <p>{name}</p>
          <p>{t("removeWhy")}</p>
        </FormDialog>
      )}
    </>
  );
}

function Refused({
  of: { id },
  deliveries,
  reload,
}: {
  of: DestinationRow;
  deliveries: readonly DestinationDelivery[];
  reload: () => void;
}) {
  const { run, retry, error, isRunning } = useAction();
  const send = async (ids: readonly number[]) => {
    await run(async () => call("POST", `${clinicPath()}/destinations/${id}/again`, { deliveries: ids }));
    reload();
  };
  if (deliveries.length === 0) return <p>{t("noneRefused")}</p>;
  return (
    <>
      {error !== undefined && <Problem error={error} retry={retry} />}
      {deliveries.length > 1 && (
        <p class="actions">
          <button type="button" disabled={isRunning} onClick={() => void send(deliveries.map((each) => each.id))}>
            {t("againAll")}
          </button>
        </p>
      )}
      <Queue
        label={t("refusedHead")}
        deliveries={deliveries}
        action={{ word: t("again"), isFor: () => true, run: ({ id: delivery }) => void send([delivery]), isRunning }}
      />
    </>
  );
}

/** The results that wait. The first one blocks the rest until a person sets it aside. */
function Waiting({
  of: { id },
  deliveries,
  reload,
}: {
  of: DestinationRow;
  deliveries: readonly DestinationDelivery[];
  reload: () => void;
}) {
  const { run, retry, error, isRunning } = useAction();
  const setAside = async (delivery: number) => {
    await run(async () => call("POST", `${clinicPath()}/destinations/${id}/aside`, { delivery }));
    reload();
  };
  if (deliveries.length === 0) return <p>{t("noneWaiting")}</p>;
  return (
    <>
      {error !== undefined && <Problem error={error} retry={retry} />}
      <Queue
        label={t("waitingHead")}
        deliveries={deliveries}
        action={{
          ...{ word: t("setAside"), isRunning },
          isFor: (delivery) => delivery === deliveries[0] && delivery.state !== "sending",
          run: ({ id: delivery }) => void setAside(delivery),
        }}
      />
    </>
  );
}

interface QueueAction {
  readonly word: string;
  readonly isFor: (delivery: DestinationDelivery) => boolean;
  readonly run: (delivery: DestinationDelivery) => void;
  readonly isRunning: boolean;
}

function Queue({
  label,
  deliveries,
  action,
}: {
  label: string;
  deliveries: readonly DestinationDelivery[];
  action: QueueAction;
}) {
  return (
    <DataTable label={label} class="cards" columns={[t("result"), t("attempts"), t("actions")]}>
      {deliveries.map((delivery) => (
        <tr key={delivery.id}>
          <th scope="row">
            <a href={`/dashboard/results/${delivery.study_fp}`}>{dateTime(delivery.changed_at)}</a>
            <div class="quiet">{stateWords(delivery)}</div>
          </th>
          <td>
            <ol class="plain-list">
              {delivery.attempts.map((attempt) => (
                <li key={attempt.number}>
                  {t("attempt", {
                    number: attempt.number,
                    time: dateTime(attempt.at),
                    outcome: outcomeOf(attempt),
                  })}
                </li>
              ))}
            </ol>
          </td>
          <td>
            {action.isFor(delivery) && (
              <button type="button" disabled={action.isRunning} onClick={() => action.run(delivery)}>
                {action.word}
              </button>
            )}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function stateWords({ state, next_at, attempts: [last] }: DestinationDelivery): string {
  if (state === "parked") return last?.outcome === "refused" ? "" : t("wasSetAside");
  if (state === "retrying" && next_at !== null) return t("retrying", { time: dateTime(next_at) });
  return state === "new" || state === "sending" ? t(state) : "";
}

function outcomeOf({ code, text }: DestinationAttempt): string {
  return code === null ? t("underWay") : wordsOf(code, text);
}

/** The words of a code of the sender, or of the rule for addresses. */
function wordsOf(code: string, text: string | null): string {
  const reason = { code, values: [] };
  return isRefusal(reason) ? refusalText(reason, language.value) : outcomeText(code, text, language.value);
}

function Options({ of: { id, options }, reload }: { of: DestinationRow; reload: () => void }) {
  // The options as the form shows them: a save sends those that its user changed.
  const [opened, setOpened] = useState(options);
  const { run, retry, error, isRunning } = useAction();
  const [isSaved, setSaved] = useState(false);
  const save = async (event: SubmitEvent) => {
    const chosen = optionsIn(formValues(event));
    const isDone = await run(async () => {
      await call("PUT", `${clinicPath()}/destinations/${id}/options`, { options: changesOf(chosen, opened) });
      setOpened(chosen);
    });
    setSaved(isDone);
    reload();
  };
  return (
    <>
      <h2>{t("options")}</h2>
      <form onSubmit={(event) => void save(event)}>
        <OptionFields of={opened} />
        <p class="actions">
          <button type="submit" class="primary" disabled={isRunning}>
            {t("save")}
          </button>
        </p>
        <p role="status">{isSaved && t("saved")}</p>
        {error !== undefined && <Problem error={error} retry={retry} />}
      </form>
    </>
  );
}
