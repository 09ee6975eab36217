/** Something that may take less than it is given: a file, a connection. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<number>;
}

/** Writes all of some bytes, however many the other side takes at once. */
export async function writeAll(sink: ByteSink, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += await sink.write(bytes.subarray(written));
  }
}
