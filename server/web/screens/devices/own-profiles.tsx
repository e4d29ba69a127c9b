import { strFromU8, type UnzipFileInfo, unzipSync } from "fflate";
import { useState } from "preact/hooks";
import type { OwnProfiles, OwnProfileSaved } from "../../../dashboard/types/devices/devices.ts";
import { call } from "../../api.ts";
import { Problem, useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { Field } from "../../ui/form/field.tsx";
import { useAction } from "../../ui/form/use-action.ts";
import { t } from "./texts.ts";

/** Adds a clinic's own profile from its file, and lists those that a device can name. */
export function OwnProfilesField() {
  const { data, reload } = useResource<OwnProfiles>("/profiles");
  const { run, error } = useAction();
  const [added, setAdded] = useState<string | null>(null);
  const add = async (file: File) => {
    setAdded(null);
    const { profile } = await call<OwnProfileSaved>("POST", `${clinicPath()}/profiles`, { text: await textOf(file) });
    setAdded(profile);
    await reload();
  };
  const names = data?.profiles.map(({ profile }) => profile) ?? [];
  return (
    <>
      <Field label={t("ownProfile")} hint={t("ownProfileHint")}>
        <input
          type="file"
          accept=".vetwire-profile,.yaml,.yml,.zip"
          onChange={({ currentTarget }: { currentTarget: HTMLInputElement }) => {
            const file = currentTarget.files?.[0];
            if (file !== undefined) void run(() => add(file));
          }}
        />
      </Field>
      {names.length > 0 && (
        <p class="quiet">
          {t("ownProfiles")}{" "}
          {names.map((name) => (
            <code key={name}>{name} </code>
          ))}
        </p>
      )}
      <div role="status">{added !== null && <p class="quiet">{t("profileAdded", { profile: added })}</p>}</div>
      {error !== undefined && <Problem error={error} />}
    </>
  );
}

/** The server refuses it with its sentence. */
const NO_PROFILE = "-";

function isProfile({ name, originalSize }: UnzipFileInfo): boolean {
  return name === "profile.yaml" && originalSize < 1e6;
}

/** Reads a profile's text, also from the file that the agent exports, which is a zip. */
async function textOf(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (strFromU8(bytes.subarray(0, 2), true) !== "PK") return file.text();
  try {
    const { "profile.yaml": text } = unzipSync(bytes, { filter: isProfile });
    return text === undefined ? NO_PROFILE : strFromU8(text);
  } catch {
    return NO_PROFILE;
  }
}
