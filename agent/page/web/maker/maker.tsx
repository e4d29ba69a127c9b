import { type Signal, useSignal } from "@preact/signals";
import { useLocation } from "preact-iso";
import type { LocalMakerOpened, LocalMakerStart, MakerClick, MakerNode, MessageView } from "../../types/maker.ts";
import type { Role } from "../../types/maker-roles.ts";
import { Loaded, Problem, useLocalOnce } from "../../../../server/web/resource.tsx";
import { Proposals } from "./proposals.tsx";
import { Rows } from "./rows.tsx";
import { Save } from "./save.tsx";
import { Source } from "./source.tsx";
import { baseWord, fileWord, openWord, t } from "./texts.ts";
import { Tree } from "./tree.tsx";
import { type Asked, begun, type Chosen, type OpenDraft, useDraft } from "./use-draft.ts";
import "./maker.css";

/** Makes a profile by clicks: the bytes, what they mean, what the clinic will see. */
export function Maker() {
  const start = useLocalOnce<LocalMakerStart>("/maker");
  return <Loaded of={start}>{(known) => <Steps start={known} reload={start.reload} />}</Loaded>;
}

function Steps({ start, reload }: { start: LocalMakerStart; reload: () => Promise<void> }) {
  const { draft, error, retry, isRunning, ...does } = useDraft(askedBy(useLocation().query), start.own);
  return (
    <>
      <div class="between page-head">
        <div>
          <h1>{t("title")}</h1>
          <p>{t("why")}</p>
        </div>
        {draft !== null && (
          <p class="actions">
            <button
              type="button"
              disabled={isRunning || draft.patches.length <= begun(draft)}
              onClick={() => void does.undo()}
            >
              {t("undo", { count: draft.patches.length - begun(draft) })}
            </button>
            <button type="button" onClick={does.end}>
              {t("otherBytes")}
            </button>
          </p>
        )}
      </div>
      {error !== undefined && <Problem error={error} retry={retry} />}
      {draft === null ? (
        <Source of={start} isRunning={isRunning} start={(source, device) => void does.start(source, device)} />
      ) : (
        <Draft
          {...{ start, draft, isRunning }}
          click={(clicks) => void does.click(clicks)}
          rebase={(base) => void does.rebase(base)}
          settled={does.settled}
          done={(reference) => {
            does.stored(reference);
            void reload();
          }}
        />
      )}
    </>
  );
}

/** Returns the message or the device that was not understood, from the address. */
function askedBy({ message, device }: Readonly<Record<string, string>>): Asked | null {
  if (message !== undefined) return { source: { messages: [message] }, device: device ?? null };
  return device === undefined ? null : { source: { device }, device };
}

function Draft({
  start,
  draft,
  isRunning,
  click,
  rebase,
  settled,
  done,
}: {
  start: LocalMakerStart;
  draft: OpenDraft;
  isRunning: boolean;
  click: (clicks: readonly MakerClick[]) => void;
  rebase: (base: string) => void;
  settled: () => Promise<OpenDraft | null>;
  done: (reference: string) => void;
}) {
  const shown = useSignal(0);
  const chosen = useSignal<Chosen | null>(null);
  const { opened, look } = draft;
  const message = Math.min(shown.value, opened.messages.length - 1);
  const tree = look.trees?.[message] ?? opened.messages[message]?.tree ?? null;
  const view = look.views[message];
  const give = (role: Role, { record, node }: Chosen, more: object) =>
    click([{ role, place: node.place, message, record, text: node.text.slice(0, 500), ...more }]);
  const light = (record: number) => {
    const node = tree?.children[record];
    if (node !== undefined) chosen.value = { message, record, node };
  };
  return (
    <>
      <Found draft={draft} start={start} rebase={rebase} />
      {look.problems.length > 0 && (
        <div class="problem" role="alert">
          {look.problems.map((problem) => (
            <p key={problem} lang="en">
              {problem}
            </p>
          ))}
        </div>
      )}
      {look.open.length > 0 && (
        <p class="maker-open" role="status">
          {t("stillOpen")} {look.open.map((point) => openWord(point)).join(", ")}
        </p>
      )}
      {look.refused > 0 && <p role="alert">{t("refused")}</p>}
      <Proposals of={look.proposals} isRunning={isRunning} take={click} />
      <div class={tree === null ? undefined : "maker"}>
        {tree !== null && (
          <Came {...{ draft, message, tree, view, give, chosen }} show={(index) => (shown.value = index)} />
        )}
        <section class="card" aria-labelledby="maker-rows">
          <h2 id="maker-rows">{t("sees")}</h2>
          {view === undefined || look.open.length > 0 ? (
            <p>{t("noResults")}</p>
          ) : (
            <Rows
              key={message}
              {...{ view, choose: light }}
              record={chosen.value?.message === message ? chosen.value.record : null}
              map={(record, analyte, code) => click([{ analyte, message, record, code: code.slice(0, 200) }])}
            />
          )}
        </section>
      </div>
      <Save {...{ draft, start, click, settled, done }} />
    </>
  );
}

