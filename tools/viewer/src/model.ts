// The result in memory: stacks as a tree of functions, and sums of what the filter leaves.
import type {Data, Facts, Module, Thread} from './data.ts';

export const KIND = {CODE: 0, UNKNOWN: 1, SKIPPED: 2, GUESSED: 3, KERNEL: 4, NO_SAMPLE: 5, NO_THREAD: 6, INLINED: 10};

export interface Filter {
  from: number; // cells, both inside; all of the run: 0 to the last one
  to: number;
  threads: Uint8Array; // by thread
}

// One node of what is shown, down from the roots or up from the leaves.
export interface View {
  fn: number; // -1: all
  total: number;
  self: number;
  guessed: number; // time of stacks in which it is no verified frame
  children(): View[]; // the heaviest first
}

export interface WaitRow {
  item: number;
  type: string;
  name: string;
  count: number;
  ns: number;
  stacks: Map<number, {count: number; ns: number}>; // by class
}

export class Model {
  readonly facts: Facts;
  readonly threads: Thread[];
  readonly modules: Module[];
  readonly names: string[];
  readonly kinds: Uint8Array;
  readonly moduleOf: Int32Array;
  readonly cells: number;
  readonly cellNs: number;
  // The tree by functions: a node's parent has a smaller index; -1: a root.
  readonly parent: Int32Array;
  readonly fn: Int32Array;
  readonly nodes: number;
  self: Float64Array;
  total: Float64Array;
  sum = 0;
  whole = 0; // of the run

  private readonly data: Data;
  private readonly ofSite: Int32Array; // the node of a function and line
  private readonly siteLine: Int32Array;
  private readonly siteParent: Int32Array;
  private siteSelf: Float64Array;
  private readonly first: Int32Array; // child of a node + 1
  private readonly next: Int32Array; // sibling
  private readonly sampleCell: Int32Array;
  private readonly sampleSite: Int32Array;
  private readonly sampleNs: Float64Array;
  private outermost: Uint8Array | undefined;
  private waits: {cell: Int32Array; kind: Int32Array; count: Float64Array; ns: Float64Array} | undefined;
  private classes: {item: Int32Array; node: Int32Array; waker: Int32Array; waking: Int32Array} | undefined;

  constructor(data: Data) {
    const meta = data.meta;
    this.data = data;
    this.facts = meta.facts;
    this.threads = meta.threads;
    // All time of no known thread is none, mostly.
    const last = this.threads[this.threads.length - 1];
    if (last && last.tid === 0 && last.pid === 0 && last.cpu_ns === 0)
      this.threads.pop();
    this.modules = meta.modules;
    this.names = meta.names;
    this.kinds = Uint8Array.from(meta['function.kind']);
    this.moduleOf = Int32Array.from(meta['function.module']);
    this.cells = meta.time.cells;
    this.cellNs = meta.time.cell_ns;
    const up = data.integers('node.parent');
    const siteFn = data.integers('node.function');
    this.siteLine = data.integers('node.line');
    this.sampleCell = data.integers('sample.cell');
    this.sampleSite = data.integers('sample.node');
    this.sampleNs = data.column('sample.ns');
    const count = up.length;
    this.siteParent = up;
    this.ofSite = new Int32Array(count);
    const parent = new Int32Array(count);
    const fn = new Int32Array(count);
    let size = 1024;
    while (size < count * 2)
      size *= 2;
    const table = new Int32Array(size); // node + 1
    let nodes = 0;
    for (let i = 0; i < count; i++) {
      const above = up[i] === 0 ? -1 : this.ofSite[i - up[i]!]!;
      up[i] = up[i] === 0 ? -1 : i - up[i]!;
      let slot = (Math.imul(above + 2, 0x9e3779b1) ^ Math.imul(siteFn[i]! + 1, 0x85ebca6b)) >>> 0;
      slot = (slot ^ slot >>> 15) & size - 1;
      while (table[slot] !== 0 && (parent[table[slot]! - 1] !== above || fn[table[slot]! - 1] !== siteFn[i]))
        slot = slot + 1 & size - 1;
      if (table[slot] === 0) {
        parent[nodes] = above;
        fn[nodes] = siteFn[i]!;
        table[slot] = ++nodes;
      }
      this.ofSite[i] = table[slot]! - 1;
    }
    this.nodes = nodes;
    this.parent = parent.subarray(0, nodes);
    this.fn = fn.subarray(0, nodes);
    this.first = new Int32Array(nodes + 1); // index 0: of all roots
    this.next = new Int32Array(nodes);
    for (let i = nodes - 1; i >= 0; i--) {
      this.next[i] = this.first[this.parent[i]! + 1]!;
      this.first[this.parent[i]! + 1] = i + 1;
    }
    this.self = new Float64Array(nodes);
    this.total = new Float64Array(nodes);
    this.siteSelf = new Float64Array(count);
    this.apply(this.all());
    this.whole = this.sum;
  }

