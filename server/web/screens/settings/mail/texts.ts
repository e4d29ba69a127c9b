import { translations } from "../../../text.ts";

export const t = translations({
  intro: [
    "Alerts and reports for owners leave through this mail server. The setting is for the complete server.",
    "Uyarılar ve sahiplere giden raporlar bu posta sunucusundan gönderilir. Ayar tüm sunucu için geçerlidir.",
  ],
  fixed: [
    "Options of the command line set the mail server, and win over this page: {options}.",
    "Posta sunucusunu komut satırının seçenekleri belirliyor ve bu sayfanın önüne geçiyor: {options}.",
  ],
  mayNot: [
    "The server has other clinics too: a user who is an admin of each of them may see and change its mail server.",
    "Bu sunucuda başka klinikler de var: posta sunucusunu, hepsinde yönetici olan bir kullanıcı görebilir ve değiştirebilir.",
  ],
  host: ["Mail server", "Posta sunucusu"],
  hostHint: ["Such as mail.example.com.", "Örneğin mail.example.com."],
  port: ["Port", "Port"],
  encryption: ["Encryption", "Şifreleme"],
  starttls: ["STARTTLS (mostly port 587)", "STARTTLS (çoğunlukla port 587)"],
  tls: ["TLS from the start (mostly port 465)", "Baştan TLS (çoğunlukla port 465)"],
  encryptionHint: [
    "Beyond this machine nothing is sent without encryption.",
    "Bu makinenin dışına şifresiz hiçbir şey gönderilmez.",
  ],
  user: ["User name", "Kullanıcı adı"],
  userHint: ["Empty if it needs none.", "Gerekmiyorsa boş bırakın."],
  password: ["Password", "Parola"],
  passwordKept: [
    "A password is stored. Leave this empty to keep it.",
    "Bir parola saklanıyor. Değişmeyecekse boş bırakın.",
  ],
  passwordHint: [
    "It is stored sealed and never shown. Many providers want an app password.",
    "Şifreli saklanır, bir daha gösterilmez. Birçok sağlayıcı uygulama parolası ister.",
  ],
  from: ["Sender", "Gönderen"],
  fromHint: ["An address that this account may use.", "Bu hesabın kullanabileceği bir adres."],
  save: ["Save", "Kaydet"],
  saved: ["Saved.", "Kaydedildi."],
  remove: ["Remove", "Kaldır"],
  removeTitle: ["Remove the mail server?", "Posta sunucusu kaldırılsın mı?"],
  removeWhy: [
    "The server then sends no e-mail, and its password is forgotten.",
    "Sunucu artık e-posta göndermez, parolası da silinir.",
  ],
  test: ["Send a test", "Deneme gönder"],
  to: ["To", "Alıcı"],
  worked: ["The test was taken.", "Deneme alındı."],
  failed: ["The test was not taken.", "Deneme alınmadı."],
});
