// The data of the page: README.md has the format.

export interface Thread {
  name: string;
  tid: number;
  process: string;
  pid: number;
  start_ns: number;
  end_ns?: number;
  cpu_ns: number;
  samples: number; // entries in the columns of samples
  runs?: number; // likewise of states; without: the thread's states are not known
  waits?: number; // likewise of waits
  state_ns?: number[];
}

// Lines of a file, from the first one on.
export interface Source {
  file: string;
  first: number;
  text: string;
  is_changed: boolean; // after the collection
}

export interface Module {
  name: string;
  path: string;
  system: boolean;
}

export type Facts = Record<string, unknown> & {
  command: string;
  cpu_ns: number;
  elapsed_ns?: number;
  samples: number;
  target: number;
  is_counted: boolean;
  event: string;
  warnings: string[];
};

export interface Functions {
  names: string[];
  'function.kind': number[];
  'function.file': number[];
  'function.module': number[];
  files: string[];
  modules: Module[];
}

// As tbreport diff --format json has it.
export interface DiffRow {
  function: string;
  base_cpu_time_s: number;
  cpu_time_s: number;
  difference_s: number;
  change: number | null; // beyond the common factor
  change_std_error: number | null;
  verdict: string;
  p_value: number | null;
  base_samples: number;
  samples: number;
  module: string;
  function_full: string;
}

export interface Diff {
  base: string[]; // names of the results
  new: string[];
  factor?: number; // common to most rows, new over base, in 10^-6
  rows: DiffRow[]; // the total first
}

interface Meta extends Functions {
  version: string;
  facts: Facts;
  time: {cell_ns: number; cells: number};
  waits: string[];
  threads: Thread[];
  sources: Source[];
  calls: number; // nodes but for their lines
  diff?: Diff; // then there are no facts, threads, waits, sources and calls
  full?: string[]; // names of functions with parameters
  columns: {name: string; count: number; bytes: number}[];
}

export interface Data {
  meta: Meta;
  count(name: string): number;
  column(name: string): Float64Array;
  integers(name: string): Int32Array;
  // The numbers one by one, without memory for all of them.
  numbers(name: string): () => number;
}

const MAGIC = 'tbpage2\n';
const DIFFERENCES = new Set(['node.inner', 'sample.cell', 'sample.node', 'wait.cell', 'level.cell']);

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as {fromBase64?: (text: string) => Uint8Array<ArrayBuffer>}).fromBase64;
  if (native)
    return native(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++)
    bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// The last four bytes of gzip are the size of what it holds. Memory written for the first time costs more than the rest of the work.
async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const whole = new Uint8Array(new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4).getUint32(0, true));
  const stream = new DecompressionStream('gzip');
  const writer = stream.writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  const reader = stream.readable.getReader();
  let at = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    whole.set(part.value, at);
    at += part.value.length;
  }
  await written;
  return whole;
}

// Reads LEB128. Numbers beyond 2^53 lose their last digits.
function cursor(bytes: Uint8Array, differences: boolean): () => number {
  let at = 0;
  let before = 0;
  return () => {
    let number = bytes[at++]!;
    if (number & 0x80) {
      number &= 0x7f;
      let byte = 0x80;
      for (let scale = 128; byte & 0x80; scale *= 128) {
        byte = bytes[at++]!;
        number += (byte & 0x7f) * scale;
      }
    }
    if (differences) {
      before += number % 2 ? -(number + 1) / 2 : number / 2;
      number = before;
    }
    return number;
  };
}

export async function load(text: string): Promise<Data> {
  const bytes = await unpack(fromBase64(text.trim()));
  if (new TextDecoder().decode(bytes.subarray(0, MAGIC.length)) !== MAGIC)
    throw new Error('the page holds no data of this version');
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true);
  const begin = MAGIC.length + 4;
  const meta = JSON.parse(new TextDecoder().decode(bytes.subarray(begin, begin + size))) as Meta;
  const places = new Map<string, {at: number; count: number; bytes: number}>();
  let at = begin + size;
  for (const column of meta.columns) {
    places.set(column.name, {at, count: column.count, bytes: column.bytes});
    at += column.bytes;
  }
  const numbers = (name: string) => {
    const place = places.get(name)!;
    return cursor(bytes.subarray(place.at, place.at + place.bytes), DIFFERENCES.has(name));
  };
  const count = (name: string) => places.get(name)!.count;
  const read = <T extends Float64Array | Int32Array>(name: string, into: T): T => {
    const next = numbers(name);
    for (let i = 0; i < into.length; i++)
      into[i] = next();
    return into;
  };
  return {
    meta, count, numbers,
    column: name => read(name, new Float64Array(count(name))),
    integers: name => read(name, new Int32Array(count(name))),
  };
}
