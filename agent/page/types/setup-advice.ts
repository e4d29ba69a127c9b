// What to check when the set-up heard nothing, or nothing that it knows.

/** In English. The page has them in Turkish too. */
export const SETUP_ADVICE = {
  cable: "Look whether the cable sits firmly at both ends, and whether this is the right port.",
  nullModem: "Many devices need a crossed (null-modem) cable. Try one, or a null-modem adapter.",
  sendingOff: "Look in the device's settings whether sending to a computer (LIS, host) is on, and over this line.",
  addressThere: "Compare address and port in the device's settings with those shown here.",
  network:
    "Look whether the device and this PC are in the same network, and whether the light at the cable's plug is on.",
  firewall: "A firewall of this PC may block the port. Allow the port for Vetwire.",
  deviceOff: "Look whether the device is on, and compare its address and port with those typed here.",
  aeTitle: "Compare the AE title in the device's settings, and use the device's connection test (C-ECHO).",
  speed: "Bytes came, but no speed made sense of them. Read the speed in the device's settings (9600 is usual).",
  encryption: "Bytes came that are not DICOM. Look whether encryption (TLS) is on at the device, and switch it off.",
  unknown:
    "The bytes fit no protocol that Vetwire knows. Choose the device by hand, or send the bytes below to the support.",
  again: "Then listen again, and send a result at the device.",
} as const;

export type SetupAdvice = keyof typeof SETUP_ADVICE;
