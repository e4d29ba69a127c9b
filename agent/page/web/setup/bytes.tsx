import { t } from "./texts.ts";

/** The last bytes of the device as text. The frame is focusable, so that the keyboard scrolls it. */
export function Bytes({ shown }: { shown: string }) {
  if (shown === "") return null;
  return (
    <div class="bytes" role="region" tabIndex={0} aria-label={t("bytesShown")}>
      {shown}
    </div>
  );
}
