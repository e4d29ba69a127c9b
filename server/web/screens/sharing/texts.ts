import { translations } from "../../text.ts";

export const t = translations({
  share: ["Share with owner", "Sahibiyle paylaş"],
  shareOf: ["Share the report of {name}", "Rapor paylaşımı: {name}"],
  refusedTitle: ["Not shared now", "Şimdi paylaşılmaz"],
  close: ["Close", "Kapat"],
  how: ["How", "Yöntem"],
  byLink: ["A link that ends", "Süreli bağlantı"],
  byMail: ["By e-mail, with the PDF attached", "E-postayla, PDF ekli"],
  language: ["Language of the report", "Raporun dili"],
  english: ["English", "İngilizce"],
  turkish: ["Turkish", "Türkçe"],
  days: ["The link works for", "Bağlantının süresi"],
  forDays: ["{days} {days|day|days}", "{days} gün"],
  linkWhy: [
    "Whoever has the link can open this one report until it ends. It always shows the newest revision.",
    "Bağlantıyı bilen herkes, süresi dolana kadar yalnızca bu raporu açabilir. Rapor hep en yeni sürümü gösterir.",
  ],
  thisMachine: [
    "Careful: {origin} opens on the server's own machine alone. An admin can name a public address under Settings, Network. Until then send the PDF by e-mail.",
    "Dikkat: {origin} yalnızca sunucunun kendi makinesinde açılır. Bir yönetici Ayarlar, Ağ bölümünde dışarıya açık bir adres belirleyebilir. O zamana kadar PDF'i e-postayla gönderin.",
  ],
  clinicNetwork: [
    "Careful: {origin} opens in the clinic's network alone, not at the owner's home. An admin can name a public address under Settings, Network. Until then send the PDF by e-mail.",
    "Dikkat: {origin} yalnızca kliniğin ağında açılır, sahibinin evinde açılmaz. Bir yönetici Ayarlar, Ağ bölümünde dışarıya açık bir adres belirleyebilir. O zamana kadar PDF'i e-postayla gönderin.",
  ],
  makeLink: ["Make the link", "Bağlantı oluştur"],
  link: ["Link", "Bağlantı"],
  linkOnce: [
    "It is shown only now: copy it. It works until {until}.",
    "Yalnızca şimdi gösterilir: kopyalayın. {until} tarihine kadar geçerlidir.",
  ],
  copy: ["Copy", "Kopyala"],
  copied: ["Copied.", "Kopyalandı."],
  copyYourself: ["Selected: press Control+C.", "Seçildi: Ctrl+C tuşlarına basın."],
  to: ["E-mail address", "E-posta adresi"],
  toOwner: ["The address of {name} in the register.", "Kayıtlardaki adres: {name}."],
  toNobody: ["The register has no address of the owner.", "Kayıtlarda sahibinin adresi yok."],
  noMail: [
    "This server sends no e-mail yet. An admin sets the mail server under Settings, E-mail.",
    "Bu sunucu henüz e-posta göndermiyor. Bir yönetici posta sunucusunu Ayarlar, E-posta bölümünde belirler.",
  ],
  send: ["Send", "Gönder"],
  sent: ["Sent.", "Gönderildi."],
  notSent: ["Not sent.", "Gönderilmedi."],
  links: ["Links for the owner", "Sahibi için bağlantılar"],
  made: ["Made", "Oluşturma"],
  ends: ["Ends", "Bitiş"],
  opened: ["Opened", "Açılma"],
  state: ["State", "Durum"],
  by: ["{at} by {by}", "{at}, {by}"],
  until: ["until {at}", "{at} tarihine kadar"],
  never: ["not opened yet", "henüz açılmadı"],
  openedOnce: ["opened once, {first}", "bir kez açıldı, {first}"],
  openedTimes: [
    "opened {times} {times|time|times}, first {first}, last {last}",
    "{times} kez açıldı, ilk {first}, son {last}",
  ],
  works: ["works", "geçerli"],
  revoked: ["revoked", "iptal edildi"],
  expired: ["ended", "süresi doldu"],
  moved: ["ended: the study is with another animal", "kapandı: tetkik başka bir hayvanda"],
  revoke: ["Revoke", "İptal et"],
  revokeOf: ["Revoke the link of {at}", "{at} tarihli bağlantıyı iptal et"],
  revokeTitle: ["Revoke this link?", "Bu bağlantı iptal edilsin mi?"],
  revokeWhy: [
    "Whoever opens it then sees that it has ended. A new link can be made at any time.",
    "Açan kişi bağlantının kapandığını görür. Yeni bir bağlantı her zaman oluşturulabilir.",
  ],
  linkMade: ["Link for the owner made", "Sahibi için bağlantı oluşturuldu"],
  linkRevoked: ["Link for the owner revoked", "Sahibi için bağlantı iptal edildi"],
  mailSent: ["Report sent by e-mail", "Rapor e-postayla gönderildi"],
  mailNotSent: ["Report could not be sent by e-mail", "Rapor e-postayla gönderilemedi"],
});

const commands: Readonly<Record<string, "linkMade" | "linkRevoked" | "mailSent" | "mailNotSent">> = {
  "report link made": "linkMade",
  "report link revoked": "linkRevoked",
  "report sent by e-mail": "mailSent",
  "report not sent by e-mail": "mailNotSent",
};

/** Returns a command of the audit in the page's language; another one as it is. */
export function sharingCommand(command: string): string {
  const known = commands[command];
  return known === undefined ? command : t(known);
}
