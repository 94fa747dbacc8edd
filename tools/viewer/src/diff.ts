// Two sides of results in memory: their stacks as one tree, with the times of both.
import type {Data, Diff, DiffRow, Functions} from './data.ts';
import {CallTree} from './tree.ts';

export type Side = 'base' | 'new';

// Errors beyond which the time of a node is drawn as changed: a hint for the eye, no verdict.
const ERRORS = 2;
// Samples of one side alone that are more than chance likewise: 2^-8.
const ALONE = 8;

interface Sums { total: Float64Array; squares: Float64Array; runs: number }

function functionsOf(data: Data): Functions {
  const meta = data.meta;
  const none = meta.names.map(() => 0);
  return {names: meta.names, 'function.kind': none, 'function.file': none, 'function.module': meta['function.module'], files: [''],
    modules: (meta.modules as unknown as string[]).map(name => ({name, path: name, system: false}))};
}

function parents(data: Data): Int32Array {
  const parent = data.integers('node.parent');
  for (let i = 0; i < parent.length; i++)
    parent[i] = parent[i] === 0 ? -1 : i - parent[i]!;
  return parent;
}

export class DiffModel extends CallTree {
  readonly diff: Diff;
  readonly rows: DiffRow[]; // without the total
  readonly whole: DiffRow;
  readonly verdicts: string[]; // by function
  side: Side = 'new';
  private readonly own: Record<Side, Float64Array>;
  private readonly sides: Record<Side, Sums>;
  private readonly logFactor: number;

  constructor(data: Data) {
    super(functionsOf(data), parents(data), data.integers('node.function'), new Int32Array(0));
    this.diff = data.meta.diff!;
    this.whole = this.diff.rows[0]!;
    this.rows = this.diff.rows.slice(1);
    this.logFactor = Math.log((this.diff.factor ?? 1e6) / 1e6);
    this.own = {base: data.column('base.ns'), new: data.column('new.ns')};
    this.sides = {base: this.addSide('base', data.column('base.weight'), this.diff.base.length),
      new: this.addSide('new', data.column('new.weight'), this.diff.new.length)};
    const verdicts = new Map(this.rows.map(row => [`${row.module}\n${row.function_full}`, row.verdict]));
    this.verdicts = data.meta.full!.map((full, fn) => verdicts.get(`${this.modules[this.moduleOf[fn]!]!.name}\n${full}`) ?? '');
    this.use('new');
  }

  private addSide(side: Side, weight: Float64Array, runs: number): Sums {
    const total = this.own[side].slice();
    const squares = weight.map((ns, node) => ns * total[node]!);
    for (let i = total.length - 1; i >= 0; i--) {
      if (this.parent[i]! >= 0) {
        total[this.parent[i]!]! += total[i]!;
        squares[this.parent[i]!]! += squares[i]!;
      }
    }
    return {total, squares, runs};
  }

  // The side whose times are the widths.
  use(side: Side): void {
    const {runs} = this.sides[side];
    this.side = side;
    this.self.set(this.own[side].map(ns => ns / runs));
    this.addUp();
  }

  // Mean of a side's runs; node -1: of all.
  time(node: number, side: Side): number {
    if (node < 0)
      return 1e9 * (side === 'base' ? this.whole.base_cpu_time_s : this.whole.cpu_time_s);
    return this.sides[side].total[node]! / this.sides[side].runs;
  }

  // Logarithm of new over base beyond the common factor, with its standard error by the numbers of samples; infinite on one side alone.
  change(node: number): {change: number; isKnown: boolean} {
    const samples = (side: Side) => {
      const {total, squares} = this.sides[side];
      return squares[node]! > 0 ? total[node]! ** 2 / squares[node]! : 0;
    };
    const [base, own] = [samples('base'), samples('new')];
    const change = Math.log(this.time(node, 'new') / this.time(node, 'base')) - this.logFactor;
    if (base === 0 || own === 0)
      return {change, isKnown: base + own >= ALONE};
    return {change, isKnown: Math.abs(change) > ERRORS * Math.sqrt(1 / base + 1 / own)};
  }
}
