import fs from "node:fs";
import { Command } from "commander";
import { parsePositiveInteger } from "../../../shared/platform/cli/options.ts";
import { plural, printError, printJson, printTable, type Table } from "../../../shared/platform/cli/output.ts";
import { drawableImages, exportImages, type ImageSummary, listImages, previewImage } from "../../imaging/catalogue.ts";
import { readSpool, writeSpool } from "../../spool/access.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";

const listCommand = new Command("list")
  .description("list the images, removed ones included, or copy their files")
  .addOption(configOption())
  .option("--study <uid>", "only images of the study")
  .option("--export <folder>", "copy the files to a folder")
  .option("--json", "print a JSON array")
  .action(async (options: ConfigOption & { study?: string; export?: string; json?: boolean }) => {
    const { data } = readConfig(options);
    const images = readSpool(data, (db) => listImages(db, options.study ?? null));
    if (options.export !== undefined) printError(`${exportImages(data, images, options.export)} copied`);
    if (options.json) return printJson(images);
    await printTable(imageTable, images);
    printError(plural(images.length, "image"));
  });

const previewCommand = new Command("preview")
  .argument("<id>")
  .description("draw a frame of an image, or of the first image of a study that can be drawn, as PNG")
  .addOption(configOption())
  .requiredOption("--out <file>", "PNG file to write")
  .option("--frame <n>", "frame of a clip", parsePositiveInteger, 1)
  .action(async (name: string, options: ConfigOption & { out: string; frame: number }) => {
    const { data } = readConfig(options);
    const drawable = readSpool(data, (db) => drawableImages(db, name));
    const { id, png, width, height, frames } = await previewImage(data, drawable, options.frame);
    fs.writeFileSync(options.out, png);
    printError(`${options.out}: frame ${options.frame} of ${frames} of ${id}, ${width} x ${height}`);
  });

const retryCommand = new Command("retry")
  .argument("<destination>")
  .description("send again the images that a destination refused permanently")
  .addOption(configOption())
  .option("--study <uid>", "only images of the study")
  .action((destination: string, options: ConfigOption & { study?: string }) => {
    const { data, destinations } = readConfig(options);
    const ids = destinations.map(({ id }) => id);
    if (!ids.includes(destination)) {
      const expected = ids.length === 0 ? "but there are no destinations" : `expected one of ${ids.join(", ")}`;
      throw new Error(`the destination is ${destination}, ${expected}`);
    }
    const queued = writeSpool(data, (spool) => spool.retryForwards(destination, options.study ?? null));
    printError(`${plural(queued, "image")} queued: a running agent sends them within some minutes`);
  });

export const imagesCommand = new Command("images")
  .description("images of imaging devices")
  .addCommand(listCommand, { isDefault: true })
  .addCommand(previewCommand)
  .addCommand(retryCommand);

const imageTable: Table<ImageSummary> = {
  head: ["IMAGE", "RECEIVED", "DEVICE", "STATE", "BYTES", "STUDY", "SOP CLASS", "ARCHIVES"],
  cells: ({ id, received_at, device, state, bytes, study_uid, sop_class_uid, forwards, removed_at }) => {
    const sent = forwards.map((forward) => `${forward.destination} ${forward.state}`);
    const removed = removed_at === null ? [] : [`removed ${removed_at}`];
    return [id, received_at, device, state, String(bytes), study_uid, sop_class_uid, [...sent, ...removed].join("  ")];
  },
};
