import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { MakerNode, MessageView } from "../../types/maker.ts";
import { type Role, rolesAt } from "../../types/maker-roles.ts";
import { language } from "../../../../server/web/text.ts";
import type { Chosen } from "./use-draft.ts";
import { roleWord, t } from "./texts.ts";

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
  give: (role: Role, chosen: Chosen, more: { species?: string; words?: string }) => void;
}) {
  const roles = rolesByRecord(view);
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    list.current?.addEventListener("keydown", moveFocus);
  }, []);
  return (
    <ol class="maker-tree" ref={list}>
      {tree.children.map((record, index) => {
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
  );
}

/** Role by the range of its bytes, as text: equal ones draw no record again. */
type Roles = string;
const NONE: Roles = "{}";

function rolesByRecord(view: MessageView | undefined): ReadonlyMap<number, Roles> {
  const found = new Map<number, Record<string, string[]>>();
  const nodes = view === undefined ? [] : [...view.nodes, ...view.rows.flatMap((row) => row.nodes)];
  for (const { record, from, to, role } of nodes) {
    const own = found.get(record) ?? {};
    const key = `${from} ${to}`;
    own[key] = [...new Set([...(own[key] ?? []), role])];
    found.set(record, own);
  }
  return new Map([...found].map(([record, own]) => [record, JSON.stringify(own)]));
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
  readonly give: (role: Role, chosen: Chosen, more: { species?: string; words?: string }) => void;
}

/** A message may have a thousand records: an unchanged one is not drawn again. */
function RecordLine(props: RecordProps) {
  const { record, chosen, roles, lang, protocol } = props;
  return useMemo(() => <DrawnRecord {...props} />, [record, chosen, roles, lang, protocol]);
}

function DrawnRecord({ index, message, record, protocol, chosen, roles, choose, give }: RecordProps) {
  const isOpen = chosen !== null;
  const byRange = JSON.parse(roles) as Record<string, string[]>;
  const rolesOf = ({ from, to }: MakerNode) => byRange[`${from} ${to}`] ?? [];
  const open = () => choose(isOpen && chosen.node === record ? null : { message, record: index, node: record });
  return (
    <li class={isOpen ? "open" : undefined}>
      <button type="button" class="maker-record" aria-expanded={isOpen} onClick={open}>
        <span class="visually-hidden">{t("line", { number: index + 1 })} </span>
        <bdi>{record.text}</bdi>
      </button>
      {isOpen && (
        <>
          {chosen.node === record && <RoleButtons protocol={protocol} chosen={chosen} give={give} now={[]} />}
          <ul class="maker-fields">
            {record.children.map((field) => (
              <Leaves
                key={field.place}
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

function Leaves({
  node,
  protocol,
  chosen,
  rolesOf,
  choose,
  give,
}: {
  node: MakerNode;
  protocol: string;
  chosen: Chosen;
  rolesOf: (node: MakerNode) => readonly string[];
  choose: (node: MakerNode) => void;
  give: RecordProps["give"];
}) {
  const isChosen = chosen.node === node;
  const roles = rolesOf(node);
  return (
    <li>
      <button
        type="button"
        class={`maker-leaf${roles.length > 0 ? " has-role" : ""}`}
        aria-pressed={isChosen}
        onClick={() => choose(node)}
      >
        <span class="maker-place">{node.place}</span> <b>{node.text}</b>
        {roles.map((role) => (
          <span key={role} class="maker-role">
            {roleWord(role)}
          </span>
        ))}
      </button>
      {isChosen && <RoleButtons protocol={protocol} chosen={chosen} give={give} now={roles} />}
      {node.children.length > 0 && (
        <ul>
          {node.children.map((child, index) => (
            <Leaves key={index} node={child} {...{ protocol, chosen, rolesOf, choose, give }} />
          ))}
        </ul>
      )}
    </li>
  );
}

const SPECIES = ["dog", "cat", "rabbit", "bird", "reptile", "exotic", "horse"] as const;

/** The roles of the chosen part. A digit of the keyboard presses its button. */
function RoleButtons({
  protocol,
  chosen,
  give,
  now,
}: {
  protocol: string;
  chosen: Chosen;
  give: RecordProps["give"];
  now: readonly string[];
}) {
  const asks = useSignal<"species" | "words" | null>(null);
  const asked = useSignal<Role>("doubt");
  const roles = rolesAt(protocol, chosen.node);
  const press = (role: Role) => {
    if (role === "species" && /^.{0,2}$|\d/.test(chosen.node.text.trim())) asks.value = "species";
    else if (role === "doubt" || role === "no-value") {
      asked.value = role;
      asks.value = "words";
    } else give(role, chosen, {});
  };
  if (roles.length === 0) return <p class="quiet maker-roles">{t("noRole")}</p>;
  return (
    <div class="maker-roles" role="group" aria-label={t("means", { place: chosen.node.place })}>
      {roles.map((role, index) => (
        <button key={role} type="button" class="chip" aria-pressed={now.includes(role)} onClick={() => press(role)}>
          {index < 9 && <kbd aria-hidden="true">{index + 1}</kbd>} {roleWord(role)}
        </button>
      ))}
      {asks.value === "species" && (
        <p>
          {t("whichSpecies", { text: chosen.node.text })}
          {SPECIES.map((species) => (
            <button key={species} type="button" class="chip" onClick={() => give("species", chosen, { species })}>
              {t(species)}
            </button>
          ))}
          <button type="button" class="chip" onClick={() => give("species", chosen, {})}>
            {t("asWritten")}
          </button>
        </p>
      )}
      {asks.value === "words" && (
        <Words take={(typed) => give(asked.value, chosen, typed === "" ? {} : { words: typed })} />
      )}
    </div>
  );
}

/** Asks for the meaning of a mark, in the clinic's words. They may be left out. */
function Words({ take }: { take: (typed: string) => void }) {
  const words = useSignal("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    take(words.value.trim());
  };
  return (
    <form onSubmit={submit}>
      <label>
        {t("inWords")}{" "}
        <input
          value={words.value}
          maxLength={150}
          onInput={({ currentTarget }) => (words.value = currentTarget.value)}
        />
      </label>{" "}
      <button type="submit">{t("take")}</button>
    </form>
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
  const next = all[all.indexOf(event.target as HTMLElement) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
