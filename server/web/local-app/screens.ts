import { lazy } from "../lazy.tsx";

/** The screens of the agent's page in the order of its menu. A screen without `name` is reached from another one. */
export const screens = [
  { path: "/", name: "devices", Screen: lazy(async () => (await import("../local/devices/devices.tsx")).Devices) },
  { path: "/setup", name: null, Screen: lazy(async () => (await import("../local/setup/setup.tsx")).SetUp) },
  {
    path: "/messages",
    name: "messages",
    Screen: lazy(async () => (await import("../local/messages/messages.tsx")).Messages),
  },
  {
    path: "/messages/:id",
    name: null,
    Screen: lazy(async () => (await import("../local/messages/message.tsx")).Message),
  },
  { path: "/images", name: "images", Screen: lazy(async () => (await import("../local/images/images.tsx")).Images) },
  {
    path: "/configuration",
    name: "configuration",
    Screen: lazy(async () => (await import("../local/configuration/configuration.tsx")).Configuration),
  },
  { path: "/outbox", name: "outbox", Screen: lazy(async () => (await import("../local/outbox/outbox.tsx")).Outbox) },
  { path: "/codes", name: "codes", Screen: lazy(async () => (await import("../local/codes/codes.tsx")).Codes) },
  { path: "/log", name: "log", Screen: lazy(async () => (await import("../local/log/log.tsx")).Log) },
  { path: "/doctor", name: "doctor", Screen: lazy(async () => (await import("../local/doctor/doctor.tsx")).Doctor) },
] as const;
