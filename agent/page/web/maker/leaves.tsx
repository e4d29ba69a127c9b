import type { MakerNode } from "../../types/maker.ts";
import { type Give, RoleButtons } from "./role-buttons.tsx";
import { roleWord } from "./texts.ts";
import type { Chosen } from "./use-draft.ts";

const mark = ({ place, label, from, to, text, kind }: MakerNode) => [place, label, from, to, text, kind].join("\n");

/** A draft's own tree is another one after each click. */
export function isSame(one: MakerNode, other: MakerNode): boolean {
  if (one === other) return true;
  return mark(one) === mark(other);
}

export function Leaves({
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
  give: Give;
}) {
  const isChosen = isSame(chosen.node, node);
  const roles = rolesOf(node);
  return (
    <li>
      <button
        type="button"
        class={`maker-leaf${roles.length > 0 ? " has-role" : ""}`}
        aria-pressed={isChosen}
        onClick={() => choose(node)}
      >
        <span class="maker-place">{node.label ?? node.place}</span> <b>{node.text}</b>
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
