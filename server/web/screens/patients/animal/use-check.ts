import { useEffect, useRef, useState } from "preact/hooks";
import type { AnimalCheck, CheckBody, TypedAnimal } from "../../../../dashboard/types/animals.ts";
import { call, RequestError } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";

/** Pause in the typing before a request. */
const PAUSE_MS = 250;

export interface Check {
  /** The last response. It may be about an older text. */
  readonly latest: AnimalCheck | undefined;
  /** Sends the request immediately. */
  readonly ask: () => Promise<AnimalCheck>;
}

/** Requests the faults of an animal and those that are alike, while the user types. A response to an older text is dropped. */
export function useCheck(animal: TypedAnimal, edited: string | null): Check {
  const [latest, setLatest] = useState<AnimalCheck | undefined>(undefined);
  const asked = useRef(0);

  async function ask(): Promise<AnimalCheck> {
    asked.current += 1;
    const number = asked.current;
    const body: CheckBody = { animal, edited };
    const answer = await call<AnimalCheck>("POST", `${clinicPath()}/patients/check`, body);
    if (number === asked.current) setLatest(answer);
    return answer;
  }

  useEffect(() => {
    const timer = setTimeout(() => {
      ask().catch((failed: unknown) => {
        // Saving asks again, and shows what failed.
        if (!(failed instanceof RequestError)) throw failed;
      });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [JSON.stringify(animal)]);
  return { latest, ask };
}
