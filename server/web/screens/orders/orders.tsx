import { useLocation } from "preact-iso";
import { useEffect, useRef, useState } from "preact/hooks";
import type {
  ChargeBody,
  ListedOrder,
  OrderAttach,
  OrdersBody,
  OrderState,
  UnorderedStudy,
} from "../../../dashboard/types/orders.ts";
import { call } from "../../api.ts";
import { Empty, Loaded, Problem, useResource } from "../../resource.tsx";
import { useInterval } from "../../use-interval.ts";
import { clinicPath, may } from "../../session.ts";
import { dateTime } from "../../text.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Badge } from "../../ui/status/badge.tsx";
import type { IconName } from "../../ui/status/icon.tsx";
import { State, type Tone } from "../../ui/status/status-card.tsx";
import { studyWord } from "../../ui/words/study-word.ts";
import { shortTime } from "../../ui/words/words.ts";
import { Attach } from "./attach.tsx";
import { Label } from "./label.tsx";
import { OrderTests } from "./order-form.tsx";
import { stateName, t } from "./texts.ts";
import "../../ui/list/list-bar.css";
import "./orders.css";

/** The states of each tab of the list. */
const TABS = {
  open: ["ordered", "offered", "in progress", "not run"],
  done: ["resulted"],
  cancelledOnes: ["cancelled"],
} as const satisfies Record<string, readonly OrderState[]>;
type Tab = keyof typeof TABS;

function isIn(tab: Tab, state: OrderState): boolean {
  return (TABS[tab] as readonly OrderState[]).includes(state);
}

/** An order that nobody ran counts as such after a time, without a change of data. */
const RELOAD_MS = 60_000;

/** The orders of the clinic by state, and results that nobody ordered. `?new` in the address opens the form of a new order. */
export function Orders() {
  const list = useResource<OrdersBody>("/orders");
  const { query, route } = useLocation();
  const show = (search: string) => route(`/dashboard/orders${search}`, true);
  useInterval(list.reload, RELOAD_MS);
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t("orders")}</h1>
          {list.data !== undefined && <p>{sumOf(list.data)}</p>}
        </div>
        {may("staff") && (
          <button type="button" class="primary" onClick={() => show("?new")}>
            {t("order")}
          </button>
        )}
      </div>
      <Loaded of={list}>
        {(body) => (
          <>
            <OrderList orders={body.orders} hours={body.not_run_hours} reload={list.reload} />
            <WithoutOrder body={body} reload={list.reload} />
          </>
        )}
      </Loaded>
      {query["new"] !== undefined && <OrderTests close={() => show("")} />}
    </>
  );
}

function OrderList({
  orders,
  hours,
  reload,
}: {
  orders: readonly ListedOrder[];
  hours: number;
  reload: () => Promise<void>;
}) {
  const [tab, setTab] = useState<Tab>("open");
  const ofTab = (wanted: Tab) => orders.filter(({ state }) => isIn(wanted, state));
  const shown = ofTab(tab);
  return (
    <>
      <div class="list-bar" role="group" aria-label={t("shown")}>
        {(Object.keys(TABS) as Tab[]).map((each) => (
          <button key={each} type="button" class="chip" aria-pressed={each === tab} onClick={() => setTab(each)}>
            {t(each)} {ofTab(each).length}
          </button>
        ))}
      </div>
      {shown.length === 0 ? (
        <Empty title={t("none")}>{t("noneNext")}</Empty>
      ) : (
        <div class="card flush">
          <DataTable
            label={t("orders")}
            columns={[t("ordered"), t("animal"), t("tests"), t("sample"), t("state"), t("next")]}
            class="cards order-list"
          >
            {shown.map((order) => (
              <OrderRow key={order.fp} order={order} hours={hours} reload={reload} />
            ))}
          </DataTable>
          {tab === "open" && <p class="card-foot">{t("states", { hours })}</p>}
        </div>
      )}
    </>
  );
}

function OrderRow({ order, hours, reload }: { order: ListedOrder; hours: number; reload: () => Promise<void> }) {
  const [opened, open] = useState<"label" | "cancel" | "detach" | null>(null);
  const { accession, state, patient, panel, tests, missing, device, by, studies, attached } = order;
  const [study] = studies;
  const isOpen = isIn("open", state);
  return (
    <tr>
      <td class="quiet">{shortTime(order.ordered_at)}</td>
      <th scope="row">
        <a href={`/dashboard/patients/${patient.fp}`}>{patient.name}</a>{" "}
        <span class="quiet">{studyWord(patient.species)}</span>
      </th>
      <td class="order-tests">
        {panel === null ? tests.join(", ") : `${panel}: ${tests.join(", ")}`}{" "}
        <span class="quiet">
          {device ?? t("anyDevice")}
          {by !== null && `, ${t("by", { name: by })}`}
        </span>
      </td>
      <td class="order-number">{accession}</td>
      <td>
        <State {...markOf(state)}>{stateName(state, { hours })}</State>
        {missing.length > 0 && <span class="quiet"> {t("missing", { tests: missing.join(", ") })}</span>}
      </td>
      <td>
        <span class="actions">
          {isOpen && (
            <button type="button" onClick={() => open("label")}>
              {t("label")}
              <span class="visually-hidden"> {accession}</span>
            </button>
          )}
          {study !== undefined && (
            <a class="button" href={`/dashboard/results/${study}`}>
              {t("result")}
              <span class="visually-hidden"> {accession}</span>
            </a>
          )}
          {attached !== null && may("staff") && (
            <button type="button" onClick={() => open("detach")}>
              {t("detach")}
              <span class="visually-hidden"> {accession}</span>
            </button>
          )}
          {isOpen && study === undefined && may("staff") && (
            <button type="button" onClick={() => open("cancel")}>
              {t("cancel")}
              <span class="visually-hidden"> {accession}</span>
            </button>
          )}
        </span>
        {opened === "label" && <Label of={order} close={() => open(null)} />}
        {opened === "detach" && attached !== null && (
          <DetachOrder order={order} study={attached} reload={reload} close={() => open(null)} />
        )}
        {opened === "cancel" && <CancelOrder order={order} reload={reload} close={() => open(null)} />}
      </td>
    </tr>
  );
}

