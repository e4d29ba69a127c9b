import { useSignal } from "@preact/signals";
import { type Role, rolesAt } from "../../types/maker-roles.ts";
import { roleWord, t } from "./texts.ts";
import type { Chosen } from "./use-draft.ts";

export type Give = (
  role: Role,
  chosen: Chosen,
  more: { species?: string; words?: string; format?: string; text?: string },
) => void;

const SPECIES = ["dog", "cat", "rabbit", "bird", "reptile", "exotic", "horse"] as const;

/** The roles of the chosen part. A digit of the keyboard presses its button. */
export function RoleButtons({
  protocol,
  chosen,
  give,
  now,
}: {
  protocol: string;
  chosen: Chosen;
  give: Give;
  now: readonly string[];
}) {
  const asks = useSignal<"species" | "words" | "format" | null>(null);
  const asked = useSignal<Role>("doubt");
  const roles = rolesAt(protocol, chosen.node);
  const { formats } = chosen.node;
  const press = (role: Role) => {
    if (role === "species" && chosen.node.kind !== "column" && /^.{0,2}$|\d/.test(chosen.node.text.trim()))
      asks.value = "species";
    else if (role === "doubt" || role === "no-value") {
      asked.value = role;
      asks.value = "words";
    } else if (role === "time" && formats !== undefined) {
      const [only] = formats;
      if (formats.length === 1 && only !== undefined) give(role, chosen, { format: only });
      else asks.value = "format";
    } else if (role === "records") give(role, chosen, { text: chosen.node.label ?? "" });
    else give(role, chosen, {});
  };
  if (protocol === "") return null;
  if (roles.length === 0) return <p class="quiet maker-roles">{t("noRole")}</p>;
  return (
    <div class="maker-roles" role="group" aria-label={t("means", { place: chosen.node.label ?? chosen.node.place })}>
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
      {asks.value === "format" && (
        <p>
          {t(formats?.length === 0 ? "noTime" : "whichFormat", { text: chosen.node.text })}
          {formats?.map((format) => (
            <button key={format} type="button" class="chip" onClick={() => give("time", chosen, { format })}>
              {format}
            </button>
          ))}
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
