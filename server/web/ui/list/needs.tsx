import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../status/icon.tsx";
import "./needs.css";

/** Rows that say what needs a person, in one card. `NeedGroup`s are its content. */
export function NeedList({ children }: { children: ComponentChildren }) {
  return <div class="card flush needs">{children}</div>;
}

/** Rows of one kind. Their heading is for screen readers, because each row says what it is. */
export function NeedGroup({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section aria-labelledby={id}>
      <h3 id={id} class="visually-hidden">
        {title}
      </h3>
      <ul>{children}</ul>
    </section>
  );
}

interface NeedProps {
  readonly icon: IconName;
  /** Red is for a critical value alone. */
  readonly tone?: "critical" | "positive" | "warn" | "info" | "plain";
  /** The thing that needs a person. */
  readonly what: ComponentChildren;
  /** Why it needs a person, or since when. */
  readonly why?: ComponentChildren;
  /** The actions that a person can take. */
  readonly children?: ComponentChildren;
}

export function Need({ icon, tone = "plain", what, why, children }: NeedProps) {
  return (
    <li class={`need need-${tone}`}>
      <span class="need-mark">
        <Icon of={icon} />
      </span>
      <div>
        <p>{what}</p>
        {why !== undefined && <p class="quiet">{why}</p>}
      </div>
      {children !== undefined && <div class="need-actions">{children}</div>}
    </li>
  );
}
