import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type ResultFilters, type ResultsPage, ROWS_MAX } from "../../../dashboard/types/results/results.ts";
import { call } from "../../api.ts";
import { type Resource, useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { timeZone } from "../../text.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { queryText } from "./query.ts";
import { arrivedSince, type ShownList, withMore, withNewFirstPage } from "./shown-list.ts";

/** The time zone for the filter's days and for printed times. */
export function zoneName(): string {
  return timeZone.value ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The filtered list. Changes reload its first page; each call of `more` adds a page. */
export function useResults(filters: ResultFilters) {
  const path = `/results${queryText({ ...filters, zone: zoneName() })}`;
  const first = useResource<ResultsPage>(path);
  const shown = useSignal<(ShownList & { path: string }) | undefined>(undefined);
  const arrived = useSignal<ReadonlySet<string>>(new Set());
  const page = useRef<ResultsPage | undefined>(undefined);
  const { run, error, isRunning } = useAction();

  useEffect(() => {
    const { data } = first;
    if (data === undefined || data === page.current) return;
    page.current = data;
    const before = shown.value?.path === path ? shown.value : undefined;
    const fresh = before === undefined ? [] : arrivedSince(before.items, data.items);
    arrived.value = new Set(before === undefined ? [] : [...arrived.value, ...fresh]);
    const after = { ...(before === undefined ? data : withNewFirstPage(before, data)), path };
    shown.value = after;
    if (after.items.length > data.items.length) void refreshAll(after);
  }, [first.data, path]);

  // A correction may have changed a row below the first page. If the request fails, the older rows remain.
  async function refreshAll(before: ShownList): Promise<void> {
    const rows = Math.min(before.items.length, ROWS_MAX);
    const all = await call<ResultsPage>("GET", `${clinicPath()}${path}&rows=${rows}`).catch(() => undefined);
    if (all !== undefined && shown.value === before) shown.value = { ...withNewFirstPage(before, all), path };
  }

  const more = () =>
    run(async () => {
      const before = shown.value;
      if (before?.path !== path || before.next === null) return;
      const next = await call<ResultsPage>("GET", `${clinicPath()}${path}&after=${before.next}`);
      // A reload may have changed the list during the request.
      if (shown.value === before) shown.value = { ...withMore(before, next), path };
    });

  // The rows of the previous filters remain until the new ones arrive.
  const list: Resource<ShownList> = { ...first, data: shown.value };
  return {
    list,
    page: first.data,
    isStale: shown.value?.path !== path,
    arrived: arrived.value,
    more,
    moreError: error,
    isLoadingMore: isRunning,
  };
}
