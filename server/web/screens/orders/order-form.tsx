import { useState } from "preact/hooks";
import type { NewOrder, OrderChoices, OrderPlaced, Panel } from "../../../dashboard/types/orders.ts";
import type { NamedPatient } from "../../../dashboard/types/records.ts";
import { call } from "../../api.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { Field } from "../../ui/form/field.tsx";
import { PatientPicker } from "../../ui/form/patient-picker.tsx";
import { Dialog } from "../../ui/form-dialog/dialog.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { Label, type LabelledOrder } from "./label.tsx";
import { t } from "./texts.ts";

/** Orders tests of an animal, which the form asks for if it is not given. Afterwards it shows the label of the sample. */
export function OrderTests({ patient = null, close }: { patient?: NamedPatient | null; close: () => void }) {
  const choices = useResource<OrderChoices>("/orders/choices");
  const [placed, setPlaced] = useState<LabelledOrder | null>(null);
  if (placed !== null) return <Label of={placed} close={close} />;
  if (choices.data === undefined) {
    return (
      <Dialog title={t("order")} close={close}>
        <Loaded of={choices}>{() => null}</Loaded>
      </Dialog>
    );
  }
  return <OrderForm given={patient} choices={choices.data} placed={setPlaced} close={close} />;
}

function OrderForm({
  given,
  choices,
  placed,
  close,
}: {
  given: NamedPatient | null;
  choices: OrderChoices;
  placed: (order: LabelledOrder) => void;
  close: () => void;
}) {
  const [patient, choosePatient] = useState(given);
  const [draft, setDraft] = useState<Draft>({ tests: "", device: "" });
  const [isChecked, setChecked] = useState(false);
  const [panels, setPanels] = useState<readonly Panel[]>([]);
  const tests = testsIn(draft.tests);
  const fault = faultOf(tests, draft.device, choices);
  const place = async ({ panel = "" }: Record<string, string>) => {
    setChecked(true);
    if (patient === null || fault !== null) return;
    const device = draft.device === "" ? null : draft.device;
    const named = panel.trim() === "" ? panelOf(tests, panels) : panel.trim();
    const body: NewOrder = { patient_fp: patient.fp, device, panel: named, tests };
    const { accession } = await call<OrderPlaced>("POST", `${clinicPath()}/orders`, body);
    placed({ accession, patient, tests, ordered_at: new Date().toISOString() });
  };
  const title = given === null ? t("order") : t("orderFor", { name: given.name });
  return (
    <FormDialog
      title={title}
      close={close}
      act={place}
      button={t("place")}
      staysOpen
      leave={t("back")}
      isReady={patient !== null}
    >
      {given === null && <PatientPicker chosen={patient} choose={choosePatient} />}
      <PanelChoice
        panels={choices.panels}
        chosen={panels}
        choose={(next) => {
          setPanels(next);
          setDraft(drafted(next, panels, draft, choices));
        }}
      />
      <DeviceAndTests draft={draft} set={setDraft} devices={choices.devices} fault={isChecked ? fault : null} />
      <Field label={t("panelName")} hint={t("panelNameHint")}>
        <input name="panel" maxLength={60} autocomplete="off" />
      </Field>
    </FormDialog>
  );
}

/** The fields as the user typed them. An empty device is any device. */
interface Draft {
  readonly tests: string;
  readonly device: string;
}

function DeviceAndTests({
  draft,
  set,
  devices,
  fault,
}: {
  draft: Draft;
  set: (draft: Draft) => void;
  devices: OrderChoices["devices"];
  fault: string | null;
}) {
  return (
    <>
      <Field label={t("device")} hint={t("deviceHint")}>
        <select value={draft.device} onChange={({ currentTarget }) => set({ ...draft, device: currentTarget.value })}>
          <option value="">{t("any")}</option>
          {devices.map(({ id, name }) => (
            <option key={id} value={id}>
              {name === id ? id : `${name} (${id})`}
            </option>
          ))}
        </select>
      </Field>
      <Field label={t("tests")} hint={draft.device === "" ? t("testsHint") : t("testsHintDevice")} fault={fault}>
        <textarea
          rows={2}
          maxLength={4000}
          value={draft.tests}
          onInput={({ currentTarget }) => set({ ...draft, tests: currentTarget.value })}
        />
      </Field>
    </>
  );
}

function PanelChoice({
  panels,
  chosen,
  choose,
}: {
  panels: readonly Panel[];
  chosen: readonly Panel[];
  choose: (panels: Panel[]) => void;
}) {
  if (panels.length === 0) return null;
  // Each change of the clinic's data loads the panels again, so the chosen ones are found by their names.
  const isChosen = ({ name }: Panel) => chosen.some((each) => each.name === name);
  return (
    <fieldset>
      <legend>{t("panels")}</legend>
      {panels.map((panel) => (
        <label key={panel.name} class="check">
          <input
            type="checkbox"
            checked={isChosen(panel)}
            onChange={({ currentTarget: { checked } }) =>
              choose(panels.filter((each) => (each.name === panel.name ? checked : isChosen(each))))
            }
          />
          <span>
            {panel.name} <span class="quiet panel-tests">{panel.tests.join(", ")}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Puts the tests of the chosen panels into the draft, beside those that the user typed, and the device that they share. */
function drafted(
  next: readonly Panel[],
  before: readonly Panel[],
  { tests, device }: Draft,
  choices: OrderChoices,
): Draft {
  const ofPanels = before.flatMap((panel) => panel.tests);
  const typed = testsIn(tests).filter((test) => !isAmong(test, ofPanels));
  const devices = new Set(next.map((panel) => panel.device));
  const [shared = null] = devices;
  // The device may be gone since.
  const known = devices.size === 1 && choices.devices.some(({ id }) => id === shared) ? (shared ?? "") : "";
  return {
    tests: testsIn([...next.flatMap((panel) => panel.tests), ...typed].join(",")).join(", "),
    device: next.length === 0 ? device : known,
  };
}

/** The name under which the tests are listed: that of the one panel that they are. */
function panelOf(tests: readonly string[], [panel, ...others]: readonly Panel[]): string | null {
  if (panel === undefined || others.length > 0 || tests.length !== panel.tests.length) return null;
  return tests.every((test) => isAmong(test, panel.tests)) ? panel.name : null;
}

function isAmong(test: string, tests: readonly string[]): boolean {
  return tests.some((each) => folded(each) === folded(test));
}

function testsIn(text: string): string[] {
  const tests = text.split(/[,;\n]/).map((test) => test.trim());
  return tests.filter((test, index) => {
    return test !== "" && tests.findIndex((other) => folded(other) === folded(test)) === index;
  });
}

/** Says what the server would refuse. */
function faultOf(tests: readonly string[], device: string, { analytes }: OrderChoices): string | null {
  if (tests.length === 0) return t("noTests");
  const bad = tests.find((test) => /[|^~&\\]/.test(test) || test.length > 64);
  if (bad !== undefined) return t("badTest", { test: bad });
  if (device !== "") return null;
  const known = new Set(analytes.flatMap(({ code, names }) => [code, ...names]).map(folded));
  const unknown = tests.find((test) => !known.has(folded(test)));
  return unknown === undefined ? null : t("unknownTest", { test: unknown });
}

function folded(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, "-");
}
