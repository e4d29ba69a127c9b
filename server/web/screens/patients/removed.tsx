import type { RemovedAnimals, Written } from "../../../dashboard/types/animals.ts";
import { call } from "../../api.ts";
import { Empty, Loaded, Problem, useResource } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { dateTime, translations } from "../../text.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { MovingRows } from "../../ui/list/moving-rows.tsx";
import { word } from "../../ui/words/words.ts";
import { LIST, notice, NoticeLine } from "./animal/undo.tsx";

const HERE = `${LIST}/removed`;

/** The animals that somebody removed, to bring one back with its results. */
export function RemovedPatients() {
  const removed = useResource<RemovedAnimals>("/patients/removed");
  const { run, retry, error, isRunning } = useAction();
  const restore = (fp: string, name: string) =>
    run(async () => {
      const { batch } = await call<Written>("POST", `${clinicPath()}/patients/${fp}/restore`, {});
      notice.value = { at: HERE, text: t("restored", { name }), batch };
      await removed.reload();
    });
  return (
    <>
      <p>
        <a href="/dashboard/patients">{t("back")}</a>
      </p>
      <h1>{t("removed")}</h1>
      <NoticeLine at={HERE} reload={removed.reload} />
      {error !== undefined && <Problem error={error} retry={retry} />}
      <Loaded of={removed}>
        {({ animals }) =>
          animals.length === 0 ? (
            <Empty title={t("none")}>{t("noneNext")}</Empty>
          ) : (
            <MovingRows>
              <DataTable
                label={t("removed")}
                class="cards"
                columns={[t("name"), t("species"), t("owner"), [t("when"), "labelled"], may("staff") && t("what")]}
              >
                {animals.map(({ fp, name, species, owner_name, removed_at }) => (
                  <tr key={fp}>
                    <th scope="row">{name}</th>
                    <td>{word(species)}</td>
                    <td>{owner_name}</td>
                    <td>{dateTime(removed_at)}</td>
                    {may("staff") && (
                      <td>
                        <button
                          type="button"
                          disabled={isRunning}
                          aria-label={t("restoreOf", { name })}
                          onClick={() => void restore(fp, name)}
                        >
                          {t("restore")}
                        </button>
                      </td>
                    )}
                  </tr>
                ))}
              </DataTable>
            </MovingRows>
          )
        }
      </Loaded>
    </>
  );
}

const t = translations({
  back: ["All patients", "Tüm hastalar"],
  removed: ["Removed patients", "Silinen hastalar"],
  none: ["No removed patients", "Silinen hasta yok"],
  noneNext: [
    "A patient that somebody removes waits here, and comes back with its results.",
    "Silinen bir hasta burada bekler ve sonuçlarıyla geri gelir.",
  ],
  name: ["Name", "Ad"],
  species: ["Species", "Tür"],
  owner: ["Owner", "Sahibi"],
  when: ["Removed", "Silindi"],
  what: ["Action", "İşlem"],
  restored: ["{name} is back with its results.", "{name} sonuçlarıyla geri geldi."],
  restore: ["Bring back", "Geri al"],
  restoreOf: ["Bring back {name}", "{name} hastasını geri al"],
});
