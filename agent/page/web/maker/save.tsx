import { useSignal } from "@preact/signals";
import type {
  LocalMakerCheck,
  LocalMakerLook,
  LocalMakerSaved,
  LocalMakerStart,
  MakerClick,
  MakerSave,
} from "../../types/maker.ts";
import { call } from "../../../../server/web/api.ts";
import { Problem } from "../../../../server/web/resource.tsx";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import { useAction } from "../../../../server/web/ui/form/use-action.ts";
import { DiffLines } from "../../../../server/web/ui/list/diff-lines.tsx";
import { studyWord } from "../../../../server/web/ui/words/study-word.ts";
import { SendProfile } from "./send-profile.tsx";
import { changeWords, t } from "./texts.ts";
import type { OpenDraft } from "./use-draft.ts";

const MODALITIES = ["BIOCHEMISTRY", "HEMATOLOGY", "URINALYSIS"] as const;

interface SaveProps {
  readonly draft: OpenDraft;
  readonly start: LocalMakerStart;
  readonly click: (clicks: readonly MakerClick[]) => void;
  /** Returns the draft after the clicks that are on their way. */
  readonly settled: () => Promise<OpenDraft | null>;
  /** Called after the profile was stored, or another one is used. */
  readonly done: (reference: string) => void;
}

/** The last step: the device's name, the check against its stored messages, saving, and running it. */
export function Save({ draft, start, click, settled, done }: SaveProps) {
  const isCode = draft.look.text === "";
  const name = useSignal(nameOf(draft.base) ?? slugOf(draft.look.views[0]?.sample?.device ?? ""));
  const device = useSignal(draft.device ?? "");
  const { save, back, before, result, error, retry, isRunning } = useSave(start, settled, done);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save(isCode ? null : name.value.trim(), device.value);
  };
  return (
    <section class="card" aria-labelledby="maker-save">
      <h2 id="maker-save">{t("use")}</h2>
      {!isCode && <DeviceFields of={draft.look.device} click={click} />}
      <form onSubmit={submit}>
        {!isCode && (
          <Field label={t("profileName")} hint={t("profileNameHint")}>
            <input
              value={name.value}
              pattern="[a-z0-9][a-z0-9\-]{0,62}"
              required={draft.patches.length > 0}
              spellcheck={false}
              maxLength={63}
              onInput={({ currentTarget }) => (name.value = currentTarget.value)}
            />
          </Field>
        )}
        <Field label={t("runOn")}>
          <select value={device.value} onChange={({ currentTarget }) => (device.value = currentTarget.value)}>
            <option value="">{t("noDevice")}</option>
            {start.devices.map(({ id, profile }) => (
              <option key={id} value={id}>
                {`${id} (${profile})`}
              </option>
            ))}
          </select>
        </Field>
        {device.value !== "" && <Check draft={draft} device={device.value} />}
        {error !== undefined && <Problem error={error} retry={retry} />}
        {result !== null && <Outcome of={result} />}
        {result?.outcome === "saved" && nameOf(result.reference) !== null && (
          <p>
            <SendProfile key={result.reference} profile={result.reference} />
          </p>
        )}
        <p class="actions">
          <button type="submit" class="primary" disabled={isRunning || draft.look.problems.length > 0}>
            {device.value === "" ? t("saveOnly") : t("saveAndRun", { device: device.value })}
          </button>
          {result?.outcome === "saved" && result.device !== null && before !== null && (
            <button type="button" disabled={isRunning} onClick={() => back(before, device.value, result.mark)}>
              {t("backTo", { profile: before })}
            </button>
          )}
        </p>
      </form>
      {!isCode && (
        <details>
          <summary>{t("asText")}</summary>
          <pre class="wire" tabIndex={0} role="region" aria-label={t("asText")}>
            {draft.look.text}
          </pre>
        </details>
      )}
    </section>
  );
}

/** Stores the draft, and returns a device to the profile that it had before. */
function useSave(start: LocalMakerStart, settled: SaveProps["settled"], done: SaveProps["done"]) {
  const saved = useSignal<LocalMakerSaved | null>(null);
  const before = useSignal<string | null>(null);
  const { run, error, retry, isRunning } = useAction();
  const send = async (body: Omit<MakerSave, "mark">, mark: string) => {
    saved.value = await call<LocalMakerSaved>("POST", "/maker/save", { ...body, mark });
    if (saved.value.outcome === "saved") done(saved.value.reference);
  };
  return {
    ...{ before: before.value, result: saved.value, error, retry, isRunning },
    /** @param name null for a profile that is used as it is */
    save: (name: string | null, device: string) =>
      void run(async () => {
        const draft = await settled();
        if (draft === null) return;
        const { base, patches, own } = draft;
        before.value = start.devices.find(({ id }) => id === device)?.profile ?? null;
        const isOwn = name !== null && (name !== "" || patches.length > 0);
        const seen = isOwn ? (own.find((each) => each.startsWith(`own/${name}@`)) ?? null) : null;
        const mark = saved.value?.outcome === "saved" ? saved.value.mark : start.mark;
        await send({ base, patches, name: isOwn ? name : null, seen, device: device === "" ? null : device }, mark);
      }),
    back: (profile: string, device: string, mark: string) =>
      void run(async () => {
        before.value = null;
        await send({ base: profile, patches: [], name: null, seen: null, device }, mark);
      }),
  };
}

