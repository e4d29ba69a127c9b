import { useSignal } from "@preact/signals";
import type { MakerClick, Proposal } from "../../types/maker.ts";
import { reasonWords, roleWord, t } from "./texts.ts";

/** Lists the roles that the texts of the messages suggest. The sure ones are ticked; a person takes them with one button. */
export function Proposals({
  of,
  isRunning,
  take,
}: {
  of: readonly Proposal[];
  isRunning: boolean;
  take: (clicks: readonly MakerClick[]) => void;
}) {
  const changed = useSignal<Readonly<Record<string, boolean>>>({});
  if (of.length === 0) return null;
  const isTaken = (proposal: Proposal) => changed.value[keyOf(proposal)] ?? proposal.isChosen;
  const taken = of.filter(isTaken);
  return (
    <section class="card" aria-labelledby="maker-proposals">
      <h2 id="maker-proposals">{t("proposals")}</h2>
      <p class="quiet">{t("proposalsWhy")}</p>
      {of.map((proposal) => {
        const key = keyOf(proposal);
        const is = isTaken(proposal);
        return (
          <label class="check" key={key}>
            <input
              type="checkbox"
              checked={is}
              disabled={isRunning}
              onChange={() => (changed.value = { ...changed.value, [key]: !is })}
            />
            <span>
              <b>{roleWord(proposal.role)}</b> {t("at", { place: placeWord(proposal) })}{" "}
              <span class="hint">
                {[
                  ...proposal.reasons.map(reasonWords),
                  ...proposal.against.map((each) => t("but", { reason: reasonWords(each) })),
                ].join("; ")}
              </span>
            </span>
          </label>
        );
      })}
      <p class="actions">
        <button type="button" disabled={isRunning || taken.length === 0} onClick={() => take(taken.map(clickOf))}>
          {t("takeProposals", { count: taken.length })}
        </button>
      </p>
    </section>
  );
}

function placeWord({ place, record }: Proposal): string {
  return place.includes("-") ? place : t("lineOf", { number: record + 1 });
}

function keyOf({ role, place, message, record }: Proposal): string {
  return `${role} ${place} ${place.includes("-") ? "" : `${message} ${record}`}`;
}

function clickOf({ role, place, message, record }: Proposal): MakerClick {
  return { role, place, message, record };
}
