import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";
import "./status.css";

export type Tone = "good" | "warn" | "bad" | "plain";

const icons = { good: "good", warn: "bad", bad: "bad", plain: "wait" } as const;

/** A state in words. Icon and colour repeat it: red needs a person, amber may need one, green works. */
export function State({ tone, icon, children }: { tone: Tone; icon?: IconName; children: ComponentChildren }) {
  return (
    <strong class={`state state-${tone}`}>
      <Icon of={icon ?? icons[tone]} />
      <span>{children}</span>
    </strong>
  );
}

interface StatusCardProps {
  readonly name: string;
  readonly level: "h2" | "h3";
  /** Further identification of the thing. */
  readonly origin: string;
  readonly tone: Tone;
  readonly state: ComponentChildren;
  /** Whether something is happening now. */
  readonly isBusy?: boolean;
  /** The remedy and the details. */
  readonly children: ComponentChildren;
}

/** The state of a thing that can fail, such as a device. */
export function StatusCard({ name, level: Heading, origin, tone, state, isBusy = false, children }: StatusCardProps) {
  return (
    <article class={`card status-card status-${tone}${isBusy ? " status-busy" : ""}`}>
      <div class="between">
        <Heading>{name}</Heading>
        <State tone={tone}>{state}</State>
      </div>
      <p class="quiet">{origin}</p>
      {children}
    </article>
  );
}
