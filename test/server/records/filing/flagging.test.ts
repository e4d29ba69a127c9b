import { describe, expect, test } from "vitest";
import { explainLines } from "../../../../server/cli/studies/study-text.ts";
import { flagMismatchNote } from "../../../../server/records/filing/flagging.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Patient } from "../../../../shared/api/patient.ts";
import { flaggedPatient, signalmentAt } from "../../../../shared/clinical/signalment.ts";
import { type Measurement, resultsOf } from "../../../../shared/clinical/results.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import {
  clinic,
  connection,
  importEntities,
  keyPermissions,
  patient,
  published,
  startServer,
  study,
} from "../../harness.ts";
import { historyOf, viewStudy } from "../../study-commands.ts";

// The server flags a study for its stored patient, whatever facts the agent used.

const ours = newFp("clinic");
const [device_name, acquired_at] = ["Tester", study().acquired_at];
const asCat = "flagged anew: the agent took the patient for a dog, it is a cat";

function alt(value: number, more: Partial<Measurement> = {}): Measurement {
  const sent = { comparator: null, ordinal: false, text: String(value), unit: "U/L" };
  return { code: "ALT", value, ...sent, device_range: null, device_flag: null, ...more };
}

/** Builds the study of an agent that knows these facts of the patient. */
function flaggedFor(known: Patient | null, ...measurements: Measurement[]) {
  const signalment = known === null ? null : signalmentAt(known, acquired_at);
  const context = { signalment, instrument: device_name, acquired_at, ranges: null };
  const { results, snapshot } = resultsOf(measurements, context, ["a note"]);
  return { results, snapshot: { ...snapshot, animal: known && flaggedPatient(known) } };
}

async function catsServer() {
  const line = patient({ species: "cat", sex: "female_spayed", date_of_birth: "2020-01-01" });
  const server = await startServer(clinic(ours), line, connection(line.fp, ours));
  const key = await server.makeKey(ours, keyPermissions);
  const cat = published(line);
  return {
    server,
    line,
    cat,
    dog: { ...cat, species: "dog" },
    sent: (more: Partial<PushedStudy>) => study({ patient_fp: cat.fp, device_name, acquired_at, ...more }),
    push: async (pushed: PushedStudy) => (await server.push(key, pushed))[0]?.outcome,
    read: async (fp: string) => (await server.get(key, `/api/v1/lab/diagnostics/${fp}`)).body.data.results,
  };
}

