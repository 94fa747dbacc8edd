// The tree as it is shown, down from the roots or up from the leaves. A view makes what is below it when that is looked at, and only those
// views that are wide enough or first in the order: results have a million nodes.
import type {CallTree} from './tree.ts';

export interface View {
  fn: number; // -1: all
  node: number; // of the tree, down from the roots; else -1
  total: number;
  self: number;
  guessed: number; // time of stacks in which it is no verified frame
  isLeaf(): boolean;
  children(): Children;
}

// What is directly below a view, in no order.
export class Children {
  constructor(readonly fns: Int32Array, readonly totals: Float64Array, private readonly make: (place: number) => View) {}

  get count(): number {
    return this.fns.length;
  }

  find(fn: number): View | undefined {
    const place = this.fns.indexOf(fn);
    return place < 0 ? undefined : this.make(place);
  }

  // Those of at least that time, the heaviest first.
  above(least: number): View[] {
    return this.places(least).map(place => this.make(place));
  }

  // From one place in the order to another, the heaviest first. Ties are in the order of their functions.
  slice(from: number, to: number): View[] {
    const least = to < this.count ? this.totals.slice().sort()[this.count - to]! : 0;
    return this.places(least).slice(from, to).map(place => this.make(place));
  }

  sumFrom(from: number): number {
    const sorted = this.totals.slice().sort();
    return sorted.subarray(0, Math.max(0, this.count - from)).reduce((sum, ns) => sum + ns, 0);
  }

  private places(least: number): number[] {
    const {fns, totals} = this;
    const places: number[] = [];
    for (let i = 0; i < totals.length; i++) {
      if (totals[i]! >= least)
        places.push(i);
    }
    return places.sort((a, b) => totals[b]! - totals[a]! || fns[a]! - fns[b]!);
  }
}

export function down(model: CallTree): View {
  const make = (node: number): View => {
    let children: Children | undefined;
    return {
      fn: node < 0 ? -1 : model.fn[node]!,
      node,
      total: node < 0 ? model.sum : model.total[node]!,
      self: node < 0 ? 0 : model.self[node]!,
      guessed: node < 0 ? 0 : model.guesses()[node]!,
      isLeaf: () => model.isLeaf(node),
      children: () => {
        if (!children) {
          const nodes = model.callees(node);
          children = new Children(nodes.map(child => model.fn[child]!), Float64Array.from(nodes, child => model.total[child]!),
            place => make(nodes[place]!));
        }
        return children;
      },
    };
  };
  return make(-1);
}

// The callers of nodes by function, each with its part of the nodes' weights.
function callersOf(model: CallTree, nodes: Int32Array, weights: Float64Array, slots: Int32Array): Children {
  const fns: number[] = [];
  const totals: number[] = [];
  const counts: number[] = [];
  for (let i = 0; i < nodes.length; i++) {
    const above = model.parent[nodes[i]!]!;
    if (above < 0)
      continue;
    const fn = model.fn[above]!;
    let slot = slots[fn]! - 1;
    if (slot < 0) {
      slot = fns.length;
      slots[fn] = slot + 1;
      fns.push(fn);
      totals.push(0);
      counts.push(0);
    }
    totals[slot]! += weights[i]!;
    counts[slot]!++;
  }
  const groups = counts.map(count => ({nodes: new Int32Array(count), weights: new Float64Array(count), used: 0}));
  for (let i = 0; i < nodes.length; i++) {
    const above = model.parent[nodes[i]!]!;
    if (above < 0)
      continue;
    const group = groups[slots[model.fn[above]!]! - 1]!;
    group.nodes[group.used] = above;
    group.weights[group.used++] = weights[i]!;
  }
  for (const fn of fns)
    slots[fn] = 0;
  return new Children(Int32Array.from(fns), Float64Array.from(totals), place =>
    caller(model, fns[place]!, totals[place]!, 0, groups[place]!, slots));
}

function caller(model: CallTree, fn: number, total: number, self: number, of: {nodes: Int32Array; weights: Float64Array}, slots: Int32Array): View {
  let children: Children | undefined;
  return {fn, node: -1, total, self, guessed: 0, isLeaf: () => of.nodes.every(node => model.parent[node]! < 0),
    children: () => children ??= callersOf(model, of.nodes, of.weights, slots)};
}

// Callers of the time that functions used themselves.
export function up(model: CallTree): View {
  const slots = new Int32Array(model.names.length); // place of a function in a group + 1; all zero outside of a call
  let children: Children | undefined;
  const leaf = (fn: number, self: number): View => {
    const nodes = model.nodesOf(fn).filter(node => model.self[node]! > 0);
    return caller(model, fn, self, self, {nodes, weights: Float64Array.from(nodes, node => model.self[node]!)}, slots);
  };
  return {
    fn: -1, node: -1, total: model.sum, self: 0, guessed: 0, isLeaf: () => model.sum === 0,
    children: () => {
      if (!children) {
        const {self} = model.functions();
        const fns = Int32Array.from(self.keys()).filter(fn => self[fn]! > 0);
        children = new Children(fns, Float64Array.from(fns, fn => self[fn]!), place => leaf(fns[place]!, self[fns[place]!]!));
      }
      return children;
    },
  };
}
