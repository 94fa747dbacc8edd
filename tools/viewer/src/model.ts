// The result in memory: stacks as a tree of functions, and sums of what the filter leaves.
import type {Data, Facts, Thread} from './data.ts';
import {CallTree} from './tree.ts';

export interface Filter {
  from: number; // cells, both inside; all of the run: 0 to the last one
  to: number;
  threads: Uint8Array; // by thread
}

export interface WaitRow {
  item: number;
  type: string;
  name: string;
  count: number;
  ns: number;
  stacks: Map<number, {count: number; ns: number}>; // by class
}

export class Model extends CallTree {
  readonly facts: Facts;
  readonly threads: Thread[];
  readonly cells: number;
  readonly cellNs: number;
  whole = 0; // of the run
  private filter: Filter;

  private readonly data: Data;
  private readonly ofSite: Int32Array | undefined; // the node of a function and line; undefined: there are no others
  private readonly sampleCell: Int32Array;
  private readonly sampleSite: Int32Array;
  private readonly sampleNs: Float64Array;
  private waits: {cell: Int32Array; kind: Int32Array; count: Float64Array; ns: Float64Array} | undefined;
  private classes: {item: Int32Array; node: Int32Array; waker: Int32Array; waking: Int32Array} | undefined;

  constructor(data: Data) {
    const meta = data.meta;
    const count = data.count('node.parent');
    const [up, siteFn, same] = [data.numbers('node.parent'), data.numbers('node.function'), data.numbers('node.same')];
    const ofSite = meta.calls < count ? new Int32Array(count) : undefined;
    const parent = new Int32Array(meta.calls);
    const fn = new Int32Array(meta.calls);
    let nodes = 0;
    for (let i = 0; i < count; i++) {
      const distance = up();
      const f = siteFn();
      if (!ofSite) {
        parent[i] = distance === 0 ? -1 : i - distance;
        fn[i] = f;
        continue;
      }
      const before = same();
      if (before === 0) {
        parent[nodes] = distance === 0 ? -1 : ofSite[i - distance]!;
        fn[nodes] = f;
        ofSite[i] = nodes++;
      } else {
        ofSite[i] = nodes - before;
      }
    }
    super(meta, parent, fn, data.integers('node.inner'));
    this.data = data;
    this.ofSite = ofSite;
    this.sampleCell = data.integers('sample.cell');
    this.sampleSite = data.integers('sample.node');
    this.sampleNs = data.column('sample.ns');
    this.facts = meta.facts;
    this.threads = meta.threads;
    // All time of no known thread is none, mostly.
    const last = this.threads[this.threads.length - 1];
    if (last && last.tid === 0 && last.pid === 0 && last.cpu_ns === 0)
      this.threads.pop();
    this.cells = meta.time.cells;
    this.cellNs = meta.time.cell_ns;
    this.filter = this.all();
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
    this.filter = filter;
    this.self.fill(0);
    this.addSamples(this.self, this.ofSite);
    this.addUp();
  }

  // Adds what the filter leaves to its sites, or to their nodes.
  private addSamples(sums: Float64Array, ofSite: Int32Array | undefined): void {
    const {filter, sampleCell, sampleSite, sampleNs} = this;
    const to = this.isWhole(filter) ? this.cells : filter.to;
    let at = 0;
    for (let t = 0; t < this.threads.length; t++) {
      const past = at + this.threads[t]!.samples;
      for (; at < past && filter.threads[t]; at++) {
        const site = sampleSite[at]!;
        if (sampleCell[at]! >= filter.from && sampleCell[at]! <= to)
          sums[ofSite ? ofSite[site]! : site]! += sampleNs[at]!;
      }
      at = past;
    }
  }

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

  // What calls a function, and what it calls: time of each, recursion once.
  neighbours(f: number): {callers: Map<number, number>; callees: Map<number, number>} {
    const marks = this.inner;
    const callers = new Map<number, number>();
    const callees = new Map<number, number>();
    const add = (map: Map<number, number>, fn: number, ns: number) => map.set(fn, (map.get(fn) ?? 0) + ns);
    for (const node of this.nodesOf(f)) {
      const above = this.parent[node]!;
      if (this.total[node]! > 0 && !marks[node])
        add(callers, above < 0 ? -1 : this.fn[above]!, this.total[node]!);
      for (const callee of this.callees(node)) {
        if (!marks[node] || !this.hasCall(node, f, this.fn[callee]!))
          add(callees, this.fn[callee]!, this.total[callee]!);
      }
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

  // Text of the lines of a file, as far as the page has it; undefined: it has none of the file.
  source(file: string): {lines: Map<number, string>; isChanged: boolean} | undefined {
    const sources = this.data.meta.sources.filter(source => source.file === file);
    const lines = new Map<number, string>();
    for (const source of sources)
      source.text.split('\n').slice(0, -1).forEach((line, i) => lines.set(source.first + i, line));
    return sources.length > 0 ? {lines, isChanged: sources.some(source => source.is_changed)} : undefined;
  }

  // Own time and that below by line of a function.
  lines(fn: number): {line: number; self: number; total: number}[] {
    const {line, self, total} = this.bySite();
    const {ofSite} = this;
    const rows = new Map<number, {line: number; self: number; total: number}>();
    const add = (site: number, node: number) => {
      if (this.fn[node] !== fn || total[site] === 0)
        return;
      let row = rows.get(line[site]!);
      if (!row)
        rows.set(line[site]!, row = {line: line[site]!, self: 0, total: 0});
      row.self += self[site]!;
      row.total += this.inner[node] && this.isRepeated(site, line) ? 0 : total[site]!;
    };
    if (ofSite)
      ofSite.forEach((node, site) => add(site, node));
    else
      this.nodesOf(fn).forEach(node => add(node, node));
    return [...rows.values()].sort((a, b) => a.line - b.line);
  }

  // Whether a caller is the same function at the same line: a stack counts once.
  private isRepeated(site: number, line: Int32Array): boolean {
    const {ofSite, siteUp, parent} = this;
    const above = (at: number) => !ofSite ? parent[at]! : siteUp![at] === 0 ? -1 : at - siteUp![at]!;
    const functionOf = (at: number) => this.fn[ofSite ? ofSite[at]! : at];
    let at = above(site);
    while (at >= 0 && (line[at] !== line[site] || functionOf(at) !== functionOf(site)))
      at = above(at);
    return at >= 0;
  }

  private bySite(): {line: Int32Array; self: Float64Array; total: Float64Array} {
    const line = this.siteLine ??= this.data.integers('node.line');
    if (!this.ofSite)
      return {line, self: this.self, total: this.total};
    const up = this.siteUp ??= this.data.integers('node.parent');
    const {self, total} = this.siteSums ??= {self: new Float64Array(up.length), total: new Float64Array(up.length)};
    self.fill(0);
    this.addSamples(self, undefined);
    total.set(self);
    for (let i = total.length - 1; i >= 0; i--) {
      if (up[i]! > 0)
        total[i - up[i]!]! += total[i]!;
    }
    return {line, self, total};
  }
  private siteLine: Int32Array | undefined;
  private siteUp: Int32Array | undefined;
  private siteSums: {self: Float64Array; total: Float64Array} | undefined;

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
    for (let at = site < 0 || !this.ofSite ? site : this.ofSite[site]!; at >= 0; at = this.parent[at]!)
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