describe("a pushed study", () => {
  test("a study that was flagged for another species is flagged again, and its history records it", async () => {
    const { server, cat, dog, sent, push, read } = await catsServer();
    const wrong = sent(flaggedFor(dog, alt(105), alt(12)));
    const right = flaggedFor(cat, alt(105), alt(12));
    expect(right.results).not.toEqual(wrong.results);

    expect([await push(wrong), await read(wrong.fp)]).toEqual(["filed", right.results]);
    const { snapshot } = (await viewStudy(server.store, wrong.fp)) ?? {};
    expect(snapshot).toEqual({ ...right.snapshot, notes: ["a note", asCat] });
    expect([await push(wrong), await read(wrong.fp)]).toEqual(["unchanged", right.results]);

    const late = { ...wrong, ...flaggedFor(dog, alt(106), alt(12)), revision: 2 };
    expect([await push(late), await read(wrong.fp)]).toEqual(["filed", flaggedFor(cat, alt(106), alt(12)).results]);
    const history = await historyOf(server.store, wrong.fp);
    expect(history.map(({ snapshot: stored }) => stored?.notes.includes(asCat))).toEqual([true, true]);
    const view = await viewStudy(server.store, wrong.fp);
    const lines = view && explainLines(view, { history, conflicts: [], audit: [], ranges: undefined });
    expect(lines).toContain(`  note: ${asCat}`);
  });

  test.each([
    ["Horse", null, { species: "horse" }, "Equine", "Bovine"],
    ["Frettchen", null, { breed: "ferret" }, "Ferret", "Equine"],
    ["Frettchen", "Iltis", { breed: "ferret" }, "Ferret", "Equine"],
  ])(
    "a study of a %s, of which the API says exotic, has the intervals of that animal, and one of another animal waits",
    async (species, breed, facts, stated, other) => {
      const line = patient({ species, breed, sex: "female", date_of_birth: "2020-01-01" });
      const server = await startServer(clinic(ours), line, connection(line.fp, ours));
      const key = await server.makeKey(ours, keyPermissions);
      const served = (await server.get(key, `/api/v1/patients/${line.fp}`)).body.data;
      expect(served).toEqual({ ...published(line), species: "exotic" });
      const measured = [alt(105, { code: "AST" }), alt(9, { code: "RBC", unit: "10*12/L" })];
      const sentAs = (word: string) =>
        study({
          ...{ device_name, acquired_at, patient_hint: { ...study().patient_hint, species: word } },
          ...{ patient_fp: line.fp, ...flaggedFor(served, ...measured) },
        });
      const sent = sentAs(stated);
      const right = flaggedFor({ ...served, ...facts }, ...measured);
      expect(right.results).not.toEqual(sent.results);
      expect((await server.push(key, sent))[0]?.outcome).toBe("filed");
      const [waits] = await server.push(key, sentAs(other));
      expect([waits?.outcome, waits?.code]).toEqual(["unmatched", "MATCH.OTHER_SPECIES"]);
      const url = `/api/v1/lab/diagnostics/${sent.fp}`;
      expect((await server.get(key, url)).body.data.results).toEqual(right.results);
      await importEntities(server.store, { ...line, name: "Other name" });
      expect((await server.get(key, url)).body.data.flagged_species).toBeUndefined();
    },
  );

  test("an unmatched study with the flags of another patient is flagged again when it is filed", async () => {
    const { server, line, cat, dog, sent, push, read } = await catsServer();
    const other = patient({ ...line, fp: newFp("patient") });
    const wrong = sent({ ...flaggedFor(dog, alt(105)), patient_fp: other.fp });
    expect(await push(wrong)).toBe("unmatched");
    await importEntities(server.store, other, connection(other.fp, ours));
    expect([await push(wrong), await read(wrong.fp)]).toEqual(["filed", flaggedFor(cat, alt(105)).results]);
  });

  test("a study whose rows the agent flagged for several patients is flagged again", async () => {
    const { server, cat, dog, sent, push, read } = await catsServer();
    const { results, snapshot } = flaggedFor(dog, alt(105));
    const mixed = sent({ results, snapshot: { ...snapshot, animal: null } });
    expect([await push(mixed), await read(mixed.fp)]).toEqual(["filed", flaggedFor(cat, alt(105)).results]);
    expect((await viewStudy(server.store, mixed.fp))?.snapshot?.notes).toEqual([
      "a note",
      "flagged anew: the agent did not know the patient, or not as it is, when it flagged some of the results",
    ]);
  });

  test("a study keeps the device's range if the range is for the patient's species", async () => {
    const { dog, sent, push, read } = await catsServer();
    const device_range = { low: 20, high: 90, text: "20-90", species: "cat" };
    const wrong = sent(flaggedFor(dog, alt(105, { device_range, device_flag: "HH" })));
    await push(wrong);
    expect(await read(wrong.fp)).toEqual([
      { analyte: "ALT", value: 105, unit: "U/L", reference_range: "20-90", flag: "critical" },
    ]);
  });

  test("a study keeps the agent's flags if they are for the patient, or if an older agent names no patient", async () => {
    const { cat, dog, sent, push, read, server } = await catsServer();
    const { snapshot, results } = flaggedFor(dog, alt(105));
    const { animal: _, ...older } = snapshot;
    const { snapshot: _none, ...oldest } = sent({ results });
    const renamed = { ...cat, sex: "spayed female", name: "Pamuk" };
    const alike = flaggedFor(cat, alt(105));
    for (const pushed of [sent({ results, snapshot: older }), oldest]) {
      expect([await push(pushed), await read(pushed.fp)]).toEqual(["filed", results]);
    }
    const same = sent({ ...alike, snapshot: { ...alike.snapshot, animal: flaggedPatient(renamed) } });
    expect([await push(same), await read(same.fp)]).toEqual(["filed", alike.results]);
    expect((await viewStudy(server.store, same.fp))?.snapshot?.notes).toEqual(["a note"]);
  });

  test("a study of an earlier catalogue keeps its range and flag until a person flags it again", async () => {
    const { server, line, cat, sent, push, read } = await catsServer();
    const { snapshot, results } = flaggedFor(cat, alt(105));
    const earlier = results.map((result) => ({ ...result, reference_range: "200-300", flag: "low" as const }));
    const pushed = sent({ results: earlier, snapshot: { ...snapshot, catalogue: "earlier" } });
    expect([await push(pushed), await read(pushed.fp)]).toEqual(["filed", earlier]);
    await importEntities(server.store, { ...line, name: "Other name", weight_kg: 9 });
    expect([await push(pushed), await read(pushed.fp)]).toEqual(["unchanged", earlier]);
    expect((await viewStudy(server.store, pushed.fp))?.snapshot?.catalogue).toBe("earlier");
    // A correction that selects another interval marks it, and leaves the flag.
    await importEntities(server.store, { ...line, date_of_birth: "2026-08-01" });
    expect(await read(pushed.fp)).toEqual(earlier);
  });

  test("a study with an unknown analyte keeps its notes and has no flag", async () => {
    const { server, dog, sent, push, read } = await catsServer();
    const { results, snapshot } = flaggedFor(dog, alt(105));
    const strange = {
      ...results[0],
      analyte: "XYZ",
      value: 1,
      unit: null,
      reference_range: "0-2",
      flag: "normal" as const,
    };
    const wrong = sent({ results: [...results, strange], snapshot });
    await push(wrong);
    const bare = [...results, strange].map((result) => ({ ...result, reference_range: null, flag: null }));
    expect(await read(wrong.fp)).toEqual(bare);
    expect((await viewStudy(server.store, wrong.fp))?.snapshot?.notes).toEqual(["a note", asCat]);
  });
});

