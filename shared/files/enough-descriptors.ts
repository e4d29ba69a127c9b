import { writeSync } from "node:fs";
import { DESCRIPTORS_MIN, descriptorLimit } from "./descriptors.ts";

// Ends a program that may open too few files. It would fail while it loads, or later at a file that it needs.

const limit = descriptorLimit();
if (limit !== null && limit < DESCRIPTORS_MIN) {
  const remedy = "raise ulimit -n, or LimitNOFILE of the service";
  writeSync(2, `vetwire needs ${DESCRIPTORS_MIN} open files or more, this process may have ${limit}: ${remedy}\n`);
  process.exit(1);
}
