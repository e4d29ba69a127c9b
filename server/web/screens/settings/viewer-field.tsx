import { useState } from "preact/hooks";
import {
  VIEWER_PRESETS,
  VIEWER_TEMPLATE_CHARS_MAX,
  VIEWER_UID,
  viewerFault,
} from "../../../dashboard/types/results/viewer-link.ts";
import { translations } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";

/** The address of the archive's viewer, with the forms of known viewers to start from. */
export function ViewerField({ template }: { template: string | null }) {
  const [typed, setTyped] = useState(template ?? "");
  const fault = typed.trim() === "" ? null : viewerFault(typed.trim());
  return (
    <div>
      <Field
        label={t("viewer")}
        hint={t("viewerHint", { uid: VIEWER_UID })}
        fault={fault === null ? null : t(fault, { uid: VIEWER_UID })}
      >
        <input
          name="viewer_template"
          autocomplete="off"
          spellcheck={false}
          maxLength={VIEWER_TEMPLATE_CHARS_MAX}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </Field>
      <p class="actions">
        {Object.entries(VIEWER_PRESETS).map(([name, preset]) => (
          <button key={name} type="button" onClick={() => setTyped(preset)}>
            {t("like", { name })}
          </button>
        ))}
      </p>
    </div>
  );
}

const t = translations({
  viewer: ["Viewer of the archive", "Arşivin görüntüleyicisi"],
  viewerHint: [
    "Its address for a study, with {uid}. A study of images then has a link to it. Empty: no link.",
    "Bir tetkikin {uid} içeren adresi. Görüntü tetkiklerinde ona bir bağlantı olur. Boş: bağlantı yok.",
  ],
  like: ["Like {name}", "{name} biçimi"],
  "too long": ["The address is too long.", "Adres çok uzun."],
  "no uid": ["{uid} is missing.", "{uid} eksik."],
  "no address": [
    "This is not an address, or it names the study as the server.",
    "Bu bir adres değil veya sunucu adında tetkik var.",
  ],
  scheme: [
    "The address begins with https://, http:// or weasis://.",
    "Adres https://, http:// veya weasis:// ile başlar.",
  ],
});
