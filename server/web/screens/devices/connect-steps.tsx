import { may } from "../../session.ts";
import { timeZone } from "../../text.ts";
import { agentYaml } from "./agent-yaml.ts";
import { t } from "./texts.ts";

/** Shows how to install an agent on a clinic PC. */
export function ConnectSteps() {
  const zone = timeZone.value ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <ol>
      <li>
        {t("stepKey")} {may("admin") ? <a href="/dashboard/settings/keys">{t("keysLink")}</a> : t("keysLink")}.
      </li>
      <li>
        {t("stepFile")}
        <Lines text={agentYaml(location.origin, zone)} />
      </li>
      <li>{t("stepRun")}</li>
    </ol>
  );
}

/** Lines of a file or a command, in a frame that scrolls and that the keyboard can focus. */
export function Lines({ text, label = "agent.yaml" }: { text: string; label?: string }) {
  return (
    <pre class="lines" tabIndex={0} role="region" aria-label={label}>
      <code>{text}</code>
    </pre>
  );
}
