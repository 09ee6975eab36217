/**
 * Dot products of many int8 rows with one int16 query, in WebAssembly SIMD: some twenty times as
 * fast as a loop in JavaScript. The module is so small that it stands here byte by byte.
 *
 * Its memory holds the query from address 0 on, right behind it the sums, and the rows anywhere
 * else. Query and rows are as long as each other, a multiple of 16 values.
 */

/**
 * Writes the dot product of each row with the query.
 *
 * @param row Where the first row begins.
 * @param end Where the last one ends; there must be at least one.
 * @param sums Where the query ends and the sums go, an int32 for each row.
 */
export type DotKernel = (row: number, end: number, sums: number) => void;

type Bytes = readonly number[];

const I32 = 0x7f;
const V128 = 0x7b;
const [ROW, END, SUMS, AT, SUM, LANES] = [0, 1, 2, 3, 4, 5] as const;

const CODE: readonly Bytes[] = [
  [2, 2, I32, 1, V128], // locals: AT in the query, SUM to be written; LANES, four sums of a row
  [0x20, SUMS], // local.get SUMS
  [0x21, SUM], // local.set SUM
  [0x03, 0x40], // loop, once for each row
  [0x41, 0], //   i32.const 0
  [0x22, AT], //   local.tee AT
  [0xfd, 0x11], //   i32x4.splat
  [0x21, LANES], //   local.set LANES
  [0x03, 0x40], //   loop, once for 16 values
  [0x20, LANES], //     local.get LANES
  [0x20, ROW], //     local.get ROW
  [0xfd, 0x01, 3, 0], //     v128.load8x8_s, 8 values of the row as int16
  [0x20, AT], //     local.get AT
  [0xfd, 0x00, 4, 0], //     v128.load, 8 values of the query
  [0xfd, 0xba, 0x01], //     i32x4.dot_i16x8_s, the sums of 4 pairs
  [0xfd, 0xae, 0x01], //     i32x4.add
  [0x20, ROW], //     local.get ROW
  [0xfd, 0x01, 3, 8], //     v128.load8x8_s offset=8
  [0x20, AT], //     local.get AT
  [0xfd, 0x00, 4, 16], //     v128.load offset=16
  [0xfd, 0xba, 0x01], //     i32x4.dot_i16x8_s
  [0xfd, 0xae, 0x01], //     i32x4.add
  [0x21, LANES], //     local.set LANES
  [0x20, ROW], //     local.get ROW
  [0x41, 16], //     i32.const 16
  [0x6a], //     i32.add
  [0x21, ROW], //     local.set ROW
  [0x20, AT], //     local.get AT
  [0x41, 32], //     i32.const 32
  [0x6a], //     i32.add
  [0x22, AT], //     local.tee AT
  [0x20, SUMS], //     local.get SUMS
  [0x47], //     i32.ne
  [0x0d, 0], //     br_if 0, to the next 16 values
  [0x0b], //   end
  [0x20, SUM], //   local.get SUM
  [0x20, LANES], //   local.get LANES
  [0xfd, 0x1b, 0], //   i32x4.extract_lane 0
  [0x20, LANES], //   local.get LANES
  [0xfd, 0x1b, 1], //   i32x4.extract_lane 1
  [0x6a], //   i32.add
  [0x20, LANES], //   local.get LANES
  [0xfd, 0x1b, 2], //   i32x4.extract_lane 2
  [0x6a], //   i32.add
  [0x20, LANES], //   local.get LANES
  [0xfd, 0x1b, 3], //   i32x4.extract_lane 3
  [0x6a], //   i32.add
  [0x36, 2, 0], //   i32.store
  [0x20, SUM], //   local.get SUM
  [0x41, 4], //   i32.const 4
  [0x6a], //   i32.add
  [0x21, SUM], //   local.set SUM
  [0x20, ROW], //   local.get ROW
  [0x20, END], //   local.get END
  [0x47], //   i32.ne, as the end of 4 GiB is 0
  [0x0d, 0], //   br_if 0, to the next row
  [0x0b], // end
  [0x0b], // end of the function
];

const HEADER: Bytes = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const TYPES: Bytes = [1, 0x60, 3, I32, I32, I32, 0];
const IMPORTS: Bytes = [1, ...name("host"), ...name("memory"), 0x02, 0, 1];
const FUNCTIONS: Bytes = [1, 0];
const EXPORTS: Bytes = [1, ...name("dots"), 0x00, 0];

/** Returns the kernel that works in a memory, `undefined` where there is no WebAssembly SIMD. */
export function openDotKernel(memory: WebAssembly.Memory): DotKernel | undefined {
  const bytes = Uint8Array.from([
    ...HEADER,
    ...section(1, TYPES),
    ...section(2, IMPORTS),
    ...section(3, FUNCTIONS),
    ...section(7, EXPORTS),
    ...section(10, [1, ...sized(CODE.flat())]),
  ]);
  if (!WebAssembly.validate(bytes)) return undefined;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { host: { memory } });
  const { dots } = exports;
  return typeof dots === "function" ? dots as DotKernel : undefined;
}

function section(id: number, content: Bytes): Bytes {
  return [id, ...sized(content)];
}

/** Puts the length before the content, in the two bytes that any length below 16 384 can take. */
function sized(content: Bytes): Bytes {
  return [content.length & 127 | 128, content.length >> 7, ...content];
}

function name(text: string): Bytes {
  return [text.length, ...new TextEncoder().encode(text)];
}
