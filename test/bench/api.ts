import { besideDashboard } from "./api/beside-dashboard.ts";
import { responses } from "./api/responses.ts";
import { pages } from "./api/pages.ts";
import { atScale } from "./api/scale.ts";
import { startClinic } from "./api/server.ts";
import type { Figure } from "./figure.ts";

const PATIENTS = 100_000;

/** Measures the read API of the build over loopback, beside a raw node:http server with the same bodies. */
export async function* api(quick: boolean): AsyncGenerator<Figure> {
  const clinic = await startClinic({ clinics: 1, patients: PATIENTS, studies: 0 });
  try {
    yield* responses(clinic, quick);
    yield* pages(clinic, quick);
    yield* besideDashboard(clinic, quick);
  } finally {
    await clinic.end();
  }
}

/** Measures only what an open dashboard costs the API. */
export async function* dashboard(quick: boolean): AsyncGenerator<Figure> {
  const clinic = await startClinic({ clinics: 1, patients: PATIENTS, studies: 0 });
  try {
    yield* besideDashboard(clinic, quick);
  } finally {
    await clinic.end();
  }
}

/** Measures a server with a million patients and five million studies. Generating the data takes minutes. */
export async function* apiAtScale(quick: boolean): AsyncGenerator<Figure> {
  const clinic = await startClinic({ clinics: 100, patients: 1_000_000, studies: 5_000_000 });
  try {
    yield* atScale(clinic, quick);
  } finally {
    await clinic.end();
  }
}
