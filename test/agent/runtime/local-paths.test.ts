import { expect, test } from "vitest";
import { withoutFolders } from "../../../agent/runtime/local-paths.ts";

test.each([
  ["cannot open /var/lib/vetwire/agent/spool.db (EACCES)", "cannot open spool.db (EACCES)"],
  ["tls.key C:\\Users\\ayse\\lab.key is missing", "tls.key lab.key is missing"],
  ["there is no /home/ayşe yılmaz/vetwire/certs/lab.pem: create it", "there is no certs/lab.pem: create it"],
  ["expected ./secrets/lab.key, found none", "expected lab.key, found none"],
])("a sentence for the server names files without their folders: %s", (sentence, scrubbed) => {
  expect(withoutFolders(sentence, ["/home/ayşe yılmaz/vetwire"])).toBe(scrubbed);
});

test.each([
  "chem-1: the port /dev/ttyUSB0 does not exist",
  "allow is 10.0.0.0/33, expected an address or a network such as 192.168.1.0/24",
  "the server at https://vetwire.example.com/api does not answer",
  "127.0.0.1:4001 is in use: choose another port",
])("addresses and ports of devices stay: %s", (sentence) => {
  expect(withoutFolders(sentence, ["/home/ayse/vetwire"])).toBe(sentence);
});
