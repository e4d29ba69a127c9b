import { expect, test } from "vitest";
import { permissions } from "../../../server/http/auth/api-keys.ts";
import { permissionWords } from "../../../server/http/auth/permission-words.ts";
import { opened } from "../../../server/web/screens/settings/keys/opened.ts";
import { type KeyArea, keyAreas, keyPermissions } from "../../../server/dashboard/types/settings/keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, startServer } from "../harness.ts";
import { asKey, rowOf, routesOf, send } from "./two-clinics.ts";

// A box with which a person grants a permission names what it opens. Method: each route that takes a key belongs to one area, by
// its path, but for the feed of events and what left, which have the kinds of the areas that the key may read; what the box names is compared with the permissions that the routes of the areas take.

const ours = newFp("clinic");

const areas: readonly (readonly [path: RegExp, area: KeyArea])[] = [
  [/^\/api\/v1\/patients/, "patients"],
  [/\/trail$/, "trails"],
  [/^\/api\/v1\/lab\/(?!.*\/trail$)/, "results"],
  [/^\/api\/v1\/soap/, "records"],
  [/^\/api\/v1\/calendar\//, "calendar"],
  [/^\/api\/v1\/inventory/, "stock"],
  ...(["patients", "results", "records", "calendar", "stock"] as const).map(
    (area) => [/^\/api\/v1\/(events|changes)$/, area] as const,
  ),
  [/^\/agent\/v1\//, "sending"],
  [/^\/sync\/v1\//, "entering"],
];

const areasOf = (url: string) => areas.flatMap(([path, area]) => (path.test(url) ? [area] : []));

test("each permission opens every route of its areas, and no other route", async () => {
  const server = await startServer(clinic(ours));
  await server.app.ready();
  const routes = routesOf(server.app).filter(
    ({ url }) => /^\/(api|agent|sync)\/v1\//.test(url) && url !== "/agent/v1/pair",
  );
  expect(routes.filter(({ url }) => areasOf(url).length === 0).map(rowOf)).toEqual([]);
  for (const permission of permissions) {
    const headers = asKey(await server.makeKey(ours, [permission]));
    const open: string[] = [];
    for (const route of routes) {
      const url = route.url.replaceAll(/:\w+/g, "1");
      const { statusCode } = await send(server.app, { ...route, url }, headers);
      if (statusCode !== 403) open.push(rowOf(route));
    }
    const promised = routes
      .filter(({ url }) => areasOf(url).some((area) => keyAreas[permission].includes(area)))
      .map(rowOf);
    expect([permission, open]).toEqual([permission, promised]);
  }
});

test("the page, the command line and the document offer the same permissions, in words of the same areas", () => {
  expect([...keyPermissions].toSorted()).toEqual([...permissions].toSorted());
  for (const permission of keyPermissions) expect(opened(permission).areas).toEqual(keyAreas[permission]);
  expect(permissions.map((permission) => `${permission}: ${permissionWords(permission)}`)).toEqual([
    "clinic.patient.view: patients, results, SOAP records",
    "clinic.calendar.view: appointments alone",
    "clinic.inventory.view: items of the inventory alone",
    "clinic.soap.view: SOAP records alone",
    "clinic.lab.view: results alone",
    "clinic.audit.view: the way of each result to its readers alone",
    "clinic.lab.ingest: sending results, and what an agent reads for it: numbers of patients, intervals, codes, its devices and releases",
    "clinic.sync.write: sending patients and their owners, orders and appointments from practice software",
  ]);
});
