import { useState } from "preact/hooks";
import type { DevicesBody } from "../../../dashboard/types/devices/devices.ts";
import { useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { translations } from "../../text.ts";
import { SetSchedule } from "./dialogs/schedule.tsx";

/** Says a clinic without controls what they are, and how to begin. */
export function Begin({ hasQuestions, reload }: { hasQuestions: boolean; reload: () => Promise<void> }) {
  const [isOpen, setOpen] = useState(false);
  const devices = useResource<DevicesBody>("/devices").data?.agents.flatMap((agent) => agent.devices) ?? [];
  return (
    <section class="card begin-steps" aria-labelledby="begin">
      <h2 id="begin">{t("title")}</h2>
      <p>{t("what")}</p>
      <p>{t("why")}</p>
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
    "Kontrol materyali, değerleri bilinen bir flakondur ve numune gibi çalışılır. Analizör bilinen değerleri bulursa, hastalar için verdiği sonuca güvenebilirsiniz.",
  ],
  why: [
    "Without controls a device that slowly drifts looks normal, until a sick animal looks healthy or a healthy one sick.",
    "Kontrol olmadan, yavaş yavaş sapan bir cihaz normal görünür; ta ki hasta hayvan sağlıklı ya da sağlıklı hayvan hasta görünene dek.",
  ],
  steps: ["Begin in three steps", "Üç adımda başlayın"],
  step1: [
    "Get a control for your device from its maker: two levels are best, one is a start. Keep the sheet from the box.",
    "Cihazınıza uygun kontrol materyalini üreticisinden temin edin: en iyisi iki seviyedir, tek seviye de bir başlangıçtır. Kutudaki prospektüsü saklayın.",
  ],
  step2: [
    "Run it like a sample. Many devices mark their controls, and these arrive by themselves. For another device use “Type a control”, or name the sample numbers of its controls under Devices, Edit devices.",
    "Numune gibi çalışın. Birçok cihaz kontrollerini işaretler; bunlar kendiliğinden gelir. Başka bir cihaz için “Kontrol sonucu gir” düğmesini kullanın ya da kontrollerinin numune numaralarını Cihazlar, Cihazları düzenle altında belirtin.",
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