function DeviceFields({ of, click }: { of: LocalMakerLook["device"]; click: SaveProps["click"] }) {
  return (
    <div class="maker-device">
      <Field label={t("deviceName")} hint={t("deviceNameHint")}>
        <input
          defaultValue={of.name ?? ""}
          maxLength={200}
          onChange={({ currentTarget }) => click([{ device: { name: currentTarget.value, modality: null } }])}
        />
      </Field>
      <Field label={t("kind")} hint={t("kindHint")}>
        <select
          value={of.modality ?? ""}
          onChange={({ currentTarget }) => {
            const chosen = MODALITIES.find((each) => each === currentTarget.value) ?? null;
            click([{ device: { name: "", modality: chosen } }]);
          }}
        >
          <option value="">{t("byAnalytes")}</option>
          {MODALITIES.map((each) => (
            <option key={each} value={each}>
              {studyWord(each)}
            </option>
          ))}
        </select>
      </Field>
    </div>
  );
}

/** @returns the name of an own profile, so that the next save is its next revision; null for a shipped one */
function nameOf(base: string): string | null {
  return /^own\/([^@]+)@/.exec(base)?.[1] ?? null;
}

/** Makes a name of the device's: `ACME V` is `acme-v`. */
function slugOf(device: string): string {
  const text = device.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return text.replaceAll(/^-+|-+$/g, "").slice(0, 40);
}

function Outcome({ of }: { of: LocalMakerSaved }) {
  if (of.outcome === "saved") {
    return (
      <p class="note-good" role="status">
        {of.device === null
          ? t("saved", { profile: of.reference })
          : t("runs", { profile: of.reference, device: of.device })}
        {of.device !== null && (
          <>
            {" "}
            <a href={`/messages?device=${encodeURIComponent(of.device)}`}>{t("itsNewest")}</a>
          </>
        )}
      </p>
    );
  }
  if (of.outcome === "changed") {
    return (
      <div class="problem" role="alert">
        <strong>{t("changed", { profile: of.reference })}</strong>
        <DiffLines lines={of.diff} label={t("difference")} />
      </div>
    );
  }
  return (
    <div class="problem" role="alert">
      <strong>{of.reference === null ? t("notSaved") : t("notRun", { profile: of.reference })}</strong>
      {of.problems.map((problem) => (
        <p key={problem} lang="en">
          {problem}
        </p>
      ))}
    </div>
  );
}

function Check({ draft, device }: { draft: OpenDraft; device: string }) {
  const found = useSignal<{ readonly of: string; readonly check: LocalMakerCheck } | null>(null);
  const { run, error, retry, isRunning } = useAction();
  const { base, patches } = draft;
  const now = JSON.stringify([base, patches, device]);
  const check = () =>
    void run(async () => {
      found.value = { of: now, check: await call<LocalMakerCheck>("POST", "/maker/check", { base, patches, device }) };
    });
  const shown = found.value?.of === now ? found.value.check : null;
  return (
    <div class="maker-check">
      <p class="actions">
        <button type="button" disabled={isRunning} onClick={check}>
          {t("check", { device })}
        </button>
        {isRunning && <span role="status">{t("checking")}</span>}
      </p>
      {error !== undefined && <Problem error={error} retry={retry} />}
      {shown !== null && (
        <div role="status">
          <p>{t("checked", { count: shown.messages, same: shown.same })}</p>
          <ul>
            {shown.changes.map(({ kind, count, messages }) => (
              <li key={kind}>
                {changeWords(kind, count)}{" "}
                {messages.map((id, index) => (
                  <a key={id} href={`/messages/${encodeURIComponent(id)}`} target="_blank">
                    {index + 1}
                  </a>
                ))}
              </li>
            ))}
            {shown.unread > 0 && <li class="maker-unread">{t("unread", { count: shown.unread })}</li>}
          </ul>
        </div>
      )}
    </div>
  );
}
