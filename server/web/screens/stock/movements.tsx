import type { MovementList, StockMovement } from "../../../dashboard/types/stock.ts";
import { call } from "../../api.ts";
import { Loaded, Problem, type Resource } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { dateTime } from "../../text.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { MovingRows } from "../../ui/list/moving-rows.tsx";
import { Pager } from "../../ui/list/pager.tsx";
import { reasonWord, t } from "./texts.ts";

interface MovementsProps {
  fp: string;
  of: Resource<MovementList>;
  reload: () => Promise<void>;
  open: (page: number) => void;
}

/** The movements of an item's stock, the newest first, each with its undo. */
export function Movements({ fp, of, reload, open }: MovementsProps) {
  const { run, error, isRunning } = useAction();
  const undo = ({ id }: StockMovement) => {
    void run(async () => {
      await call("POST", `${clinicPath()}/stock/${fp}/movements/${id}/undo`, {});
      await reload();
    });
  };
  return (
    <>
      <h2>{t("movements")}</h2>
      {error !== undefined && <Problem error={error} />}
      <Loaded of={of}>
        {(list) =>
          list.total === 0 ? (
            <p class="quiet">{t("noMovements")}</p>
          ) : (
            <>
              <MovingRows>
                <DataTable
                  label={t("movements")}
                  class="cards"
                  columns={[
                    t("when"),
                    t("what"),
                    [t("change"), "number labelled"],
                    [t("lot"), "labelled"],
                    t("by"),
                    may("staff") && t("action"),
                  ]}
                >
                  {list.items.map((movement) => (
                    <Row key={movement.id} of={movement} undo={undo} isRunning={isRunning} />
                  ))}
                </DataTable>
              </MovingRows>
              <Pager of={list} open={open} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

interface RowProps {
  of: StockMovement;
  undo: (movement: StockMovement) => void;
  isRunning: boolean;
}

function Row({ of: movement, undo, isRunning }: RowProps) {
  return (
    <tr>
      <td>{dateTime(movement.at)}</td>
      <td>
        <What of={movement} />
      </td>
      <td class="number">{signed(movement.quantity)}</td>
      <td>
        {movement.batch === null ? (
          <span class="quiet">{t("ofNoBatch")}</span>
        ) : (
          (movement.batch.lot ?? <span class="quiet">{t("noLot")}</span>)
        )}
      </td>
      <td>{movement.by ?? <span class="quiet">{t("byNobody")}</span>}</td>
      {may("staff") && (
        <td>
          {movement.can_undo && (
            <button type="button" disabled={isRunning} onClick={() => undo(movement)}>
              {t("undo")}
              <span class="visually-hidden">
                {" "}
                {reasonWord(movement.reason)}, {signed(movement.quantity)}, {dateTime(movement.at)}
              </span>
            </button>
          )}
        </td>
      )}
    </tr>
  );
}

function What({ of: { reason, patient, undoes, is_undone } }: { of: StockMovement }) {
  return (
    <>
      {undoes === null
        ? reasonWord(reason)
        : t("undoOf", { what: reasonWord(undoes.reason), when: dateTime(undoes.at) })}
      {patient !== null && (
        <>
          {": "}
          <a href={`/dashboard/patients/${patient.fp}`}>{patient.name}</a>
        </>
      )}{" "}
      {is_undone && <Badge tone="done">{t("undone")}</Badge>}
    </>
  );
}

/** A change with its sign, such as `+3` or `−3`. */
function signed(quantity: number): string {
  if (quantity === 0) return "0";
  return quantity > 0 ? `+${quantity}` : `\u2212${-quantity}`;
}
