import { useState } from "preact/hooks";
import type {
  AssignBody,
  DoneBody,
  FollowUp,
  FollowUpEvent,
  RemarkBody,
} from "../../../../dashboard/types/results/follow-up.ts";
import type { StudyPage } from "../../../../dashboard/types/results/results.ts";
import { call } from "../../../api.ts";
import { Problem, type Resource, useResource } from "../../../resource.tsx";
import { clinicPath, may, session } from "../../../session.ts";
import { dateTime } from "../../../text.ts";
import { Field } from "../../../ui/form/field.tsx";
import { useAction } from "../../../ui/form/use-action.ts";
import { t } from "./texts.ts";
import "./follow-up.css";

interface CardProps {
  readonly study: Pick<StudyPage, "fp" | "revision">;
  readonly followUp: FollowUp;
  readonly reload: () => Promise<void>;
}

export function useFollowUp(fp: string): Resource<FollowUp> {
  return useResource<FollowUp>(`/results/${fp}/follow-up`);
}

/** Shows the responsible member, the remarks and whether the follow-up is done. */
export function FollowUpCard({
  study,
  followUp: { data, error, reload },
}: Pick<CardProps, "study"> & { followUp: Resource<FollowUp> }) {
  if (data !== undefined) return <Card study={study} followUp={data} reload={reload} />;
  return error === undefined ? null : <Problem error={error} retry={reload} />;
}

function Card({ study, followUp, reload }: CardProps) {
  const { run, error, isRunning } = useAction();
  const send: Send = (name, body) =>
    run(async () => {
      try {
        await call("POST", `${clinicPath()}/results/${study.fp}/follow-up/${name}`, body);
      } finally {
        await reload();
      }
    });
  const { state, responsible, events } = followUp;
  const parts = { followUp, send, isRunning };
  return (
    <section class="card follow-up no-print" aria-labelledby="follow-up">
      <div class="between">
        <h2 id="follow-up">{t("followUp")}</h2>
        <p class="quiet" role="status">
          {t(state)}
        </p>
      </div>
      {may("staff") ? (
        <Responsible {...parts} />
      ) : (
        <p>
          {t("responsible")}: {responsible?.name ?? t("nobody")}
        </p>
      )}
      {events.length > 0 && <Events of={events} />}
      {may("staff") && <Remark send={(text) => send("remark", { text })} isRunning={isRunning} />}
      {error !== undefined && <Problem error={error} />}
      {may("staff") && <Actions {...parts} revision={study.revision} />}
    </section>
  );
}

type Send = (name: string, body: AssignBody | RemarkBody | DoneBody | object) => Promise<boolean>;

interface PartProps {
  readonly followUp: FollowUp;
  readonly send: Send;
  readonly isRunning: boolean;
}

function Responsible({ followUp, send, isRunning }: PartProps) {
  return (
    <Field label={t("responsible")}>
      <select
        value={followUp.responsible?.id ?? ""}
        disabled={isRunning}
        onChange={({ currentTarget }: { currentTarget: HTMLSelectElement }) =>
          void send("assign", { member: currentTarget.value === "" ? null : currentTarget.value })
        }
      >
        <option value="">{t("nobody")}</option>
        {choices(followUp).map(({ id, name }) => (
          <option key={id} value={id}>
            {id === userId() ? t("me", { name }) : name}
          </option>
        ))}
      </select>
    </Field>
  );
}

function Actions({ followUp: { state, responsible }, send, isRunning, revision }: PartProps & { revision: number }) {
  if (state === "done") {
    return (
      <p class="actions">
        <button type="button" disabled={isRunning} onClick={() => void send("reopen", {})}>
          {t("reopen")}
        </button>
      </p>
    );
  }
  return (
    <p class="actions">
      {responsible?.id !== userId() && (
        <button type="button" disabled={isRunning} onClick={() => void send("assign", { member: userId() })}>
          {t("take")}
        </button>
      )}
      <button type="button" class="primary" disabled={isRunning} onClick={() => void send("done", { revision })}>
        {t("markDone")}
      </button>
    </p>
  );
}

/** The members, and the responsible one who left the clinic. */
function choices({ members, responsible }: FollowUp): FollowUp["members"] {
  return responsible === null || members.some(({ id }) => id === responsible.id) ? members : [...members, responsible];
}

function userId(): string | null {
  return session.value?.state === "signed in" ? session.value.user.id : null;
}

function Remark({ send, isRunning }: { send: (text: string) => Promise<boolean>; isRunning: boolean }) {
  const [text, setText] = useState("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (text.trim() === "") return;
    // The text that was typed while the remark was sent stays.
    const rest = (now: string) => (now.startsWith(text) ? now.slice(text.length).trimStart() : now);
    void send(text).then((isSent) => isSent && setText(rest));
  };
  return (
    <form onSubmit={submit}>
      <Field label={t("remark")} hint={t("remarkHint")}>
        <textarea
          rows={2}
          maxLength={1000}
          value={text}
          onInput={({ currentTarget }: { currentTarget: HTMLTextAreaElement }) => setText(currentTarget.value)}
        />
      </Field>
      <p class="actions">
        <button type="submit" disabled={isRunning || text.trim() === ""}>
          {t("addRemark")}
        </button>
      </p>
    </form>
  );
}

function Events({ of }: { of: readonly FollowUpEvent[] }) {
  return (
    <ol class="follow-up-events">
      {of.map((event, index) => (
        <li key={index}>
          {event.text === null ? eventText(event) : <q>{event.text}</q>}
          <span class="quiet">
            {event.by !== null && `${event.by}, `}
            {dateTime(event.at)}
          </span>
        </li>
      ))}
    </ol>
  );
}

function eventText({ kind, member, worse }: FollowUpEvent): string {
  switch (kind) {
    case "assigned":
      return member === null ? t("toNobody") : t("assigned", { name: member });
    case "worse":
      return t("worse", { analytes: worse.join(", ") });
    case "moved":
    case "reopened":
    case "remark":
      return t(kind);
    case "done":
      return t("wasDone");
  }
}
