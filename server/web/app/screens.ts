import { lazy } from "../lazy.tsx";

/** The screens by their paths, in the order of the menu. Each one is loaded when it is first shown. */
export const screens = [
  { path: "/dashboard", Screen: lazy(async () => (await import("../screens/today/today.tsx")).Today) },
  { path: "/dashboard/results", Screen: lazy(async () => (await import("../screens/results/results.tsx")).Results) },
  { path: "/dashboard/results/:fp", Screen: lazy(async () => (await import("../screens/results/study.tsx")).Study) },
  {
    path: "/dashboard/results/:fp/trail",
    Screen: lazy(async () => (await import("../screens/results/trail/trail.tsx")).Trail),
  },
  {
    path: "/dashboard/patients",
    Screen: lazy(async () => (await import("../screens/patients/patients.tsx")).Patients),
  },
  {
    path: "/dashboard/patients/new",
    Screen: lazy(async () => (await import("../screens/patients/animal/new-animal.tsx")).NewAnimal),
  },
  {
    path: "/dashboard/patients/removed",
    Screen: lazy(async () => (await import("../screens/patients/removed.tsx")).RemovedPatients),
  },
  {
    path: "/dashboard/patients/import",
    Screen: lazy(async () => (await import("../screens/file-import/file-import.tsx")).FileImport),
  },
  {
    path: "/dashboard/patients/:fp",
    Screen: lazy(async () => (await import("../screens/patients/patient.tsx")).PatientPage),
  },
  {
    path: "/dashboard/patients/:fp/edit",
    Screen: lazy(async () => (await import("../screens/patients/animal/edit-animal.tsx")).EditAnimal),
  },
  {
    path: "/dashboard/patients/:fp/merge/:other?",
    Screen: lazy(async () => (await import("../screens/patients/merge/merge.tsx")).MergeAnimals),
  },
  {
    path: "/dashboard/patients/:fp/:analyte",
    Screen: lazy(async () => (await import("../screens/patients/trend/trend.tsx")).AnalyteTrend),
  },
  {
    path: "/dashboard/to-place/codes",
    Screen: lazy(async () => (await import("../screens/unmatched/codes/codes.tsx")).Codes),
  },
  {
    path: "/dashboard/to-place/:fp?",
    Screen: lazy(async () => (await import("../screens/unmatched/unmatched.tsx")).UnmatchedStudies),
  },
  { path: "/dashboard/orders", Screen: lazy(async () => (await import("../screens/orders/orders.tsx")).Orders) },
  {
    path: "/dashboard/manual-study/:fp?",
    Screen: lazy(async () => (await import("../screens/manual-study/manual-study.tsx")).ManualStudy),
  },
  { path: "/dashboard/records", Screen: lazy(async () => (await import("../screens/records/records.tsx")).Records) },
  {
    path: "/dashboard/records/:fp",
    Screen: lazy(async () => (await import("../screens/records/record.tsx")).RecordScreen),
  },
  {
    path: "/dashboard/calendar",
    Screen: lazy(async () => (await import("../screens/calendar/calendar.tsx")).Calendar),
  },
  { path: "/dashboard/stock", Screen: lazy(async () => (await import("../screens/stock/stock.tsx")).Stock) },
  { path: "/dashboard/stock/:fp", Screen: lazy(async () => (await import("../screens/stock/item.tsx")).StockItem) },
  {
    path: "/dashboard/quality",
    Screen: lazy(async () => (await import("../screens/quality/quality.tsx")).QualityControl),
  },
  { path: "/dashboard/devices", Screen: lazy(async () => (await import("../screens/devices/devices.tsx")).Devices) },
  {
    path: "/dashboard/settings",
    Screen: lazy(async () => (await import("../screens/settings/frame.tsx")).SettingsHome),
  },
  {
    path: "/dashboard/settings/keys",
    Screen: lazy(async () => (await import("../screens/settings/keys/keys.tsx")).Keys),
  },
  {
    path: "/dashboard/settings/users",
    Screen: lazy(async () => (await import("../screens/settings/users/users.tsx")).Users),
  },
  {
    path: "/dashboard/settings/clinic",
    Screen: lazy(async () => (await import("../screens/settings/clinic.tsx")).ClinicSettings),
  },
  {
    path: "/dashboard/settings/report",
    Screen: lazy(async () => (await import("../screens/settings/report.tsx")).ReportSettings),
  },
  {
    path: "/dashboard/settings/ranges",
    Screen: lazy(async () => (await import("../screens/settings/ranges/ranges.tsx")).Ranges),
  },
  {
    path: "/dashboard/settings/audit",
    Screen: lazy(async () => (await import("../screens/settings/audit/audit.tsx")).Audit),
  },
  {
    path: "/dashboard/settings/webhooks",
    Screen: lazy(async () => (await import("../screens/settings/webhooks/webhooks.tsx")).Webhooks),
  },
  {
    path: "/dashboard/settings/webhooks/:id",
    Screen: lazy(async () => (await import("../screens/settings/webhooks/webhook.tsx")).WebhookScreen),
  },
  {
    path: "/dashboard/settings/destinations",
    Screen: lazy(async () => (await import("../screens/settings/destinations/destinations.tsx")).Destinations),
  },
  {
    path: "/dashboard/settings/destinations/:id",
    Screen: lazy(async () => (await import("../screens/settings/destinations/destination.tsx")).DestinationScreen),
  },
  {
    path: "/dashboard/settings/notifications",
    Screen: lazy(
      async () => (await import("../screens/settings/notifications/notifications.tsx")).NotificationSettings,
    ),
  },
  {
    path: "/dashboard/settings/mail",
    Screen: lazy(async () => (await import("../screens/settings/mail/mail.tsx")).MailSettings),
  },
  {
    path: "/dashboard/settings/network",
    Screen: lazy(async () => (await import("../screens/settings/network/network.tsx")).NetworkSettings),
  },
  { path: "/dashboard/account", Screen: lazy(async () => (await import("../screens/account/account.tsx")).Account) },
  { path: "/dashboard/help/:page?", Screen: lazy(async () => (await import("../screens/help/help.tsx")).Help) },
];