  all(): Filter {
    return {from: 0, to: this.cells - 1, threads: new Uint8Array(this.threads.length).fill(1)};
  }

  isWhole(filter: Filter): boolean {
    return filter.from === 0 && filter.to === this.cells - 1;
  }

  // Time of no moment (in no sample, of no known thread) is in the whole run only.
  apply(filter: Filter): void {
    const {sampleCell, sampleSite, sampleNs, siteSelf, ofSite, self, total, parent} = this;
    const to = this.isWhole(filter) ? this.cells : filter.to;
    this.guessed = undefined;
    siteSelf.fill(0);
    self.fill(0);
    let at = 0;
    for (let t = 0; t < this.threads.length; t++) {
      const past = at + this.threads[t]!.samples;
      if (filter.threads[t]) {
        for (let i = at; i < past; i++) {
          if (sampleCell[i]! >= filter.from && sampleCell[i]! <= to)
            siteSelf[sampleSite[i]!]! += sampleNs[i]!;
        }
      }
      at = past;
    }
    for (let i = 0; i < siteSelf.length; i++)
      self[ofSite[i]!]! += siteSelf[i]!;
    total.set(self);
    this.sum = 0;
    for (let i = this.nodes - 1; i >= 0; i--) {
      if (parent[i]! >= 0)
        total[parent[i]!]! += total[i]!;
      else
        this.sum += total[i]!;
    }
  }

  // Guessed frames stand outside of the seam, [Guessed ...].
  private guesses(): Float64Array {
    if (this.guessed)
      return this.guessed;
    const guessed = this.guessed = new Float64Array(this.nodes);
    for (let i = this.nodes - 1; i >= 0; i--) {
      if (this.parent[i]! >= 0)
        guessed[this.parent[i]!]! += this.kinds[this.fn[i]!] === KIND.GUESSED ? this.total[i]! : guessed[i]!;
    }
    return guessed;
  }
  private guessed: Float64Array | undefined;

  // CPU time of each thread by cell, for the timeline.
  load(thread: number): Float64Array {
    const load = new Float64Array(this.cells);
    let at = 0;
    for (let t = 0; t < thread; t++)
      at += this.threads[t]!.samples;
    for (let i = at; i < at + this.threads[thread]!.samples; i++) {
      if (this.sampleCell[i]! < this.cells)
        load[this.sampleCell[i]!]! += this.sampleNs[i]!;
    }
    return load;
  }

  cpuOfThreads(filter: Filter): Float64Array {
    const sums = new Float64Array(this.threads.length);
    const to = this.isWhole(filter) ? this.cells : filter.to;
    let at = 0;
    for (let t = 0; t < sums.length; t++) {
      for (const past = at + this.threads[t]!.samples; at < past; at++) {
        if (this.sampleCell[at]! >= filter.from && this.sampleCell[at]! <= to)
          sums[t]! += this.sampleNs[at]!;
      }
    }
    return sums;
  }

  // Whether no caller of a node is the same function.
  private outermosts(): Uint8Array {
    if (this.outermost)
      return this.outermost;
    const marks = new Uint8Array(this.nodes);
    const open = new Int32Array(this.names.length);
    let at = this.first[0]! - 1;
    while (at >= 0) {
      marks[at] = open[this.fn[at]!]!++ === 0 ? 1 : 0;
      if (this.first[at + 1]) {
        at = this.first[at + 1]! - 1;
        continue;
      }
      for (; at >= 0; at = this.parent[at]!) {
        open[this.fn[at]!]!--;
        if (this.next[at]) {
          at = this.next[at]! - 1;
          break;
        }
      }
    }
    this.outermost = marks;
    return marks;
  }

  // Each function's own time, and that below it, recursion once.
  functions(): {self: Float64Array; total: Float64Array} {
    const marks = this.outermosts();
    const self = new Float64Array(this.names.length);
    const total = new Float64Array(this.names.length);
    for (let i = 0; i < this.nodes; i++) {
      self[this.fn[i]!]! += this.self[i]!;
      if (marks[i])
        total[this.fn[i]!]! += this.total[i]!;
    }
    return {self, total};
  }

