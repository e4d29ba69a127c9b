// Types for the parts of the WASM codecs that the agent uses, because the packages have none.

interface WasmDecoder {
  /** Makes room for the compressed bytes. */
  getEncodedBuffer(length: number): Uint8Array;
  /** Faulty bytes leave a frame without pixels, or throw. */
  decode(): void;
  /** A view of the codec's memory: copy it before the next call. */
  getDecodedBuffer(): Uint8Array;
  getFrameInfo(): {
    readonly width: number;
    readonly height: number;
    readonly bitsPerSample: number;
    readonly componentCount: number;
  };
}

type WasmCodec<Name extends string> = (settings: {
  print(text: string): void;
  printErr(text: string): void;
}) => Promise<Readonly<Record<Name, new () => WasmDecoder>>>;

declare module "@cornerstonejs/codec-openjpeg/decodewasmjs" {
  const load: WasmCodec<"J2KDecoder">;
  export = load;
}

declare module "@cornerstonejs/codec-charls/decodewasmjs" {
  const load: WasmCodec<"JpegLSDecoder">;
  export = load;
}

declare module "jpeg-lossless-decoder-js" {
  export class Decoder {
    readonly numComp: number;
    readonly xDim: number;
    readonly yDim: number;
    /** Bytes of a sample. */
    readonly numBytes: number;
    decompress(buffer: ArrayBuffer, offset: number, length: number): ArrayBuffer;
  }
}
