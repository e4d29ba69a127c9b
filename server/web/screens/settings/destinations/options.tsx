import { DEFAULT_OPTIONS, type DestinationOptions } from "../../../../dashboard/types/settings/destinations.ts";
import { Field } from "../../../ui/form/field.tsx";
import { t } from "./texts.ts";

/** The expectations of the site of a destination, as fields of a form. */
export function OptionFields({ of = DEFAULT_OPTIONS }: { of?: DestinationOptions }) {
  return (
    <>
      <Field label={t("nameOrder")}>
        <select name="name_order">
          <option value="owner_first" selected={of.name_order === "owner_first"}>
            {t("owner_first")}
          </option>
          <option value="animal_first" selected={of.name_order === "animal_first"}>
            {t("animal_first")}
          </option>
        </select>
      </Field>
      <Field label={t("codeOrder")}>
        <select name="codes">
          <option value="loinc" selected={!of.local_first}>
            {t("loincFirst")}
          </option>
          <option value="local" selected={of.local_first}>
            {t("localFirst")}
          </option>
        </select>
      </Field>
      <Field label={t("report")}>
        <select name="pdf">
          <option value="no" selected={!of.pdf}>
            {t("withoutPdf")}
          </option>
          <option value="yes" selected={of.pdf}>
            {t("withPdf")}
          </option>
        </select>
      </Field>
      <Field label={t("application")} hint={t("ifAsked")}>
        <input name="application" defaultValue={of.application} maxLength={180} autocomplete="off" />
      </Field>
      <Field label={t("facility")} hint={t("ifAsked")}>
        <input name="facility" defaultValue={of.facility} maxLength={180} autocomplete="off" />
      </Field>
    </>
  );
}

export function optionsIn(fields: Record<string, string>): DestinationOptions {
  return {
    name_order: fields["name_order"] === "animal_first" ? "animal_first" : "owner_first",
    local_first: fields["codes"] === "local",
    pdf: fields["pdf"] === "yes",
    application: fields["application"] ?? "",
    facility: fields["facility"] ?? "",
  };
}
