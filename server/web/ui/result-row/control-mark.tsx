import { translations } from "../../text.ts";
import { Badge } from "../status/badge.tsx";
import { Icon } from "../status/icon.tsx";

/** Marks a value, or a study, around which a control of its device failed. The value stays as it is. */
export function ControlMark() {
  return (
    <Badge tone="warning">
      <Icon of="bad" /> {controlFailed()}
    </Badge>
  );
}

/** Returns the words of the mark, for a place without room for it. */
export function controlFailed(): string {
  return t("failed");
}

const t = translations({ failed: ["control failed", "kontrol başarısız"] });
