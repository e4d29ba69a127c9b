import { useSignal } from "@preact/signals";
import type { LocalMakerStart, MakerDevice, MakerSource } from "../../types/maker.ts";
import { dateTime } from "../../../../server/web/text.ts";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import { stateWord } from "../messages/texts.ts";
import { OwnProfiles } from "./send-profile.tsx";
import { t } from "./texts.ts";

/** Messages of a device that a draft shows beside each other. */
const MESSAGES_MAX = 5;

type Start = (source: MakerSource, device: string | null) => void;

/** The first step: the bytes of a device, a recorded message, a file or a paste. */
export function Source({ of, isRunning, start }: { of: LocalMakerStart; isRunning: boolean; start: Start }) {
  return (
    <>
      {of.devices.length > 0 && (
        <section class="card">
          <h2>{t("ofDevice")}</h2>
          <ul class="plain-list maker-devices">
            {of.devices.map((device) => (
              <DeviceSource key={device.id} of={device} isRunning={isRunning} start={start} />
            ))}
          </ul>
        </section>
      )}
      <Paste isRunning={isRunning} start={start} />
      <OwnProfiles own={of.own} />
    </>
  );
}

function DeviceSource({
  of: { id, profile, noise, messages },
  isRunning,
  start,
}: {
  of: MakerDevice;
  isRunning: boolean;
  start: Start;
}) {
  const chosen = useSignal<readonly string[]>(messages.slice(0, 3).map((message) => message.id));
  const toggle = (message: string) => {
    const isIn = chosen.value.includes(message);
    if (!isIn && chosen.value.length >= MESSAGES_MAX) return;
    chosen.value = isIn ? chosen.value.filter((each) => each !== message) : [...chosen.value, message];
  };
  return (
    <li>
      <h3>
        {id} <span class="quiet">{profile}</span>
      </h3>
      {noise === 0 && messages.length === 0 && <p class="quiet">{t("nothingSent")}</p>}
      {messages.length > 0 && (
        <details>
          <summary>{t("itsMessages", { count: messages.length })}</summary>
          {messages.map((message) => (
            <label class="check" key={message.id}>
              <input type="checkbox" checked={chosen.value.includes(message.id)} onChange={() => toggle(message.id)} />
              <span>
                {dateTime(message.received_at)} <span class="quiet">{stateWord(message.state)}</span>
              </span>
            </label>
          ))}
        </details>
      )}
      <p class="actions">
        {messages.length > 0 && (
          <button
            type="button"
            disabled={isRunning || chosen.value.length === 0}
            onClick={() => start({ messages: [...chosen.value] }, id)}
          >
            {t("openMessages", { count: chosen.value.length, device: id })}
          </button>
        )}
        {noise > 0 && (
          <button type="button" disabled={isRunning} onClick={() => start({ device: id }, id)}>
            {t("openNoise", { count: noise, device: id })}
          </button>
        )}
      </p>
    </li>
  );
}

function Paste({ isRunning, start }: { isRunning: boolean; start: Start }) {
  const text = useSignal("");
  const isHex = useSignal(false);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    start(isHex.value ? { hex: text.value } : { text: text.value }, null);
  };
  const read = async (file: File | undefined) => {
    if (file !== undefined) start({ base64: base64Of(new Uint8Array(await file.arrayBuffer())) }, null);
  };
  return (
    <section class="card">
      <h2>{t("paste")}</h2>
      <form onSubmit={submit}>
        <Field label={t("bytes")} hint={t("bytesHint")}>
          <textarea
            class="maker-paste"
            rows={8}
            spellcheck={false}
            required
            maxLength={600_000}
            value={text.value}
            onInput={({ currentTarget }) => (text.value = currentTarget.value)}
          />
        </Field>
        <label class="check">
          <input type="checkbox" checked={isHex.value} onChange={() => (isHex.value = !isHex.value)} />
          <span>{t("isHex")}</span>
        </label>
        <p class="actions">
          <button type="submit" class="primary" disabled={isRunning}>
            {t("open")}
          </button>
        </p>
      </form>
      <Field label={t("file")}>
        <input type="file" onChange={({ currentTarget }) => void read(currentTarget.files?.[0])} />
      </Field>
    </section>
  );
}

function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
