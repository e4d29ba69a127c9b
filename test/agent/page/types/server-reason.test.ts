import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { serverReason } from "../../../../agent/page/types/words/doctor-words.ts";
import { createServerClient } from "../../../../agent/push/server-client.ts";
import { scriptedServer, type Step } from "../../../support/peers/scripted-server.ts";

// The reasons of a server that is away, on a Turkish page. Method: the agent's own client fails, and its reason is translated.

async function reasonAt(url: string, key = () => "sk_live_test"): Promise<string> {
  const client = createServerClient(url, key, 300);
  const reason = await client.get("/agent/v1/destinations").then(
    (body) => `no failure: ${JSON.stringify(body)}`,
    ({ message }: Error) => message,
  );
  expect(serverReason(reason, "en")).toBe(reason);
  return serverReason(reason, "tr") ?? reason;
}

const NOT_FOUND = { success: false, error: { code: "RECORD.NOT_FOUND", message: "This destination was not found." } };
const UNKNOWN_KEY = { success: false, error: { code: "KEY.UNKNOWN", message: "The key (sk_live) is unknown." } };

test.each<[Step, string]>([
  ["cut", "sunucuya ulaşılamıyor: bağlantı koptu (ECONNRESET)"],
  ["hang", "sunucuya ulaşılamıyor: süresinde yanıt gelmedi"],
  [{ status: 404, body: NOT_FOUND }, "sunucu 404 yanıtını verdi (RECORD.NOT_FOUND)"],
  [{ status: 401, body: UNKNOWN_KEY }, "sunucu 401 yanıtını verdi (KEY.UNKNOWN)"],
  [
    { status: 502, body: "Bad gateway (nginx)" },
    "502 yanıtı geldi, ama sunucumuzdan değil: orada başka bir program yanıt veriyor",
  ],
  [{ status: 200, body: "<html>" }, "sunucunun yanıtı geçersiz"],
])("the response %j", async (step, turkish) => {
  const server = await scriptedServer(() => step);
  onTestFinished(() => server.close());
  expect(await reasonAt(server.url)).toBe(turkish);
});

test("no response, and no key", async () => {
  const free = net.createServer();
  await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
  const { port } = free.address() as net.AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const url = `http://127.0.0.1:${port}`;
  expect(await reasonAt(url)).toBe("sunucuya ulaşılamıyor: orada dinleyen yok (ECONNREFUSED)");
  const unreadable = () => {
    throw new Error("ENOENT: no such file or directory, open 'agent.key'");
  };
  expect(await reasonAt(url, unreadable)).toBe("anahtar dosyası okunamıyor");
});
