import type { MakerNode } from "../../types/maker.ts";
import { t, roleWord } from "./texts.ts";
import { type Give, RoleButtons } from "./role-buttons.tsx";
import { Leaves } from "./leaves.tsx";
import type { Chosen } from "./use-draft.ts";

interface TableProps {
  readonly message: number;
  readonly tree: MakerNode;
  readonly protocol: string;
  readonly chosen: Chosen | null;
  readonly choose: (chosen: Chosen | null) => void;
  readonly give: Give;
  readonly rolesOf: (node: MakerNode) => readonly string[];
}

/** A table as a table: a column is chosen by its name, a row by its number, and then shows its cells. */
export function Table({ message, tree, protocol, chosen, choose, give, rolesOf }: TableProps) {
  const at = tree.children.findIndex(({ place }) => place === "header");
  const columns = tree.children[at]?.children ?? [];
  const rows = [...tree.children.entries()].filter(([, { place }]) => place === "row");
  const own = chosen?.message === message ? chosen : null;
  const record = own === null ? undefined : tree.children[own.record];
  return (
    <>
      <div class="table-frame maker-sheet" tabIndex={0} role="region" aria-label={t("table")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("row")}</th>
              {columns.map((column) => (
                <th key={column.place} scope="col">
                  <button
                    type="button"
                    class="maker-leaf"
                    aria-pressed={own?.record === at && own.node.place === column.place}
                    onClick={() => choose({ message, record: at, node: column })}
                  >
                    <b>{column.label ?? column.place}</b>
                    {rolesOf(column).map((role) => (
                      <span key={role} class="maker-role">
                        {roleWord(role)}
                      </span>
                    ))}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([index, row], number) => (
              <tr key={index} class={own?.record === index ? "maker-row lit" : "maker-row"}>
                <th scope="row">
                  <button
                    type="button"
                    class="link"
                    aria-pressed={own?.record === index}
                    onClick={() => choose({ message, record: index, node: row })}
                  >
                    <span class="visually-hidden">{t("row")} </span>
                    {number + 1}
                  </button>
                </th>
                {columns.map(({ place }) => (
                  <td key={place}>{row.children.find((cell) => cell.place === place)?.text ?? ""}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {own !== null && own.record === at && (
        <RoleButtons key={own.node.place} {...{ protocol, give }} chosen={own} now={rolesOf(own.node)} />
      )}
      {own !== null && record?.place === "row" && (
        <Cells {...{ protocol, rolesOf, give, own, record, message, choose }} />
      )}
    </>
  );
}

/** The cells of the chosen row. */
function Cells({
  protocol,
  rolesOf,
  give,
  own,
  record,
  message,
  choose,
}: Omit<TableProps, "tree" | "chosen"> & { own: Chosen; record: MakerNode }) {
  return (
    <>
      <RoleButtons {...{ protocol, give }} chosen={{ ...own, node: record }} now={[]} />
      <ul class="maker-fields">
        {record.children.map((cell) => (
          <Leaves
            key={cell.place}
            node={cell}
            {...{ protocol, rolesOf, give }}
            chosen={own}
            choose={(node) => choose({ message, record: own.record, node })}
          />
        ))}
      </ul>
    </>
  );
}
