import type { OidcFinishBody } from "../../../dashboard/types/settings/session.ts";
import { useEffect } from "preact/hooks";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { translations } from "../../text.ts";
import { useAction } from "../../ui/form/use-action.ts";

/** Brings the provider's answer to the server, and opens the page at `home`. The answer leaves the address of the page first. */
export function OidcReturn({ home }: { home: string }) {
  const { run, error } = useAction();
  useEffect(() => {
    const { search: query, pathname } = location;
    history.replaceState(null, "", pathname);
    void run(async () => {
      await call("POST", "/oidc/finish", { query } satisfies OidcFinishBody);
      // A new page, since this one may show what an earlier user of the browser saw.
      location.replace(home);
    });
  }, []);
  return (
    <main class="sign-in">
      <h1>Vetwire</h1>
      {error === undefined ? (
        <p role="status">{t("running")}</p>
      ) : (
        <>
          <Problem error={error} />
          <button type="button" class="primary" onClick={() => location.replace(home)}>
            {t("back")}
          </button>
        </>
      )}
    </main>
  );
}

const t = translations({
  running: ["You are being signed in.", "Oturumunuz açılıyor."],
  back: ["Back to the sign-in", "Oturum açma sayfasına dön"],
});
