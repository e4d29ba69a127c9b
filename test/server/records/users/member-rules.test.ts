import { expect, test } from "vitest";
import { refusal } from "../../../../server/dashboard/types/refusals.ts";
import { accountProblem } from "../../../../server/records/users/member-rules.ts";

test("an admin changes accounts of others, all of whose clinics the admin administers", () => {
  const admin = { userId: 1, adminOf: [10, 11] };
  expect(accountProblem(admin, { userId: 2, clinics: [10] })).toBeNull();
  expect(accountProblem(admin, { userId: 2, clinics: [10, 11] })).toBeNull();
  expect(accountProblem(admin, { userId: 2, clinics: [10, 12] })).toEqual(refusal("USER.OF_OTHERS"));
  expect(accountProblem(admin, { userId: 1, clinics: [10] })).toEqual(refusal("USER.ONESELF"));
});
