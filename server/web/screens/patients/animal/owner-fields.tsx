import type { ComponentChildren } from "preact";
import { type KnownOwner, TEXT_MAX } from "../../../../dashboard/types/animals.ts";
import { Field } from "../../../ui/form/field.tsx";
import type { FieldsProps } from "./animal-fields.tsx";
import type { OwnerDraft } from "./draft.ts";
import { t } from "./texts.ts";

/** The owner of an animal: one whom the clinic knows, or a new one. */
export function OwnerFields({
  draft: { knownOwner, newOwner },
  change,
  faultOf,
  leave,
  suggested,
}: FieldsProps & { suggested: readonly KnownOwner[] }) {
  return (
    <fieldset class="animal-fields">
      <legend>{t("owner")}</legend>
      {knownOwner !== null ? (
        <p class="between animal-wide">
          <OwnerLine owner={knownOwner} />
          <button type="button" onClick={() => change({ knownOwner: null })}>
            {t("otherOwner")}
          </button>
        </p>
      ) : (
        <>
          <OwnerFacts
            draft={newOwner}
            change={(changed) => change({ newOwner: { ...newOwner, ...changed } })}
            faultOf={faultOf}
            leave={leave}
            hint={t("ownerHint")}
          >
            {suggested.length > 0 && (
              <section class="animal-wide" aria-label={t("known")}>
                <p class="quiet">{t("known")}</p>
                <ul class="plain-list animal-known">
                  {suggested.map((owner) => (
                    <li key={owner.fp} class="between">
                      <OwnerLine owner={owner} />
                      <button
                        type="button"
                        aria-label={`${t("useOwner")}: ${owner.name ?? t("noName")}`}
                        onClick={() => change({ knownOwner: owner })}
                      >
                        {t("useOwner")}
                      </button>
                    </li>
                  ))}
                </ul>
              </section>
            )}
          </OwnerFacts>
        </>
      )}
    </fieldset>
  );
}

function OwnerLine({ owner: { name, phone, animals } }: { owner: KnownOwner }) {
  return (
    <span>
      <strong>{name ?? t("noName")}</strong>{" "}
      <span class="quiet">
        {[phone, animals.length === 0 ? null : t("also", { names: animals.join(", ") })]
          .filter((fact) => fact !== null)
          .join(" · ")}
      </span>
    </span>
  );
}

/** The fields that people of the clinic fill in about an owner. */
export function OwnerFacts({
  draft,
  change,
  faultOf,
  leave,
  hint,
  children,
}: {
  draft: OwnerDraft;
  change: (changed: Partial<OwnerDraft>) => void;
  faultOf: FieldsProps["faultOf"];
  leave: FieldsProps["leave"];
  hint?: string;
  children?: ComponentChildren;
}) {
  const text = (name: "name" | "phone" | "email") => (
    <input
      autocomplete="off"
      inputMode={name === "phone" ? "tel" : name === "email" ? "email" : "text"}
      maxLength={TEXT_MAX[name]}
      value={draft[name]}
      onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
      onBlur={() => leave(`owner/${name}`)}
    />
  );
  const zones = Intl.supportedValuesOf("timeZone");
  const isOtherZone = draft.time_zone !== "" && !zones.includes(draft.time_zone);
  return (
    <>
      <Field label={t("ownerName")} fault={faultOf("owner/name")} {...(hint !== undefined && { hint })}>
        {text("name")}
      </Field>
      <Field label={t("phone")} fault={faultOf("owner/phone")}>
        {text("phone")}
      </Field>
      <Field label={t("email")} fault={faultOf("owner/email")} hint={t("emailHint")}>
        {text("email")}
      </Field>
      {children}
      <details class="animal-wide" open={draft.language !== "" || draft.time_zone !== ""}>
        <summary>{t("moreOfOwner")}</summary>
        <Field label={t("language")}>
          <select value={draft.language} onChange={({ currentTarget }) => change({ language: currentTarget.value })}>
            <option value="">{t("ofClinic")}</option>
            <option value="en">English</option>
            <option value="tr">Türkçe</option>
          </select>
        </Field>
        <Field label={t("timeZone")} fault={faultOf("owner/time_zone")}>
          <select value={draft.time_zone} onChange={({ currentTarget }) => change({ time_zone: currentTarget.value })}>
            <option value="">{t("ofClinic")}</option>
            {(isOtherZone ? [draft.time_zone, ...zones] : zones).map((zone) => (
              <option key={zone} value={zone}>
                {zone}
              </option>
            ))}
          </select>
        </Field>
      </details>
    </>
  );
}
