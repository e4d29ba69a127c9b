/** @returns a function that returns the rows of a clinic */
export function byClinic<Row extends { readonly clinic_id: number | null }>(
  rows: readonly Row[],
): (clinicId: number) => readonly Row[] {
  const groups = Map.groupBy(rows, ({ clinic_id }) => clinic_id);
  return (clinicId) => groups.get(clinicId) ?? [];
}
