import type { Language } from "../../../../shared/api/language.ts";
import { chooseLanguage, language, translations } from "../../text.ts";
import { chooseTheme, theme, type Theme } from "../../theme.ts";
import { Field } from "../form/field.tsx";

/** The user's choice of language and colours in this browser. */
export function PageChoices() {
  return (
    <>
      <Field label={t("language")}>
        <select
          value={language.value}
          onChange={({ currentTarget }) => chooseLanguage(currentTarget.value as Language)}
        >
          <option value="en">English</option>
          <option value="tr">Türkçe</option>
        </select>
      </Field>
      <Field label={t("theme")}>
        <select value={theme.value} onChange={({ currentTarget }) => chooseTheme(currentTarget.value as Theme)}>
          <option value="auto">{t("auto")}</option>
          <option value="light">{t("light")}</option>
          <option value="dark">{t("dark")}</option>
        </select>
      </Field>
    </>
  );
}

const t = translations({
  language: ["Language", "Dil"],
  theme: ["Colours", "Renkler"],
  auto: ["Automatic", "Otomatik"],
  light: ["Light", "Açık"],
  dark: ["Dark", "Koyu"],
});
