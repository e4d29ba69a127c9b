import { effect, signal, useSignal } from "@preact/signals";
import type { Language } from "../../shared/api/language.ts";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { call, RequestError } from "./api.ts";
import { changes, RETRY_MS } from "./live.ts";
import { clinicPath } from "./session.ts";
import { language, translations } from "./text.ts";

// Data of a screen and its common states: loading, error, no permission. Each screen adds its own state for an empty list.

export interface Resource<T> {
  /** The last response. It remains while a newer one is loaded. */
  readonly data: T | undefined;
  readonly error: RequestError | undefined;
  readonly isLoading: boolean;
  /** Loads the data again. */
  readonly reload: () => Promise<void>;
}

/** Counts the clicks on "Try again". Each loads all that failed on the page, also what shows no error of its own. */
const attempts = signal(0);

function tryAgain(): void {
  attempts.value += 1;
}

/**
 * Loads `path` below the shown clinic or another address, and again after each change of the clinic's data. Null loads nothing.
 * Late responses to older requests are discarded. Without `isLive` changes are ignored. While the server does not answer, or fails,
 * the load is tried again every 5 s, so that no page needs to be loaded again by its user.
 */
export function useResource<T>(path: string | null, below = clinicPath(), isLive = true): Resource<T> {
  const data = useSignal<T | undefined>(undefined);
  const error = useSignal<RequestError | undefined>(undefined);
  const isLoading = useSignal(path !== null);
  const wanted = useRef<string | null>(null);
  const asked = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const whole = path === null ? null : below + path;

  async function load(): Promise<void> {
    if (whole === null || whole !== wanted.current) return;
    asked.current += 1;
    const number = asked.current;
    const isLatest = () => wanted.current === whole && asked.current === number;
    isLoading.value = true;
    clearTimeout(timer.current);
    try {
      const answer = await call<T>("GET", whole);
      if (!isLatest()) return;
      data.value = answer;
      error.value = undefined;
    } catch (failed) {
      if (!isLatest()) return;
      const fault = failed instanceof RequestError ? failed : new RequestError(String(failed), 0, "PAGE", null);
      error.value = fault;
      if (fault.status === 0 || fault.status >= 500) timer.current = setTimeout(() => void load(), RETRY_MS);
    }
    isLoading.value = false;
  }

  useEffect(() => {
    wanted.current = whole;
    data.value = undefined;
    error.value = undefined;
    const stop = effect(() => {
      // Subscribes to the changes.
      if (isLive) void changes.value;
      void load();
    });
    const stopAttempts = effect(() => {
      if (attempts.value > 0 && error.peek() !== undefined) void load();
    });
    return () => {
      stop();
      stopAttempts();
      wanted.current = null;
      clearTimeout(timer.current);
    };
  }, [whole]);
  return { data: data.value, error: error.value, isLoading: isLoading.value, reload: load };
}

/** Keeps the last list on the screen while the next one is loaded, so that a search field above it keeps focus and text. */
export function useKept<T>(resource: Resource<T>): Resource<T> {
  const last = useRef<T | undefined>(undefined);
  if (resource.data !== undefined) last.current = resource.data;
  return { ...resource, data: resource.error === undefined ? last.current : resource.data };
}

/** Loads `path` of the agent's page, and again after each change of the agent. Null loads nothing. */
export function useLocal<T>(path: string | null): Resource<T> {
  return useResource<T>(path, "");
}

/** Loads `path` of the agent's page when the screen is shown, and again only on demand. */
export function useLocalOnce<T>(path: string): Resource<T> {
  return useResource<T>(path, "", false);
}

/**
 * Shows the data of a resource, or the reason for missing data. After a failed reload it shows the error and the older data.
 */
