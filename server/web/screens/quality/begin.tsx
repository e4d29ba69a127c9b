import { useState } from "preact/hooks";
import type { DevicesBody } from "../../../dashboard/types/devices/devices.ts";
import { useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { translations } from "../../text.ts";
import { SetSchedule } from "./dialogs/schedule.tsx";

/**
 * Profiles whose devices mark their controls, by their messages: a control then arrives by itself. The others' controls are found
 * by the sample numbers that the clinic names, or typed.
 */
const MARKS_CONTROLS: ReadonlySet<string> = new Set([
  ...["abaxis-vetscan-vs2", "abaxis-vetscan-vs2-csv", "biosystems-ba", "epoc", "fuji-au", "fuji-dri-chem-nx"],
  ...["fuji-dri-chem-nx-hl7", "mindray-bc", "mindray-bc2800vet", "mindray-bs", "mythic", "siemens-clinitek"],
  ...["siemens-dca", "sysmex-xn", "urit-5160", "wondfo-finecare-csv", "zybio-z"],
]);

/** Says a clinic without controls what they are, which of its devices send them, and how to begin. */
export function Begin({ hasQuestions, reload }: { hasQuestions: boolean; reload: () => Promise<void> }) {
  const [isOpen, setOpen] = useState(false);
  const devices = useResource<DevicesBody>("/devices").data?.agents.flatMap((agent) => agent.devices) ?? [];
  return (
    <section class="card begin-steps" aria-labelledby="begin">
      <h2 id="begin">{t("title")}</h2>
      <p>{t("what")}</p>
      <p>{t("why")}</p>
      {devices.length > 0 && (
        <>
          <h3>{t("devices")}</h3>
          <ul>
            {devices.map(({ id, name, profile }) => (
              <li key={id}>
                <strong>{name === null || name === id ? id : `${id}, ${name}`}</strong>:{" "}
                {t(MARKS_CONTROLS.has(profile ?? "") ? "sends" : "doesNotMark")}
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>{t("steps")}</h3>
      <ol>
        <li>{t("step1")}</li>
        <li>{t("step2")}</li>
        <li>{t("step3")}</li>
      </ol>
      {hasQuestions && <p>{t("answerFirst")}</p>}
      {may("admin") && devices.length > 0 && (
        <p>
          <button type="button" onClick={() => setOpen(true)}>
            {t("remind")}
          </button>
        </p>
      )}
      {isOpen && <SetSchedule devices={[]} device={undefined} close={() => setOpen(false)} reload={reload} />}
    </section>
  );
}

const t = translations({
  title: ["No control has been run yet", "Henüz kontrol çalışılmadı"],
  what: [
    "A control is a vial whose values are known. You run it like a sample. If the analyzer finds the known values, you can trust what it says about patients.",
    "Kontrol, değerleri bilinen bir flakondur. Numune gibi çalışılır. Analizör bilinen değerleri bulursa, hastalar için verdiği sonuca güvenebilirsiniz.",
  ],
  why: [
    "Without controls a device that slowly drifts looks normal, until a sick animal looks healthy or a healthy one sick.",
    "Kontrol olmadan, yavaş yavaş sapan bir cihaz normal görünür; ta ki hasta hayvan sağlıklı ya da sağlıklı hayvan hasta görünene dek.",
  ],
  devices: ["Your devices", "Cihazlarınız"],
  sends: ["marks its controls and sends them by itself", "kontrollerini işaretler ve kendiliğinden gönderir"],
  doesNotMark: [
    "type its controls here, or name their sample numbers under Devices, Edit devices",
    "kontrollerini buradan girin ya da numune numaralarını Cihazlar, Cihazları düzenle altında belirtin",
  ],
  steps: ["Begin in three steps", "Üç adımda başlayın"],
  step1: [
    "Get a control for your device from its maker: two levels are best, one is a start. Keep the sheet from the box.",
    "Cihazınız için üreticisinden bir kontrol edinin: iki seviye en iyisidir, bir seviye de başlangıçtır. Kutudaki prospektüsü saklayın.",
  ],
  step2: [
    "Run it like a sample. If the device does not send it, use “Type a control”.",
    "Numune gibi çalışın. Cihaz göndermiyorsa “Kontrol gir” düğmesini kullanın.",
  ],
  step3: [
    "Enter the limits of the sheet. From then on each control is judged, and this page says what to do.",
    "Prospektüsteki sınırları girin. Bundan sonra her kontrol değerlendirilir ve ne yapılacağını bu sayfa söyler.",
  ],
  remind: ["Remind us of controls", "Kontrolleri hatırlat"],
  answerFirst: [
    "A device has sent controls already: answer the question above.",
    "Bir cihaz zaten kontrol göndermiş: yukarıdaki soruyu yanıtlayın.",
  ],
});
