// Functions that call one another as a tree, and the time in it.
import type {Functions, Module} from './data.ts';

export const KIND = {CODE: 0, UNKNOWN: 1, SKIPPED: 2, GUESSED: 3, KERNEL: 4, NO_SAMPLE: 5, NO_THREAD: 6, INLINED: 10};

export class CallTree {
  readonly modules: Module[];
  readonly names: string[];
  readonly kinds: Uint8Array;
  readonly moduleOf: Int32Array;
  readonly nodes: number;
  readonly self: Float64Array; // by node
  readonly total: Float64Array;
  sum = 0;
  protected readonly inner: Uint8Array; // whether a caller of the node is the same function
  private readonly files: string[];
  private readonly fileOf: number[];

  // A node's parent has a smaller index; -1: a root. inner: nodes that have a caller of the same function.
  constructor(functions: Functions, readonly parent: Int32Array, readonly fn: Int32Array, inner: Int32Array) {
    this.modules = functions.modules;
    this.names = functions.names;
    this.kinds = Uint8Array.from(functions['function.kind']);
    this.moduleOf = Int32Array.from(functions['function.module']);
    this.files = functions.files;
    this.fileOf = functions['function.file'];
    this.nodes = parent.length;
    this.inner = new Uint8Array(this.nodes);
    for (const node of inner)
      this.inner[node] = 1;
    this.self = new Float64Array(this.nodes);
    this.total = new Float64Array(this.nodes);
  }

  // After a change of self.
  protected addUp(): void {
    const {total, parent} = this;
    this.guessed = this.sums = undefined;
    total.set(this.self);
    this.sum = 0;
    for (let i = this.nodes - 1; i >= 0; i--) {
      if (parent[i]! >= 0)
        total[parent[i]!]! += total[i]!;
      else
        this.sum += total[i]!;
    }
  }

  file(fn: number): string {
    return this.files[this.fileOf[fn]!] ?? '';
  }

  // Guessed frames stand outside of the seam, [Guessed ...].
  guesses(): Float64Array {
    if (this.guessed)
      return this.guessed;
    const guessed = this.guessed = new Float64Array(this.nodes);
    if (this.kinds.indexOf(KIND.GUESSED) < 0)
      return guessed;
    for (let i = this.nodes - 1; i >= 0; i--) {
      if (this.parent[i]! >= 0)
        guessed[this.parent[i]!]! += this.kinds[this.fn[i]!] === KIND.GUESSED ? this.total[i]! : guessed[i]!;
    }
    return guessed;
  }
  private guessed: Float64Array | undefined;

  // first: child of a node + 1, at index 0 of all roots; next: sibling.
  private links(): {first: Int32Array; next: Int32Array} {
    if (this.linked)
      return this.linked;
    const first = new Int32Array(this.nodes + 1);
    const next = new Int32Array(this.nodes);
    for (let i = this.nodes - 1; i >= 0; i--) {
      next[i] = first[this.parent[i]! + 1]!;
      first[this.parent[i]! + 1] = i + 1;
    }
    return this.linked = {first, next};
  }
  private linked: {first: Int32Array; next: Int32Array} | undefined;

  // What views take time for once.
  prepare(): void {
    this.links();
    this.nodesOf(0);
  }

  // Whether a node has time below it.
  isLeaf(node: number): boolean {
    const {first, next} = this.links();
    let child = first[node + 1]!;
    while (child && this.total[child - 1] === 0)
      child = next[child - 1]!;
    return child === 0;
  }

  // Nodes with time that a node calls; -1: the roots.
  callees(node: number): Int32Array {
    const {first, next} = this.links();
    let count = 0;
    for (let child = first[node + 1]!; child; child = next[child - 1]!)
      count += this.total[child - 1]! > 0 ? 1 : 0;
    const nodes = new Int32Array(count);
    for (let child = first[node + 1]!, i = 0; child; child = next[child - 1]!) {
      if (this.total[child - 1]! > 0)
        nodes[i++] = child - 1;
    }
    return nodes;
  }

  // All nodes of a function.
  nodesOf(f: number): Int32Array {
    if (!this.byFunction) {
      const starts = new Int32Array(this.names.length + 1);
      const nodes = new Int32Array(this.nodes);
      for (let i = 0; i < this.nodes; i++)
        starts[this.fn[i]! + 1]!++;
      for (let i = 1; i < starts.length; i++)
        starts[i]! += starts[i - 1]!;
      const places = starts.slice();
      for (let i = 0; i < this.nodes; i++)
        nodes[places[this.fn[i]!]!++] = i;
      this.byFunction = {starts, nodes};
    }
    return this.byFunction.nodes.subarray(this.byFunction.starts[f], this.byFunction.starts[f + 1]);
  }
  private byFunction: {starts: Int32Array; nodes: Int32Array} | undefined;

  // Each function's own time, and that below it, recursion once.
  functions(): {self: Float64Array; total: Float64Array} {
    if (this.sums)
      return this.sums;
    const marks = this.inner;
    const self = new Float64Array(this.names.length);
    const total = new Float64Array(this.names.length);
    for (let i = 0; i < this.nodes; i++) {
      self[this.fn[i]!]! += this.self[i]!;
      if (!marks[i])
        total[this.fn[i]!]! += this.total[i]!;
    }
    return this.sums = {self, total};
  }
  private sums: {self: Float64Array; total: Float64Array} | undefined;

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
}
