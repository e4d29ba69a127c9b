import fs from "node:fs";
import path from "node:path";
import { SerialPortMock } from "serialport";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listPorts } from "../../../agent/transport/serial-ports.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

let byId: string;

beforeEach(() => {
  byId = temporaryFolder();
});

afterEach(() => {
  SerialPortMock.binding.reset();
  fs.rmSync(byId, { recursive: true });
});

test("a port is listed with its by-id name, vendor and serial number", async () => {
  SerialPortMock.binding.createPort(path.join(byId, "ttyUSB0"), {
    manufacturer: "FTDI",
    vendorId: "0403",
    productId: "6001",
  });
  SerialPortMock.binding.createPort("/dev/ttyS0");
  fs.symlinkSync("ttyUSB0", path.join(byId, "usb-FTDI_A1-if00"));
  const [adapter, builtIn] = await listPorts(() => SerialPortMock.list(), byId);
  expect(adapter).toMatchObject({
    path: path.join(byId, "ttyUSB0"),
    by_id: path.join(byId, "usb-FTDI_A1-if00"),
    vendor: "FTDI",
    vendor_id: "0403",
    product_id: "6001",
    serial_number: expect.any(String),
  });
  expect(builtIn).toMatchObject({ path: "/dev/ttyS0", by_id: null });
});

test("by-id names are listed without udevadm", async () => {
  fs.symlinkSync("../../ttyUSB3", path.join(byId, "usb-Prolific_B2-if00"));
  const withoutUdevadm = () => Promise.reject(Object.assign(new Error("spawn udevadm ENOENT"), { code: "ENOENT" }));
  const unknown = { vendor: null, vendor_id: null, product_id: null, serial_number: null };
  expect(await listPorts(withoutUdevadm, byId)).toEqual([
    { path: path.resolve(byId, "../../ttyUSB3"), by_id: path.join(byId, "usb-Prolific_B2-if00"), ...unknown },
  ]);
});

test("any other error of the port list is thrown", async () => {
  await expect(listPorts(() => Promise.reject(new Error("out of memory")), byId)).rejects.toThrow("out of memory");
});
