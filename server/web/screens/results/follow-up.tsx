import { useState } from "preact/hooks";
import type {
  AssignBody,
  DoneBody,
  FollowUp,
  FollowUpEvent,
  RemarkBody,
} from "../../../dashboard/types/results/follow-up.ts";
import type { StudyPage } from "../../../dashboard/types/results/results.ts";
import { call } from "../../api.ts";
import { Problem, type Resource, useResource } from "../../resource.tsx";
import { clinicPath, may, session } from "../../session.ts";
import { dateTime } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { useAction } from "../../ui/form/use-action.ts";
import { markSeen } from "../today/seen.ts";
import { t } from "./follow-up-texts.ts";
import "./follow-up.css";

interface FollowUpProps {
  readonly study: Pick<StudyPage, "fp" | "revision" | "rows">;
  readonly followUp: Resource<FollowUp>;
}

export function useFollowUp(fp: string): Resource<FollowUp> {
  return useResource<FollowUp>(`/results/${fp}/follow-up`);
}

/** Asks for "I have seen it" of a critical value: opening the page is not enough. Then it says who saw it. */
export function SeenNotice({ study, followUp: { data, reload } }: FollowUpProps) {
  if (data === undefined || !isCritical(study)) return null;
  return <NotSeen study={study} seen={data.seen} reload={reload} />;
}

/** Who is responsible for the study, what was said about it, and whether it is done. */
export function FollowUpCard({ study, followUp: { data, error, reload } }: FollowUpProps) {
  if (data !== undefined) return <Card study={study} followUp={data} reload={reload} />;
  return error === undefined ? null : <Problem error={error} />;
}

/** Whether a click has to say that a person saw the study. */
export function isCritical({ rows }: Pick<StudyPage, "rows">): boolean {
  return rows.some(({ flag }) => flag === "critical");
}

interface Shown extends Pick<FollowUpProps, "study"> {
  readonly reload: () => Promise<void>;
}

function NotSeen({ study, seen, reload }: Shown & { seen: FollowUp["seen"] }) {
  const { run, error, isRunning } = useAction();
  if (seen !== null) {
    return (
      <p class="quiet no-print" role="status">
        {t("seenBy", { name: seen.by, at: dateTime(seen.at) })}
      </p>
    );
  }
  const values = study.rows.filter(({ flag }) => flag === "critical");
  return (
    <div class="note note-bad not-seen no-print" role="status">
      <span class="grow">
        <strong>
          {values.map(({ analyte, value, unit }) => `${analyte} ${value} ${unit ?? ""}`.trim()).join(", ")}
        </strong>{" "}
        {t("critical")}
      </span>
      {may("staff") && (
        <button
          type="button"
          disabled={isRunning}
          onClick={() => void run(() => markSeen(study.fp, study.revision).then(reload))}
        >
          {t("seen")}
        </button>
      )}
      {error !== undefined && <Problem error={error} />}
    </div>
  );
}

function Card({ study, followUp, reload }: Shown & { followUp: FollowUp }) {
  const { run, error, isRunning } = useAction();
  const { state, responsible, members, events } = followUp;
  const send = (name: string, body: AssignBody | RemarkBody | DoneBody | object) =>
    run(async () => {
      try {
        await call("POST", `${clinicPath()}/results/${study.fp}/follow-up/${name}`, body);
      } finally {
        await reload();
      }
    });
  const mayAct = may("staff");
  return (
    <section class="card follow-up no-print" aria-labelledby="follow-up">
      <div class="between">
        <h2 id="follow-up">{t("followUp")}</h2>
        <p class="quiet" role="status">
          {t(state)}
        </p>
      </div>
      {mayAct ? (
        <Field label={t("responsible")}>
          <select
            value={responsible?.id ?? ""}
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
      ) : (
        <p>
          {t("responsible")}: {responsible?.name ?? t("nobody")}
        </p>
      )}
      {events.length > 0 && <Events of={events} />}
      {mayAct && <Remark send={(text) => send("remark", { text })} isRunning={isRunning} />}
      {error !== undefined && <Problem error={error} />}
      {mayAct && (
        <p class="actions">
          {state !== "done" && members.some(({ id }) => id === userId()) && responsible?.id !== userId() && (
            <button type="button" disabled={isRunning} onClick={() => void send("assign", { member: userId() })}>
              {t("take")}
            </button>
          )}
          {state === "done" ? (
            <button type="button" disabled={isRunning} onClick={() => void send("reopen", {})}>
              {t("reopen")}
            </button>
          ) : (
            <button
              type="button"
              class="primary"
              disabled={isRunning}
              onClick={() => void send("done", { revision: study.revision })}
            >
              {t("markDone")}
            </button>
          )}
        </p>
      )}
    </section>
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
    void send(text).then((isSent) => isSent && setText(""));
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