  down(): View {
    const node = (at: number): View => {
      let children: View[] | undefined;
      return {
        fn: at < 0 ? -1 : this.fn[at]!,
        total: at < 0 ? this.sum : this.total[at]!,
        self: at < 0 ? 0 : this.self[at]!,
        guessed: at < 0 ? 0 : this.guesses()[at]!,
        children: () => {
          if (!children) {
            const ids: number[] = [];
            for (let child = this.first[at + 1]!; child; child = this.next[child - 1]!) {
              if (this.total[child - 1]! > 0)
                ids.push(child - 1);
            }
            ids.sort((a, b) => this.total[b]! - this.total[a]! || a - b);
            children = ids.map(node);
          }
          return children;
        },
      };
    };
    return node(-1);
  }

  // Callers of the time that functions used themselves.
  up(): View {
    const make = (fn: number, ids: number[], weights: number[], total: number, self: number): View => {
      let children: View[] | undefined;
      return {
        fn, total, self, guessed: 0,
        children: () => {
          if (children)
            return children;
          const groups = new Map<number, {ids: number[]; weights: number[]; total: number}>();
          for (let i = 0; i < ids.length; i++) {
            const above = fn < 0 ? ids[i]! : this.parent[ids[i]!]!;
            if (above < 0)
              continue;
            let group = groups.get(this.fn[above]!);
            if (!group)
              groups.set(this.fn[above]!, group = {ids: [], weights: [], total: 0});
            group.ids.push(above);
            group.weights.push(weights[i]!);
            group.total += weights[i]!;
          }
          children = [...groups].map(([f, g]) => make(f, g.ids, g.weights, g.total, fn < 0 ? g.total : 0));
          children.sort((a, b) => b.total - a.total || a.fn - b.fn);
          return children;
        },
      };
    };
    const ids: number[] = [];
    const weights: number[] = [];
    for (let i = 0; i < this.nodes; i++) {
      if (this.self[i]! > 0) {
        ids.push(i);
        weights.push(this.self[i]!);
      }
    }
    return make(-1, ids, weights, this.sum, 0);
  }

  // What calls a function, and what it calls: time of each, recursion once.
  neighbours(f: number): {callers: Map<number, number>; callees: Map<number, number>} {
    const marks = this.outermosts();
    const callers = new Map<number, number>();
    const callees = new Map<number, number>();
    const add = (map: Map<number, number>, fn: number, ns: number) => map.set(fn, (map.get(fn) ?? 0) + ns);
    for (let i = 0; i < this.nodes; i++) {
      const ns = this.total[i]!;
      const above = this.parent[i]!;
      if (ns === 0)
        continue;
      if (this.fn[i] === f && marks[i])
        add(callers, above < 0 ? -1 : this.fn[above]!, ns);
      if (above >= 0 && this.fn[above] === f && (marks[above] || !this.hasCall(above, f, this.fn[i]!)))
        add(callees, this.fn[i]!, ns);
    }
    return {callers, callees};
  }

  // Whether a call of that kind is among the callers of a node.
  private hasCall(node: number, caller: number, callee: number): boolean {
    for (let at = node; this.parent[at]! >= 0; at = this.parent[at]!) {
      if (this.fn[at] === callee && this.fn[this.parent[at]!] === caller)
        return true;
    }
    return false;
  }

  // Share of the time with a function that matches anywhere in its stack.
  matching(marks: Uint8Array): number {
    const inside = new Uint8Array(this.nodes);
    let sum = 0;
    for (let i = 0; i < this.nodes; i++) {
      const above = this.parent[i]!;
      inside[i] = marks[this.fn[i]!]! || (above >= 0 ? inside[above]! : 0);
      if (inside[i])
        sum += this.self[i]!;
    }
    return this.sum > 0 ? sum / this.sum : 0;
  }

  file(fn: number): string {
    return this.data.meta.files[this.data.meta['function.file'][fn]!] ?? '';
  }