/** The bytes of one message as a tree, and the other messages. */
function Came({
  draft: { opened, look },
  message,
  tree,
  view,
  give,
  chosen,
  show,
}: {
  draft: OpenDraft;
  message: number;
  tree: MakerNode;
  view: MessageView | undefined;
  give: (role: Role, chosen: Chosen, more: object) => void;
  chosen: Signal<Chosen | null>;
  show: (message: number) => void;
}) {
  return (
    <section class="card" aria-labelledby="maker-bytes">
      <div class="between">
        <h2 id="maker-bytes">{t("came")}</h2>
        {opened.messages.length > 1 && (
          <p class="actions">
            {opened.messages.map((_, index) => (
              <button
                key={index}
                type="button"
                class="chip"
                aria-pressed={index === message}
                onClick={() => show(index)}
              >
                {t("message", { number: index + 1 })}
              </button>
            ))}
          </p>
        )}
      </div>
      <p class="quiet">{t(look.isFixed ? "fixed" : "cameHint")}</p>
      <Tree
        {...{ message, tree, view, give }}
        protocol={look.isFixed ? "" : (opened.protocol ?? "text")}
        chosen={chosen.value}
        choose={(next) => (chosen.value = next)}
      />
    </section>
  );
}

function foundWord({ protocol, found, file }: LocalMakerOpened): string {
  if (file !== null) return t("found", { name: fileWord(file.kind) });
  const name = protocol === null ? found?.name : protocol.toUpperCase();
  return name === undefined ? t("nothingFound") : t("found", { name });
}

/** The protocol that was found, with the reasons, and the profile to begin with. */
function Found({ draft, start, rebase }: { draft: OpenDraft; start: LocalMakerStart; rebase: (base: string) => void }) {
  const { opened, base } = draft;
  const of = start.bases.find(({ profile }) => profile === base);
  const protocol = opened.protocol ?? of?.protocol;
  const same = start.bases.filter((each) => protocol === undefined || each.protocol === protocol);
  const others = same.filter(({ profile }) => !opened.bases.includes(profile));
  const blank = { profile: opened.bases.at(-1) ?? "", name: t("blank") };
  const known = opened.bases.flatMap((id) => start.bases.find(({ profile }) => profile === id) ?? []);
  const best = opened.file === null ? known : [...known, blank];
  return (
    <section class="card" aria-labelledby="maker-found">
      <h2 id="maker-found">{foundWord(opened)}</h2>
      {opened.protocol === "hl7" && <p>{t("whyHl7")}</p>}
      {opened.protocol === "astm" && <p>{t("whyAstm")}</p>}
      {opened.protocol === null && opened.found !== null && (
        <ul lang="en">
          {opened.found.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      <div class="field">
        <label for="maker-base">{t("base")}</label>
        <select id="maker-base" value={base} onChange={({ currentTarget }) => rebase(currentTarget.value)}>
          {[...best, ...others].map(({ profile, name }) => (
            <option key={profile} value={profile}>
              {baseWord(profile, name)}
            </option>
          ))}
        </select>
        <p class="hint">{draft.patches.length > begun(draft) ? t("baseLoses") : t("baseHint")}</p>
      </div>
    </section>
  );
}
