import { QrCode } from "../../../ui/picture/qr-code.tsx";
import { t } from "./texts.ts";

const PATH = "/clinic/v1/authority.crt";
const SYSTEMS = ["Windows", "macOS", "iOS", "Android", "Firefox", "Linux"] as const;

/** Lists the steps on each system that make its browsers trust the server's authority. */
export function TrustSteps({ fingerprint, address }: { fingerprint: string; address: string | undefined }) {
  const url = address === undefined ? undefined : address + PATH;
  return (
    <section>
      <h2>{t("authority")}</h2>
      <p>{t("authorityWhy")}</p>
      <p>
        <a href={PATH} download>
          {t("download")}
        </a>
      </p>
      {url !== undefined && (
        <>
          <p>{t("scan")}</p>
          <QrCode of={url} label={t("qr", { url })} />
        </>
      )}
      <p>
        {t("fingerprint")} <code class="fingerprint">{fingerprint}</code>
      </p>
      {SYSTEMS.map((system) => (
        <details key={system} class="card">
          <summary>{t(system)}</summary>
          <p>{t(`${system}Steps`)}</p>
        </details>
      ))}
    </section>
  );
}