export function Loaded<T>({ of, children }: { of: Resource<T>; children: (data: T) => ComponentChildren }) {
  const { data, error } = of;
  if (data === undefined) return error === undefined ? <Skeleton /> : <Problem error={error} retry={tryAgain} />;
  return (
    <>
      {error !== undefined && <Problem error={error} retry={tryAgain} />}
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

/** Shows the error: no permission, no response, or its sentence with the id of the request. */
export function Problem({ error, retry }: { error: RequestError; retry?: () => unknown }) {
  const isForbidden = error.code === "SESSION.FORBIDDEN";
  return (
    <div class="problem" role="alert">
      <strong>{t(titleOf(error))}</strong>
      <p>{sentenceOf(error) ?? <ServersOwn error={error} />}</p>
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

/** The server's sentence, which is English on every page. */
function ServersOwn({ error: { code, message } }: { error: RequestError }) {
  const isValue = code === "REQUEST.INVALID_BODY" || code === "REQUEST.INVALID_PARAMETER";
  return (
    <>
      {isValue && `${t("value")} `}
      <span lang="en">{message}</span>
    </>
  );
}

function titleOf({ code, status }: RequestError): "forbidden" | "offline" | "failed" {
  if (code === "SESSION.FORBIDDEN") return "forbidden";
  return status === 0 ? "offline" : "failed";
}

type WordsOf = (sentence: string, language: Language) => string | null;

let wordsOfServer: WordsOf = () => null;

/** Sets the words for the sentences of a server that has no code for each. They return null for a sentence without words. */
export function wordErrorsBy(words: WordsOf): void {
  wordsOfServer = words;
}

/** Returns the translated sentence of a refusal or an error; null without a translation. */
function sentenceOf({ code, message, refusal }: RequestError): string | null {
  if (refusal !== null) return refusal.text(language.value);
  const known = knownErrors.find((one) => one === code);
  return known === undefined ? wordsOfServer(message, language.value) : t(known);
}

const knownErrors = [
  "SESSION.REQUIRED",
  "SESSION.SIGN_IN_FAILED",
  "SESSION.WRONG_PASSWORD",
  "SESSION.SETUP_CODE",
  "SESSION.TOO_MANY_ATTEMPTS",
  "SESSION.SECOND_FACTOR",
  "SESSION.SECOND_FACTOR_ENDED",
  "SESSION.FORBIDDEN",
  "SESSION.OTHER_USER",
  "CLINIC.SUSPENDED",
  "RECORD.NOT_FOUND",
  "RECORD.DAMAGED",
  "REQUEST.ID_REUSED",
  "REQUEST.TIMEOUT",
  "REQUEST.TOO_LARGE",
  "SERVER.INTERNAL",
  "SERVER.UNAVAILABLE",
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

const t = translations({
  loading: ["Loading", "Yükleniyor"],
  forbidden: ["Your role does not allow this", "Rolünüz buna izin vermiyor"],
  offline: ["The server does not answer", "Sunucu yanıt vermiyor"],
  failed: ["This did not work", "İşlem başarısız oldu"],
  requestId: ["Request", "İstek"],
  retry: ["Try again", "Yeniden dene"],
  value: ["A value is not accepted:", "Bir değer kabul edilmedi:"],
  "SESSION.REQUIRED": ["Your session is over. Sign in again.", "Oturumunuz sona erdi. Yeniden oturum açın."],
  "SESSION.SIGN_IN_FAILED": ["The name or the password is wrong.", "Ad veya parola yanlış."],
  "SESSION.WRONG_PASSWORD": ["The password is wrong.", "Parola yanlış."],
  "SESSION.SETUP_CODE": [
    "The set-up code is wrong, or a user exists already.",
    "Kurulum kodu yanlış veya zaten bir kullanıcı var.",
  ],
  "SESSION.TOO_MANY_ATTEMPTS": ["Too many attempts. Wait 15 minutes.", "Çok fazla deneme yapıldı. 15 dakika bekleyin."],
  "SESSION.SECOND_FACTOR": [
    "The code is wrong or was used already. Wait for the next one.",
    "Kod yanlış veya daha önce kullanıldı. Sonraki kodu bekleyin.",
  ],
  "SESSION.SECOND_FACTOR_ENDED": [
    "Ten wrong codes followed the right password: somebody else knows it, and codes of the app end here. Use a recovery code or a " +
      "browser in which you signed in before, and change the password, or ask an admin for a new one.",
    "Doğru parolanın ardından on yanlış kod girildi: parolayı başka biri biliyor ve uygulamanın kodları burada artık geçmiyor. Bir " +
      "kurtarma kodu ya da daha önce oturum açtığınız bir tarayıcı kullanıp parolanızı değiştirin veya yöneticiden yeni parola isteyin.",
  ],
  "SESSION.FORBIDDEN": [
    "An admin of the clinic can change your role.",
    "Rolünüzü kliniğin bir yöneticisi değiştirebilir.",
  ],
  "SESSION.OTHER_USER": [
    "Somebody else signed in with this browser: load the page again.",
    "Bu tarayıcıda başka biri oturum açtı: sayfayı yeniden yükleyin.",
  ],
  "CLINIC.SUSPENDED": [
    "The operator of this server has suspended the clinic. Results of its devices are kept meanwhile. Ask the operator.",
    "Sunucunun işleticisi kliniği askıya aldı. Cihazlarınızın sonuçları bu sırada saklanır. İşleticiye başvurun.",
  ],
  "RECORD.NOT_FOUND": ["This does not exist, or no longer.", "Bu kayıt yok ya da artık yok."],
  "RECORD.DAMAGED": [
    "The stored record is damaged. It is not shown until it is restored.",
    "Saklanan kayıt bozuk. Geri yüklenene kadar gösterilmez.",
  ],
  "REQUEST.ID_REUSED": [
    "The id of this request was used for another one: load the page again.",
    "Bu isteğin numarası başka bir istekte kullanıldı: sayfayı yeniden yükleyin.",
  ],
  "REQUEST.TIMEOUT": ["The request did not arrive in time. Try again.", "İstek süresinde ulaşmadı. Yeniden deneyin."],
  "REQUEST.TOO_LARGE": [
    "This is too large for the server. Choose a smaller file, or less text.",
    "Bu, sunucu için çok büyük. Daha küçük bir dosya ya da daha kısa bir metin seçin.",
  ],
  "SERVER.INTERNAL": [
    "The server failed. If it does so again, tell whoever runs the server.",
    "Sunucuda bir hata oluştu. Yinelenirse sunucudan sorumlu kişiye bildirin.",
  ],
  "SERVER.UNAVAILABLE": [
    "The server cannot answer just now. Try again in a moment.",
    "Sunucu şu anda yanıt veremiyor. Biraz sonra yeniden deneyin.",
  ],
  OFFLINE: ["Check the network. The page tries again.", "Ağ bağlantısını denetleyin. Sayfa yeniden deniyor."],
});
