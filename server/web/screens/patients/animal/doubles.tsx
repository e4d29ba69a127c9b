import type { LikelyDouble } from "../../../../dashboard/types/animals.ts";
import { Badge } from "../../../ui/status/badge.tsx";
import { plainDate, word } from "../../../ui/words/words.ts";
import { signText, t } from "./texts.ts";

/**
 * The animals of the clinic that may be the typed one. `use` takes one of them in its place. An animal that is edited can be merged
 * with each.
 */
export function Doubles({
  doubles,
  edited,
  use,
}: {
  doubles: readonly LikelyDouble[];
  edited: string | null;
  use: ((fp: string) => void) | undefined;
}) {
  return (
    <aside class="animal-doubles" aria-label={t("alike")}>
      <p class="visually-hidden" role="status">
        {doubles.length > 0 && t("alikeCount", { count: doubles.length })}
      </p>
      {doubles.length > 0 && (
        <section class="card">
          <h2>{t("alike")}</h2>
          <p class="quiet">{t("alikeWhy")}</p>
          <ul class="plain-list">
            {doubles.map((double) => (
              <li key={double.fp}>
                <Double double={double} />
                <p class="actions">
                  {use !== undefined && (
                    <button type="button" onClick={() => use(double.fp)}>
                      {t("useAnimal")}
                    </button>
                  )}
                  <a
                    href={`/dashboard/patients/${double.fp}`}
                    target="_blank"
                    rel="noopener"
                    aria-label={t("lookAt", { name: double.name })}
                  >
                    {t("look")}
                  </a>
                  {edited !== null && (
                    <a
                      href={`/dashboard/patients/${edited}/merge/${double.fp}`}
                      target="_blank"
                      rel="noopener"
                      aria-label={t("mergeWith", { name: double.name })}
                    >
                      {t("merge")}
                    </a>
                  )}
                </p>
              </li>
            ))}
          </ul>
        </section>
      )}
    </aside>
  );
}

/** The facts that distinguish one from its namesakes, and why it may be the same animal. */
export function Double({ double }: { double: LikelyDouble }) {
  const { name, species, breed, sex, date_of_birth, owner_name, is_deceased, signs, number } = double;
  const born = date_of_birth === null ? null : t("bornOn", { date: plainDate(date_of_birth) });
  return (
    <>
      <strong>{name}</strong> {is_deceased && <Badge tone="done">{t("deceased")}</Badge>}{" "}
      <span class="quiet">
        {[word(species), breed, sex === null ? null : word(sex), born, owner_name]
          .filter((fact) => fact !== null)
          .join(" · ")}
      </span>
      <ul class="plain-list animal-signs">
        {signs.map((sign) => (
          <li key={sign}>{sign === "number" ? signText(sign, { number: number ?? "" }) : signText(sign)}</li>
        ))}
      </ul>
    </>
  );
}
