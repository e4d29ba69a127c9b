import { useEffect, useRef, useState } from "preact/hooks";
import type { LocalForwards, LocalImage, LocalImages, LocalImageStudy } from "../../types/images.ts";
import { Empty, Loaded, useLocal } from "../../../../server/web/resource.tsx";
import { dateTime } from "../../../../server/web/text.ts";
import { ReasonText } from "../messages/reason.tsx";
import { State } from "../../../../server/web/ui/status/status-card.tsx";
import { stateTone, stateWord } from "../messages/texts.ts";
import { NotForDiagnosis } from "../../../../server/web/ui/picture/picture-dialog.tsx";
import { LargePicture, NotDrawn } from "./large-picture.tsx";
import { t } from "./texts.ts";
import { usePicture } from "./use-picture.ts";
import "./images.css";

/** The newest studies of images, with small pictures that the agent draws when they come into sight. */
export function Images() {
  const images = useLocal<LocalImages>("/images");
  return (
    <>
      <h1>{t("images")}</h1>
      <Loaded of={images}>
        {({ studies, has_older }) =>
          studies.length === 0 ? (
            <Empty title={t("none")}>{t("noneNext")}</Empty>
          ) : (
            <>
              <NotForDiagnosis>{t("originals")}</NotForDiagnosis>
              {studies.map((study) => (
                <Study key={study.study_uid} study={study} />
              ))}
              {has_older && <p class="quiet">{t("older", { count: studies.length })}</p>}
            </>
          )
        }
      </Loaded>
    </>
  );
}

function Study({ study }: { study: LocalImageStudy }) {
  const { device, received_at, states, images, has_more, removed, forwards, shown } = study;
  /** The id of the open image: an earlier one may be added before it. */
  const [large, setLarge] = useState<string | null>(null);
  const at = shown.findIndex(({ id }) => id === large);
  const kept = shown.flatMap(({ id, is_removed }) => (is_removed ? [] : [id]));
  const turned = (now: string | null, by: number) => kept[(kept.indexOf(now ?? "") + by + kept.length) % kept.length];
  return (
    <section class="card image-study">
      <h2>
        {device}, {dateTime(received_at)}
      </h2>
      <p class="actions">
        {states.map((state) => (
          <State key={state} tone={stateTone(state)}>
            {stateWord(state)}
          </State>
        ))}
        <ReasonText of={study} />
      </p>
      <p class="quiet">
        {t(has_more ? "countOrMore" : "count", { count: images })}
        {removed > 0 && ` ${t("removedCount", { count: removed })}`}
        {shown.length < images && ` ${t("first", { count: shown.length })}`}
      </p>
      {forwards.map((one) => (
        <Forwards key={one.destination} of={one} />
      ))}
      <ul class="plain-list pictures">
        {shown.map((one, index) => (
          <li key={one.id}>
            {one.is_removed ? (
              <p class="image-removed">{t("removed")}</p>
            ) : (
              <Thumbnail of={one} number={index + 1} count={images} open={() => setLarge(one.id)} />
            )}
          </li>
        ))}
      </ul>
      {large !== null && at >= 0 && (
        <LargePicture
          id={large}
          number={at + 1}
          count={images}
          shown={kept.length}
          turn={(by) => setLarge((now) => turned(now, by) ?? null)}
          close={() => setLarge(null)}
        />
      )}
    </section>
  );
}

function Forwards({ of: { destination, queued, sent, refused, ...why } }: { of: LocalForwards }) {
  return (
    <p class="image-forwards">
      {t("archive", { name: destination, sent, queued, refused })} <ReasonText of={why} />
      {refused > 0 && ` ${t("refusedNext", { name: destination })}`}
    </p>
  );
}

/** A picture that was set aside is drawn again only when a person opens it. */
function Thumbnail(props: { of: LocalImage; number: number; count: number; open: () => void }) {
  const { of, number, count, open } = props;
  const button = useRef<HTMLButtonElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (button.current === null) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(button.current);
    return () => observer.disconnect();
  }, []);
  const { url, frames, error } = usePicture(of.id, "small", 1, isSeen && of.fault === null);
  return (
    <button type="button" ref={button} onClick={open}>
      {url !== null ? (
        <img src={url} alt={t("alt", { number, count })} />
      ) : (
        <span>{t("imageOf", { number, count })}</span>
      )}
      {frames > 1 && <span>{t("clip", { count: frames })}</span>}
      {error !== null && (
        <span>
          <NotDrawn error={error} />
        </span>
      )}
      {of.fault !== null && (
        <span>
          {t("notDrawn")} {t(of.fault)} {t("setAside")}
        </span>
      )}
    </button>
  );
}
