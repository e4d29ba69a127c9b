import type { StudyPage } from "../../../../dashboard/types/results/results.ts";
import { viewerLink } from "../../../../dashboard/types/results/viewer-link.ts";
import { clinic } from "../../../session.ts";
import { translations } from "../../../text.ts";

/** The link to a study of images in the viewer that the clinic chose. */
export function ViewerLink({ study: { study_instance_uid: uid } }: { study: StudyPage }) {
  const link = uid === null ? null : viewerLink(clinic.value?.viewer_template ?? null, uid);
  if (link === null) return null;
  return (
    <a class="button" href={link} target="_blank" rel="noopener noreferrer">
      {t("open")}
    </a>
  );
}

const t = translations({
  open: ["Open in the archive’s viewer", "Arşivin görüntüleyicisinde aç"],
});
