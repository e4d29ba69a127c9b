import { translations } from "../../../text.ts";

export const t = translations({
  intro: [
    "How PCs, phones and agents of the clinic’s network reach this server. The page of this machine stays at {here}.",
    "Klinik ağındaki bilgisayarların, telefonların ve aracıların bu sunucuya nasıl ulaştığı. Bu makinenin sayfası {here} adresinde kalır.",
  ],
  fixed: [
    "Options of the server decide this: {options}. Remove them from its command line or its service’s file to choose here.",
    "Bunu sunucunun seçenekleri belirliyor: {options}. Burada seçmek için onları komut satırından veya hizmet dosyasından kaldırın.",
  ],
  mayNot: [
    "This server has other clinics too. A user who is admin in each of them can change the network.",
    "Bu sunucuda başka klinikler de var. Ağı, hepsinde yönetici olan bir kullanıcı değiştirebilir.",
  ],
  now: ["Addresses", "Adresler"],
  nobody: ["No other machine reaches this server.", "Bu sunucuya başka makine ulaşmıyor."],
  certificate: ["Certificate", "Sertifika"],
  certificateOf: ["For {names}", "Şunlar için: {names}"],
  validUntil: ["Valid until {date}", "Geçerlilik sonu: {date}"],
  renews: [
    "Valid until {date}; the server renews it by itself.",
    "Geçerlilik sonu: {date}; sunucu onu kendisi yeniler.",
  ],
  choose: ["Who reaches this server", "Bu sunucuya kim ulaşır"],
  "this machine": ["This machine alone", "Yalnızca bu makine"],
  "this machineHint": [
    "An agent on this machine needs nothing else.",
    "Bu makinedeki bir aracıya başka bir şey gerekmez.",
  ],
  "own authority": [
    "The clinic’s network, with a certificate of this server",
    "Klinik ağı, bu sunucunun sertifikasıyla",
  ],
  "own authorityHint": [
    "Encrypted. Each phone and PC installs the certificate of this server’s authority once, see below.",
    "Şifreli. Her telefon ve bilgisayar bu sunucunun yetkili sertifikasını bir kez kurar; aşağıya bakın.",
  ],
  "own certificate": ["The clinic’s network, with a certificate of your own", "Klinik ağı, kendi sertifikanızla"],
  "own certificateHint": [
    "For a name of your domain. PCs that were paired with another certificate are paired again.",
    "Alan adınızdaki bir ad için. Başka sertifikayla eşleştirilmiş bilgisayarlar yeniden eşleştirilir.",
  ],
  proxy: ["A proxy in front of this server", "Bu sunucunun önündeki bir vekil sunucu"],
  proxyHint: ["The proxy has the certificate and speaks https.", "Sertifika vekil sunucudadır ve https'i o konuşur."],
  port: ["Port", "Bağlantı noktası"],
  portHint: [
    "8443 is free on most machines. Port 443 needs no number in the address. A firewall of this machine has to let it in.",
    "8443 çoğu makinede boştur. 443 seçilirse adreste sayı gerekmez. Bu makinenin güvenlik duvarı ona izin vermelidir.",
  ],
  chain: ["Certificate chain (PEM)", "Sertifika zinciri (PEM)"],
  chainHint: [
    "First the server’s own certificate, then each issuer.",
    "Önce sunucunun kendi sertifikası, sonra sırayla onu verenler.",
  ],
  chainFile: ["Read the chain from a file", "Zinciri bir dosyadan oku"],
  key: ["Private key (PEM)", "Özel anahtar (PEM)"],
  keyHint: [
    "Without a passphrase. It stays on this machine, and no page shows it again.",
    "Parolasız. Bu makinede kalır ve hiçbir sayfa onu yeniden göstermez.",
  ],
  keyFile: ["Read the key from a file", "Anahtarı bir dosyadan oku"],
  url: ["Address that people type", "Kişilerin yazdığı adres"],
  urlHint: ["Such as https://vetwire.example.com", "Örneğin https://vetwire.example.com"],
  proxies: ["Addresses of the proxy", "Vekil sunucunun adresleri"],
  proxiesHint: [
    "127.0.0.1 for a proxy on this machine. Several with spaces; ranges such as 10.0.0.0/8.",
    "Bu makinedeki vekil sunucu için 127.0.0.1. Birden çoksa boşlukla ayırın; 10.0.0.0/8 gibi aralıklar da olur.",
  ],
  isElsewhere: ["The proxy runs on another machine", "Vekil sunucu başka bir makinede çalışıyor"],
  host: ["Address of this machine for the proxy", "Bu makinenin vekil sunucu için adresi"],
  save: ["Apply", "Uygula"],
  saved: ["Applied.", "Uygulandı."],
  mayEnd: [
    "You use this page over the network. If its address ends, open {here} on the server’s machine.",
    "Bu sayfayı ağ üzerinden kullanıyorsunuz. Adresi kapanırsa sunucunun makinesinde {here} adresini açın.",
  ],
  refused: ["Nothing was changed", "Hiçbir şey değişmedi"],
  fault: [
    "The port is closed. The server tries again each minute.",
    "Bağlantı noktası kapalı. Sunucu her dakika yeniden dener.",
  ],
  authority: ["Trust this server on a phone or PC", "Telefonda veya bilgisayarda bu sunucuya güvenin"],
  authorityWhy: [
    "Browsers know only public authorities. Install this server’s own once on each device. It is good for names and addresses of local networks alone.",
    "Tarayıcılar yalnızca genel yetkilileri tanır. Bu sunucununkini her cihaza bir kez kurun. Yalnızca yerel ağların adları ve adresleri için geçerlidir.",
  ],
  download: ["Download the authority’s certificate", "Yetkili sertifikasını indir"],
  scan: [
    "For a phone in the same network: scan this, and go on although the page is unknown.",
    "Aynı ağdaki bir telefon için: bunu okutun ve sayfa tanınmasa da devam edin.",
  ],
  qr: ["QR code of {url}", "{url} adresinin QR kodu"],
  fingerprint: [
    "Its SHA-256 fingerprint. Compare it on the device before you install:",
    "SHA-256 parmak izi. Kurmadan önce cihazda karşılaştırın:",
  ],
  Windows: ["Windows", "Windows"],
  WindowsSteps: [
    "Open the downloaded file › Install Certificate › Local Machine › Place all certificates in the following store › Browse › Trusted Root Certification Authorities › Finish.",
    "İndirilen dosyayı açın › Sertifika Yükle › Yerel Makine › Tüm sertifikaları aşağıdaki depolama alanına yerleştir › Gözat › Güvenilen Kök Sertifika Yetkilileri › Son.",
  ],
  macOS: ["macOS", "macOS"],
  macOSSteps: [
    "Open the downloaded file; Keychain Access takes it. Open the certificate there › Trust › When using this certificate: Always Trust.",
    "İndirilen dosyayı açın; Anahtar Zinciri Erişimi onu alır. Sertifikayı orada açın › Güven › Bu sertifikayı kullanırken: Her Zaman Güven.",
  ],
  iOS: ["iPhone and iPad", "iPhone ve iPad"],
  iOSSteps: [
    "In Safari allow the download. Settings › General › VPN & Device Management › the profile › Install. Then Settings › General › About › Certificate Trust Settings: switch it on.",
    "Safari'de indirmeye izin verin. Ayarlar › Genel › VPN ve Cihaz Yönetimi › profil › Yükle. Sonra Ayarlar › Genel › Hakkında › Sertifika Güven Ayarları: açın.",
  ],
  Android: ["Android", "Android"],
  AndroidSteps: [
    "Settings › Security › More security settings › Encryption & credentials › Install a certificate › CA certificate › Install anyway, and choose the file. Names differ by maker: search the settings for “CA certificate”.",
    "Ayarlar › Güvenlik › Diğer güvenlik ayarları › Şifreleme ve kimlik bilgileri › Sertifika yükle › CA sertifikası › Yine de yükle ve dosyayı seçin. Adlar üreticiye göre değişir: ayarlarda “CA sertifikası” arayın.",
  ],
  Firefox: ["Firefox", "Firefox"],
  FirefoxSteps: [
    "On Windows, macOS and Android it takes the system’s. Elsewhere: Settings › Privacy & Security › View Certificates › Authorities › Import › Trust this CA to identify websites.",
    "Windows, macOS ve Android'de sisteminkini alır. Başka yerde: Ayarlar › Gizlilik ve Güvenlik › Sertifikaları göster › Makamlar › İçe aktar › Web sitelerini tanımlarken bu CA'ya güven.",
  ],
  Linux: ["Linux", "Linux"],
  LinuxSteps: [
    "Chrome: Settings › Privacy and security › Security › Manage certificates › Custom › Installed by you › Import. Programs of Debian and Ubuntu: copy the file to /usr/local/share/ca-certificates and run sudo update-ca-certificates.",
    "Chrome: Ayarlar › Gizlilik ve güvenlik › Güvenlik › Sertifikaları yönet › Özel › Sizin yükledikleriniz › İçe aktar. Debian ve Ubuntu programları: dosyayı /usr/local/share/ca-certificates içine kopyalayın ve sudo update-ca-certificates çalıştırın.",
  ],
  "set by options": ["Options of the server decide this: {got}.", "Bunu sunucunun seçenekleri belirliyor: {got}."],
  "port in use": [
    "Another program uses port {got}. Choose another port.",
    "{got} bağlantı noktasını başka bir program kullanıyor. Başka bir tane seçin.",
  ],
  "port of this machine": [
    "Port {got} is the one of this machine’s page. Choose another port.",
    "{got}, bu makinenin sayfasının bağlantı noktasıdır. Başka bir tane seçin.",
  ],
  "port not allowed": [
    "The system does not let the server open port {got}. Choose one above 1023, such as 8443.",
    "Sistem, sunucunun {got} bağlantı noktasını açmasına izin vermiyor. 1023'ten büyük birini seçin, örneğin 8443.",
  ],
  "no such address": ["{got} is not an address of this machine.", "{got} bu makinenin adresi değil."],
  "not saved": [
    "The server could not open the port or write the setting: {got}",
    "Sunucu bağlantı noktasını açamadı veya ayarı yazamadı: {got}",
  ],
  "no certificate": [
    "The chain holds no certificate: expected text that begins with -----BEGIN CERTIFICATE-----. {got}",
    "Zincirde sertifika yok: -----BEGIN CERTIFICATE----- ile başlayan metin beklenir. {got}",
  ],
  "no key": [
    "The key cannot be read: expected text that begins with -----BEGIN PRIVATE KEY-----. {got}",
    "Anahtar okunamıyor: -----BEGIN PRIVATE KEY----- ile başlayan metin beklenir. {got}",
  ],
  "encrypted key": [
    "The key has a passphrase: remove it first, such as with openssl pkey -in key.pem -out open.pem. {got}",
    "Anahtarın parolası var: önce kaldırın, örneğin openssl pkey -in key.pem -out open.pem. {got}",
  ],
  "other key": [
    "The key does not belong to the first certificate of the chain ({got}).",
    "Anahtar, zincirin ilk sertifikasına ait değil ({got}).",
  ],
  expired: ["A certificate of the chain has ended. {got}", "Zincirdeki bir sertifikanın süresi doldu. {got}"],
  "not yet valid": [
    "A certificate of the chain is not valid yet: compare the clock of the server. {got}",
    "Zincirdeki bir sertifika henüz geçerli değil: sunucunun saatini karşılaştırın. {got}",
  ],
  "no names": [
    "The certificate names no address for which it is good (subject alternative names). {got}",
    "Sertifika hangi adres için geçerli olduğunu söylemiyor (konu alternatif adları). {got}",
  ],
  "wrong chain": [
    "A certificate was not issued by the next one of the chain: put the issuers in their order. {got}",
    "Bir sertifikayı zincirdeki sonraki vermemiş: verenleri sırasına koyun. {got}",
  ],
  "unusable certificate": ["The certificate cannot be used: {got}", "Sertifika kullanılamıyor: {got}"],
  "wrong proxy": [
    "“{got}” is not an address or range: type such as 127.0.0.1 or 10.0.0.0/8.",
    "“{got}” bir adres veya aralık değil: 127.0.0.1 veya 10.0.0.0/8 gibi yazın.",
  ],
  "wrong url": [
    "“{got}” is not an address that people type: expected such as https://vetwire.example.com.",
    "“{got}” kişilerin yazdığı bir adres değil: https://vetwire.example.com gibi olmalıdır.",
  ],
});
