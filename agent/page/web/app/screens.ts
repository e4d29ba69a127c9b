import { lazy } from "../../../../server/web/lazy.tsx";

/** The screens of the agent's page in the order of its menu. A screen without `name` is reached from another one. */
export const screens = [
  { path: "/", name: "devices", Screen: lazy(async () => (await import("../devices/devices.tsx")).Devices) },
  { path: "/setup", name: null, Screen: lazy(async () => (await import("../setup/setup.tsx")).SetUp) },
  {
    path: "/messages",
    name: "messages",
    Screen: lazy(async () => (await import("../messages/messages.tsx")).Messages),
  },
  {
    path: "/messages/:id",
    name: null,
    Screen: lazy(async () => (await import("../messages/message.tsx")).Message),
  },
  { path: "/images", name: "images", Screen: lazy(async () => (await import("../images/images.tsx")).Images) },
  {
    path: "/configuration",
    name: "configuration",
    Screen: lazy(async () => (await import("../configuration/configuration.tsx")).Configuration),
  },
  { path: "/outbox", name: "outbox", Screen: lazy(async () => (await import("../screens/outbox.tsx")).Outbox) },
  { path: "/codes", name: "codes", Screen: lazy(async () => (await import("../screens/codes.tsx")).Codes) },
  { path: "/maker", name: "maker", Screen: lazy(async () => (await import("../maker/maker.tsx")).Maker) },
  { path: "/log", name: "log", Screen: lazy(async () => (await import("../screens/log.tsx")).Log) },
  { path: "/doctor", name: "doctor", Screen: lazy(async () => (await import("../screens/doctor.tsx")).Doctor) },
] as const;
