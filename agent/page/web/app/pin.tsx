import { call, isSignedOut, type RequestError } from "../../../../server/web/api.ts";
import { Problem } from "../../../../server/web/resource.tsx";
import { translations } from "../../../../server/web/text.ts";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import { formValues } from "../../../../server/web/ui/form/form.ts";
import { PageChoices } from "../../../../server/web/ui/header/page-choices.tsx";
import { useAction } from "../../../../server/web/ui/form/use-action.ts";

/** Prompts another machine for the PIN of the agent's page. */
export function Pin() {
  const { run, error, isRunning } = useAction();
  const enter = (event: SubmitEvent) => {
    const { pin = "" } = formValues(event);
    void run(async () => {
      await call("POST", "/session", { pin: pin.trim() });
      isSignedOut.value = false;
    });
  };
  return (
    <main class="sign-in" id="main">
      <h1>{t("title")}</h1>
      <form onSubmit={enter}>
        <Field label={t("pin")} hint={t("hint")} fault={faultOf(error)}>
          <input name="pin" autocomplete="off" autocapitalize="characters" spellcheck={false} required maxLength={20} />
        </Field>
        <button type="submit" class="primary" disabled={isRunning}>
          {t("enter")}
        </button>
      </form>
      {error !== undefined && faultOf(error) === null && <Problem error={error} />}
      <PageChoices />
    </main>
  );
}

function faultOf(error: RequestError | undefined): string | null {
  if (error?.code === "SESSION.WRONG_PIN") return t("wrong");
  return error?.code === "SESSION.TOO_MANY_ATTEMPTS" ? t("wait") : null;
}

const t = translations({
  title: ["Vetwire agent", "Vetwire aracısı"],
  pin: ["PIN", "PIN"],
  hint: [
    "Type “vetwire agent status” on the clinic’s PC. It shows the PIN, 12 letters and digits.",
    "Klinik bilgisayarında “vetwire agent status” yazın. 12 harf ve rakamdan oluşan PIN’i gösterir.",
  ],
  enter: ["Enter", "Gir"],
  wrong: [
    "The PIN is wrong. “vetwire agent status” on the PC shows it.",
    "PIN yanlış. Bilgisayardaki “vetwire agent status” doğru PIN’i gösterir.",
  ],
  wait: [
    "Too many wrong PINs. Wait 15 minutes, or use the page on the PC itself.",
    "Çok fazla yanlış PIN girildi. 15 dakika bekleyin veya sayfayı o bilgisayarda açın.",
  ],
});
