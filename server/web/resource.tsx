import { effect, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { refusalText } from "../dashboard/types/refusals.ts";
import { call, RequestError } from "./api.ts";
import { changes } from "./live.ts";
import { clinicPath } from "./session.ts";
import { language, texts } from "./text.ts";

// Data of a screen, and the states that every screen has: loading, error, no permission. A screen adds its own for "empty".

export interface Resource<T> {
  /** The last response. It stays while a newer one is loaded. */
  readonly data: T | undefined;
  readonly error: RequestError | undefined;
  readonly isLoading: boolean;
  /** Loads the data again. */
  readonly reload: () => Promise<void>;
}

/**
 * Loads `path` below the shown clinic, or below another place, and again at each change of the clinic's data. Null loads nothing.
 * A response to an older request is dropped. Without `isLive` changes load nothing.
 */
export function useResource<T>(path: string | null, below = clinicPath(), isLive = true): Resource<T> {
  const data = useSignal<T | undefined>(undefined);
  const error = useSignal<RequestError | undefined>(undefined);
  const isLoading = useSignal(path !== null);
  const wanted = useRef<string | null>(null);
  const asked = useRef(0);
  const whole = path === null ? null : below + path;

  async function load(): Promise<void> {
    if (whole === null || whole !== wanted.current) return;
    asked.current += 1;
    const number = asked.current;
    const isLatest = () => wanted.current === whole && asked.current === number;
    isLoading.value = true;
    try {
      const answer = await call<T>("GET", whole);
      if (!isLatest()) return;
      data.value = answer;
      error.value = undefined;
    } catch (failed) {
      if (!isLatest()) return;
      error.value = failed instanceof RequestError ? failed : new RequestError(String(failed), 0, "PAGE", null);
    }
    isLoading.value = false;
  }

  useEffect(() => {
    wanted.current = whole;
    data.value = undefined;
    error.value = undefined;
    return effect(() => {
      // Subscribes to the changes.
      if (isLive) void changes.value;
      void load();
    });
  }, [whole]);
  return { data: data.value, error: error.value, isLoading: isLoading.value, reload: load };
}

/** Loads `path` of the agent's own page, and again at each change of the agent. Null loads nothing. */
export function useLocal<T>(path: string | null): Resource<T> {
  return useResource<T>(path, "");
}

/** Loads `path` of the agent's own page when the screen is shown, and again only on demand. */
export function useLocalOnce<T>(path: string): Resource<T> {
  return useResource<T>(path, "", false);
}

/** Shows the data of a resource, or why there is none. With older data and a new error it shows both. */
export function Loaded<T>({ of, children }: { of: Resource<T>; children: (data: T) => ComponentChildren }) {
  const { data, error } = of;
  if (data === undefined) return error === undefined ? <Skeleton /> : <Problem error={error} retry={of.reload} />;
  return (
    <>
      {error !== undefined && <Problem error={error} retry={of.reload} />}
      {children(data)}
    </>
  );
}

function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-label={t("loading")}>
      <span />
      <span />
      <span />
    </div>
  );
}

/** Shows what failed: no permission, no response, or the server's own sentence with the request's id. */
export function Problem({ error, retry }: { error: RequestError; retry?: () => unknown }) {
  const isForbidden = error.code === "SESSION.FORBIDDEN";
  return (
    <div class="problem" role="alert">
      <strong>{isForbidden ? t("forbidden") : error.status === 0 ? t("offline") : t("failed")}</strong>
      <p>{sentenceOf(error)}</p>
      {error.requestId !== null && !isForbidden && (
        <p class="quiet">
          {t("requestId")} <code>{error.requestId}</code>
        </p>
      )}
      {retry !== undefined && !isForbidden && (
        <button type="button" onClick={() => void retry()}>
          {t("retry")}
        </button>
      )}
    </div>
  );
}

/** Returns the sentence in the page's language if the code has one, else the server's own sentence. */
function sentenceOf({ code, message, refusal }: RequestError): string {
  if (refusal !== null) return refusalText(refusal, language.value);
  const known = sessionErrors.find((one) => one === code);
  return known === undefined ? message : t(known);
}

const sessionErrors = [
  "SESSION.REQUIRED",
  "SESSION.SIGN_IN_FAILED",
  "SESSION.WRONG_PASSWORD",
  "SESSION.SETUP_CODE",
  "SESSION.TOO_MANY_ATTEMPTS",
  "SESSION.SECOND_FACTOR",
  "SESSION.SECOND_FACTOR_ENDED",
  "SESSION.FORBIDDEN",
  "OFFLINE",
] as const;

/** Shows that a list has no rows, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

const t = texts(
  {
    loading: "Loading",
    forbidden: "Your role does not allow this",
    offline: "The server does not answer",
    failed: "This did not work",
    requestId: "Request",
    retry: "Try again",
    "SESSION.REQUIRED": "Your session is over. Sign in again.",
    "SESSION.SIGN_IN_FAILED": "The name or the password is wrong.",
    "SESSION.WRONG_PASSWORD": "The password is wrong.",
    "SESSION.SETUP_CODE": "The set-up code is wrong, or a user exists already.",
    "SESSION.TOO_MANY_ATTEMPTS": "Too many attempts. Wait 15 minutes.",
    "SESSION.SECOND_FACTOR": "The code is wrong or was used already. Wait for the next one.",
    "SESSION.SECOND_FACTOR_ENDED":
      "Ten wrong codes followed the right password: somebody else knows it, and codes of the app end here. Use a recovery code or a " +
      "browser in which you signed in before, and change the password, or ask an admin for a new one.",
    "SESSION.FORBIDDEN": "An admin of the clinic can change your role.",
    OFFLINE: "Check the network. The page tries again.",
  },
  {
    loading: "Yükleniyor",
    forbidden: "Rolünüz buna izin vermiyor",
    offline: "Sunucu yanıt vermiyor",
    failed: "İşlem başarısız oldu",
    requestId: "İstek",
    retry: "Yeniden dene",
    "SESSION.REQUIRED": "Oturumunuz sona erdi. Yeniden oturum açın.",
    "SESSION.SIGN_IN_FAILED": "Ad veya parola yanlış.",
    "SESSION.WRONG_PASSWORD": "Parola yanlış.",
    "SESSION.SETUP_CODE": "Kurulum kodu yanlış veya zaten bir kullanıcı var.",
    "SESSION.TOO_MANY_ATTEMPTS": "Çok fazla deneme yapıldı. 15 dakika bekleyin.",
    "SESSION.SECOND_FACTOR": "Kod yanlış veya daha önce kullanıldı. Sonraki kodu bekleyin.",
    "SESSION.SECOND_FACTOR_ENDED":
      "Doğru parolanın ardından on yanlış kod girildi: parolayı başka biri biliyor ve uygulamanın kodları burada artık geçmiyor. Bir " +
      "kurtarma kodu ya da daha önce oturum açtığınız bir tarayıcı kullanıp parolanızı değiştirin veya yöneticiden yeni parola isteyin.",
    "SESSION.FORBIDDEN": "Rolünüzü kliniğin bir yöneticisi değiştirebilir.",
    OFFLINE: "Ağ bağlantısını denetleyin. Sayfa yeniden deniyor.",
  },
);
