import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { StudyPage } from "../../../dashboard/types/results/results.ts";
import type { SharedLink, SharingState } from "../../../dashboard/types/results/sharing.ts";
import { call } from "../../api.ts";
import { useResource } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { dateTime } from "../../text.ts";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { t } from "./texts.ts";

/** Counts up when the dialog may have made a link. */
export const timesShared = signal(0);

/** The links to a study's report, with when they were opened. A study without links has no list. */
export function SharedLinks({ study: { fp } }: { study: StudyPage }) {
  const state = useResource<SharingState>(may("staff") ? `/results/${fp}/sharing` : null);
  const [revoked, setRevoked] = useState<SharedLink | null>(null);
  const times = timesShared.value;
  useEffect(() => {
    if (times > 0) void state.reload();
  }, [times]);
  const links = state.data?.links ?? [];
  if (links.length === 0) return null;
  const revoke = async ({ id }: SharedLink) => {
    await call("DELETE", `${clinicPath()}/results/${fp}/links/${id}`);
    await state.reload();
  };
  return (
    <section>
      <h2>{t("links")}</h2>
      <DataTable label={t("links")} class="cards" columns={[t("made"), t("ends"), t("opened"), t("state")]}>
        {links.map((link) => (
          <tr key={link.id}>
            <td>{t("by", { at: dateTime(link.made_at), by: link.by })}</td>
            <td>{t("until", { at: dateTime(link.ends_at) })}</td>
            <td>{openedText(link)}</td>
            <td>
              {t(link.ended ?? "works")}{" "}
              {link.ended === null && (
                <button
                  type="button"
                  aria-label={t("revokeOf", { at: dateTime(link.made_at) })}
                  onClick={() => setRevoked(link)}
                >
                  {t("revoke")}
                </button>
              )}
            </td>
          </tr>
        ))}
      </DataTable>
      {revoked !== null && (
        <FormDialog
          title={t("revokeTitle")}
          button={t("revoke")}
          isDangerous
          act={() => revoke(revoked)}
          close={() => setRevoked(null)}
        >
          <p>{t("revokeWhy")}</p>
        </FormDialog>
      )}
    </section>
  );
}

function openedText({ opened }: SharedLink): string {
  if (opened === null) return t("never");
  const [first, last] = [dateTime(opened.first_at), dateTime(opened.last_at)];
  return opened.times === 1 ? t("openedOnce", { first }) : t("openedTimes", { times: opened.times, first, last });
}
