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

interface Meta {
  version: string;
  facts: Facts;
  time: {cell_ns: number; cells: number};
  names: string[];
  'function.kind': number[];
  'function.file': number[];
  'function.module': number[];
  files: string[];
  modules: Module[];
  waits: string[];
  threads: Thread[];
  columns: {name: string; count: number; bytes: number}[];
}

export interface Data {
  meta: Meta;
  column(name: string): Float64Array;
  integers(name: string): Int32Array;
}

const MAGIC = 'tbpage1\n';
const DIFFERENCES = new Set(['sample.cell', 'sample.node', 'wait.cell', 'level.cell']);

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

async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Reads LEB128 into `into`. Numbers beyond 2^53 lose their last digits.
function decode(bytes: Uint8Array, into: Float64Array | Int32Array, differences: boolean): void {
  let at = 0;
  let before = 0;
  for (let i = 0; i < into.length; i++) {
    let byte = bytes[at++]!;
    let number = byte & 0x7f;
    for (let scale = 128; byte & 0x80; scale *= 128) {
      byte = bytes[at++]!;
      number += (byte & 0x7f) * scale;
    }
    if (differences) {
      before += number % 2 ? -(number + 1) / 2 : number / 2;
      number = before;
    }
    into[i] = number;
  }
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
  const read = <T extends Float64Array | Int32Array>(name: string, make: (count: number) => T): T => {
    const place = places.get(name)!;
    const into = make(place.count);
    decode(bytes.subarray(place.at, place.at + place.bytes), into, DIFFERENCES.has(name));
    return into;
  };
  return {
    meta,
    column: name => read(name, count => new Float64Array(count)),
    integers: name => read(name, count => new Int32Array(count)),
  };
}