function CancelOrder({
  order: { fp, accession, patient },
  reload,
  close,
}: {
  order: ListedOrder;
  reload: () => Promise<void>;
  close: () => void;
}) {
  const cancel = async () => {
    try {
      await call("POST", `${clinicPath()}/orders/${fp}/cancel`);
    } finally {
      // After a refusal, too: its results are there.
      await reload();
    }
  };
  return (
    <FormDialog
      title={t("cancelTitle", { accession })}
      button={t("cancel")}
      isDangerous
      act={cancel}
      close={close}
      leave={t("back")}
    >
      <p>{t("cancelText", { name: patient.name })}</p>
    </FormDialog>
  );
}

function DetachOrder({
  order: { fp, accession },
  study,
  reload,
  close,
}: {
  order: ListedOrder;
  study: string;
  reload: () => Promise<void>;
  close: () => void;
}) {
  const detach = async () => {
    await call("POST", `${clinicPath()}/orders/${fp}/detach`, { study_fp: study } satisfies OrderAttach);
    close();
    await reload();
  };
  return (
    <FormDialog
      title={t("detachTitle", { accession })}
      button={t("detach")}
      act={detach}
      close={close}
      leave={t("back")}
    >
      <p>{t("detachText")}</p>
    </FormDialog>
  );
}

function WithoutOrder({ body: { orders, without_order }, reload }: { body: OrdersBody; reload: () => Promise<void> }) {
  const [attached, attach] = useState<UnorderedStudy | null>(null);
  const section = useRef<HTMLElement>(null);
  // Today leads here.
  useEffect(() => {
    if (location.hash === "#without-order") section.current?.scrollIntoView();
  }, []);
  if (without_order.length === 0) return null;
  return (
    <section ref={section} id="without-order">
      <h2>{t("withoutOrder")}</h2>
      <p class="quiet">{t("withoutOrderWhy")}</p>
      <DataTable
        label={t("withoutOrder")}
        columns={[t("measured"), t("animal"), t("device"), t("charge"), t("next")]}
        class="cards"
      >
        {without_order.map((study) => (
          <tr key={study.fp}>
            <td class="quiet">{shortTime(study.acquired_at)}</td>
            <th scope="row">
              <a href={`/dashboard/results/${study.fp}`}>{study.patient.name}</a>{" "}
              <span class="quiet">{studyWord(study.patient.species)}</span>
            </th>
            <td>{study.device_name}</td>
            <td>
              <Charge of={study} reload={reload} />
            </td>
            <td>
              {may("staff") && (
                <button type="button" onClick={() => attach(study)}>
                  {t("attach")}
                  <span class="visually-hidden"> {study.patient.name}</span>
                </button>
              )}
            </td>
          </tr>
        ))}
      </DataTable>
      {attached !== null && <Attach study={attached} orders={orders} reload={reload} close={() => attach(null)} />}
    </section>
  );
}

/** Reminds of the charge of results that nobody ordered, until a person ticks it off. */
function Charge({ of: { fp, patient, charged }, reload }: { of: UnorderedStudy; reload: () => Promise<void> }) {
  const { run, retry, error, isRunning } = useAction();
  const note = (isCharged: boolean) =>
    run(async () => {
      await call("PUT", `${clinicPath()}/orders/without-order/${fp}`, { charged: isCharged } satisfies ChargeBody);
      await reload();
    });
  return (
    <>
      {charged === null && <Badge tone="warning">{t("notOrdered")}</Badge>}
      {may("staff") && (
        <label class="check">
          <input
            type="checkbox"
            checked={charged !== null}
            disabled={isRunning}
            onChange={({ currentTarget }) => void note(currentTarget.checked)}
          />
          <span>
            {t("charged")}
            <span class="visually-hidden"> {patient.name}</span>
          </span>
        </label>
      )}
      {charged !== null && (
        <span class="quiet">{t("chargedBy", { name: charged.by, time: dateTime(charged.at) })}</span>
      )}
      {error !== undefined && <Problem error={error} retry={retry} />}
    </>
  );
}

/** The list in one line, with what needs a person. */
function sumOf({ orders, without_order, not_run_hours: hours }: OrdersBody): string {
  const open = orders.filter(({ state }) => isIn("open", state)).length;
  const notRun = orders.filter(({ state }) => state === "not run").length;
  const due = without_order.filter(({ charged }) => charged === null).length;
  const parts = [
    notRun === 0 ? null : t("sumNotRun", { count: notRun, hours }),
    due === 0 ? null : t("sumWithout", { count: due }),
  ].filter((part) => part !== null);
  return [t("sumOpen", { count: open }), ...parts].join(" · ");
}

function markOf(state: OrderState): { tone: Tone; icon: IconName } {
  switch (state) {
    case "ordered":
      return { tone: "plain", icon: "circle" };
    case "offered":
      return { tone: "plain", icon: "check" };
    case "in progress":
      return { tone: "good", icon: "wait" };
    case "resulted":
      return { tone: "good", icon: "good" };
    case "not run":
      return { tone: "warn", icon: "bad" };
    case "without order":
      return { tone: "warn", icon: "move" };
    case "cancelled":
      return { tone: "plain", icon: "circle" };
  }
}