describe("the reason for flagging a study again", () => {
  const bird = { ...published(patient({ species: "bird", breed: "parrot", sex: "M", date_of_birth: "2026-01-01" })) };
  const { snapshot } = flaggedFor(bird);

  function why(known: Partial<Patient>, now: Partial<Patient> = {}): string | null {
    const animal = flaggedPatient({ ...bird, ...known });
    return flagMismatchNote(
      { patient_fp: bird.fp, acquired_at, snapshot: { ...snapshot, animal } },
      { ...bird, ...now },
    );
  }

  test("the reason names the differing facts that select the interval", () => {
    expect([
      why({}),
      why({ species: "exotic" }),
      why({ sex: "FS" }),
      why({ date_of_birth: null }),
      why({ breed: "chicken" }),
      why({ species: "dog", sex: null, date_of_birth: "2026-01-02" }, { species: "cat" }),
    ]).toEqual([
      null,
      "flagged anew: the agent took the patient for an exotic, it is a bird",
      "flagged anew: the agent took the patient for one of the sex FS, it is one of the sex M",
      "flagged anew: the agent took the patient for one of unknown age, it is one born on 2026-01-01",
      "flagged anew: the agent took the patient for one of the breed chicken, it is one of the breed parrot",
      "flagged anew: the agent took the patient for a dog of unknown sex born on 2026-01-02, it is a cat of the sex M born on 2026-01-01",
    ]);
  });

  test("facts that differ in words alone are not a reason", () => {
    const { breed: _, ...breedless } = flaggedPatient(bird);
    const hen = { ...bird, breed: "chicken" };
    const pushed = { patient_fp: bird.fp, acquired_at, snapshot: { ...snapshot, animal: breedless } };
    expect(flagMismatchNote(pushed, hen)).toBeNull();
    expect([why({ sex: "male" }), why({ breed: "Parrot" }), why({ name: "x", weight_kg: 1 })]).toEqual([
      null,
      null,
      null,
    ]);
  });
});
