/** @returns a function that returns the rows of a clinic */
export function byClinic<Row extends { readonly clinic_id: number | null }>(
  rows: readonly Row[],
): (clinicId: number) => readonly Row[] {
  const groups = new Map<number | null, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.clinic_id);
    if (group === undefined) groups.set(row.clinic_id, [row]);
    else group.push(row);
  }
  return (clinicId) => groups.get(clinicId) ?? [];
}
