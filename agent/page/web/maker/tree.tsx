import { useEffect, useMemo, useRef } from "preact/hooks";
import type { MakerNode, MessageView } from "../../types/maker.ts";
import { language } from "../../../../server/web/text.ts";
import { isSame, Leaves } from "./leaves.tsx";
import { type Give, RoleButtons } from "./role-buttons.tsx";
import { Table } from "./table.tsx";
import type { Chosen } from "./use-draft.ts";
import { t } from "./texts.ts";

/** The message as a tree: a record opens its fields, a field is chosen by a click or Enter, and gets its role by a button. */
export function Tree({
  message,
  tree,
  view,
  protocol,
  chosen,
  choose,
  give,
}: {
  message: number;
  tree: MakerNode;
  view: MessageView | undefined;
  protocol: string;
  chosen: Chosen | null;
  choose: (chosen: Chosen | null) => void;
  give: Give;
}) {
  const roles = rolesByRecord(view);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.addEventListener("keydown", moveFocus);
  }, []);
  const isTable = tree.children.some(({ place }) => place === "header");
  return (
    <div ref={list}>
      <ol class="maker-tree">
        {tree.children.map((record, index) => {
          if (isTable && record.place !== "line") return null;
          const own = chosen?.message === message && chosen.record === index ? chosen : null;
          return (
            <RecordLine
              key={index}
              {...{ index, message, record, protocol, choose, give }}
              chosen={own}
              roles={roles.get(index) ?? NONE}
              lang={language.value}
            />
          );
        })}
      </ol>
      {isTable && <Table {...{ message, tree, protocol, chosen, choose, give }} rolesOf={rolesIn(view)} />}
    </div>
  );
}

/** Role by the range of its bytes, as text: equal ones draw no record again. */
type Roles = string;
const NONE: Roles = "{}";

function rolesByRecord(view: MessageView | undefined): ReadonlyMap<number, Roles> {
  const found = new Map<number, Record<string, string[]>>();
  const nodes = view === undefined ? [] : [...view.nodes, ...view.rows.flatMap((row) => row.nodes)];
  for (const { record, from, to, place, role } of nodes) {
    const own = found.get(record) ?? {};
    const key = `${from} ${to} ${place}`;
    own[key] = [...new Set([...(own[key] ?? []), role])];
    found.set(record, own);
  }
  return new Map([...found].map(([record, own]) => [record, JSON.stringify(own)]));
}

/** Returns the roles of the columns of a table. */
function rolesIn(view: MessageView | undefined): (node: MakerNode) => readonly string[] {
  return ({ place }) => (view?.nodes ?? []).filter((node) => node.place === place).map(({ role }) => role);
}

interface RecordProps {
  readonly index: number;
  readonly message: number;
  readonly record: MakerNode;
  readonly protocol: string;
  readonly chosen: Chosen | null;
  readonly roles: Roles;
  readonly lang: string;
  readonly choose: (chosen: Chosen | null) => void;
  readonly give: Give;
}

/** A message may have a thousand records: an unchanged one is not drawn again. */
function RecordLine(props: RecordProps) {
  const { record, chosen, roles, lang, protocol } = props;
  return useMemo(() => <DrawnRecord {...props} />, [record, chosen, roles, lang, protocol]);
}

function DrawnRecord({ index, message, record, protocol, chosen, roles, choose, give }: RecordProps) {
  const isOpen = chosen !== null;
  const byRange = JSON.parse(roles) as Record<string, string[]>;
  const rolesOf = ({ from, to, place }: MakerNode) => byRange[`${from} ${to} ${place}`] ?? [];
  const open = () => choose(isOpen && isSame(chosen.node, record) ? null : { message, record: index, node: record });
  return (
    <li class={isOpen ? "open" : undefined}>
      <button type="button" class="maker-record" aria-expanded={isOpen} onClick={open}>
        <span class="visually-hidden">{t("line", { number: index + 1 })} </span>
        <bdi>{record.text}</bdi>
      </button>
      {isOpen && (
        <>
          {isSame(chosen.node, record) && <RoleButtons protocol={protocol} chosen={chosen} give={give} now={[]} />}
          <ul class="maker-fields">
            {record.children.map((field) => (
              <Leaves
                key={`${field.place} ${field.from}`}
                node={field}
                {...{ protocol, chosen, rolesOf, give }}
                choose={(node) => choose({ message, record: index, node })}
              />
            ))}
          </ul>
        </>
      )}
    </li>
  );
}

/** Arrow keys move between the lines and fields; digits reach the roles of the chosen one. */
function moveFocus(event: KeyboardEvent) {
  const list = event.currentTarget as HTMLElement;
  if (event.target instanceof HTMLInputElement) return;
  if (/^[1-9]$/.test(event.key)) {
    list.querySelectorAll<HTMLButtonElement>(".maker-roles > button")[Number(event.key) - 1]?.click();
    return;
  }
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  const all = [...list.querySelectorAll<HTMLElement>(".maker-record, .maker-leaf")];
  const at = all.indexOf(event.target as HTMLElement);
  const next = at < 0 ? undefined : all[at + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