  // Own time and that below by line of a function.
  lines(fn: number): {line: number; self: number; total: number}[] {
    const total = Float64Array.from(this.siteSelf);
    for (let i = total.length - 1; i >= 0; i--) {
      if (this.siteParent[i]! >= 0)
        total[this.siteParent[i]!]! += total[i]!;
    }
    const marks = this.outermosts();
    const rows = new Map<number, {line: number; self: number; total: number}>();
    for (let i = 0; i < total.length; i++) {
      const node = this.ofSite[i]!;
      if (this.fn[node] !== fn || total[i] === 0)
        continue;
      const line = this.siteLine[i]!;
      let row = rows.get(line);
      if (!row)
        rows.set(line, row = {line, self: 0, total: 0});
      row.self += this.siteSelf[i]!;
      if (marks[node])
        row.total += total[i]!;
    }
    return [...rows.values()].sort((a, b) => a.line - b.line);
  }

  // Shares of a thread's states by run of cells.
  states(thread: number): {cells: Int32Array; shares: Int32Array} | undefined {
    if (this.threads[thread]!.runs === undefined)
      return undefined;
    let at = 0;
    for (let t = 0; t < thread; t++)
      at += this.threads[t]!.runs ?? 0;
    this.stateCells ??= this.data.integers('state.cells');
    this.stateShares ??= this.data.integers('state.shares');
    const past = at + this.threads[thread]!.runs!;
    return {cells: this.stateCells.subarray(at, past), shares: this.stateShares.subarray(at, past)};
  }
  private stateCells: Int32Array | undefined;
  private stateShares: Int32Array | undefined;

  hasWaits(): boolean {
    return this.threads.some(thread => (thread.waits ?? 0) > 0);
  }

  // Waits that began in the filter's time.
  waitRows(filter: Filter): WaitRow[] {
    const data = this.data;
    this.waits ??= {cell: data.integers('wait.cell'), kind: data.integers('wait.class'),
      count: data.column('wait.count'), ns: data.column('wait.ns')};
    const classes = this.waitClasses();
    const rows = new Map<number, WaitRow>();
    let at = 0;
    for (let t = 0; t < this.threads.length; t++) {
      for (const past = at + (this.threads[t]!.waits ?? 0); at < past; at++) {
        const cell = this.waits.cell[at]!;
        if (!filter.threads[t] || cell < filter.from || cell > filter.to)
          continue;
        const kind = this.waits.kind[at]!;
        const item = classes.item[kind]!;
        let row = rows.get(item);
        if (!row) {
          // A name may have line feeds of its own.
          const text = data.meta.waits[item]!;
          const [type, name] = [text.slice(0, text.indexOf('\n')), text.slice(text.indexOf('\n') + 1)];
          rows.set(item, row = {item, type, name, count: 0, ns: 0, stacks: new Map()});
        }
        row.count += this.waits.count[at]!;
        row.ns += this.waits.ns[at]!;
        const stack = row.stacks.get(kind) ?? {count: 0, ns: 0};
        stack.count += this.waits.count[at]!;
        stack.ns += this.waits.ns[at]!;
        row.stacks.set(kind, stack);
      }
    }
    return [...rows.values()].sort((a, b) => b.ns - a.ns);
  }

  private waitClasses() {
    const data = this.data;
    return this.classes ??= {item: data.integers('class.item'), node: data.integers('class.node'),
      waker: data.integers('class.waker'), waking: data.integers('class.waking')};
  }

  // Of a class: its stack and its waker's, leaf first, and the waking thread.
  waitStacks(kind: number): {stack: number[]; waking: number[]; waker: Thread | undefined} {
    const classes = this.waitClasses();
    return {stack: this.path(classes.node[kind]! - 1), waking: this.path(classes.waking[kind]! - 1),
      waker: this.threads[classes.waker[kind]! - 1]};
  }

  private path(site: number): number[] {
    const functions: number[] = [];
    for (let at = site < 0 ? -1 : this.ofSite[site]!; at >= 0; at = this.parent[at]!)
      functions.push(this.fn[at]!);
    return functions;
  }

  // Elapsed time by number of running threads; empty where it is not known.
  levels(filter: Filter): number[] {
    const {cell, running, ns} = this.levelColumns();
    const times: number[] = [];
    for (let i = 0; i < cell.length; i++) {
      if (cell[i]! >= filter.from && cell[i]! <= filter.to) {
        while (times.length <= running[i]!)
          times.push(0);
        times[running[i]!]! += ns[i]!;
      }
    }
    return times;
  }

  private levelColumns() {
    return this.levelData ??= {cell: this.data.integers('level.cell'), running: this.data.integers('level.running'),
      ns: this.data.column('level.ns')};
  }
  private levelData: {cell: Int32Array; running: Int32Array; ns: Float64Array} | undefined;
}
