// The page of differences: the table of functions, and the stacks of both sides.
import {Colours} from './colour.ts';
import type {DiffRow} from './data.ts';
import type {DiffModel, Side} from './diff.ts';
import {css, el, makeHeader, seconds, shown} from './dom.ts';
import {Flame} from './flame.ts';
import {Search} from './search.ts';
import {type Column, flatTable, treeTable} from './tables.ts';
import {Tabs} from './tabs.ts';
import {down, type View} from './views.ts';

const RED = 4;
const BLUE = 212;
const STRONG = Math.log(1.5); // the change from which colours are full
const MARKS: Record<string, string> = {slower: '▲', faster: '▼', new: '+', gone: '−'};

function signed(number: number, digits: number): string {
  return (number < 0 ? '−' : '+') + Math.abs(number).toFixed(digits);
}

function percentOf(change: number | null): string {
  return change === null ? '–' : signed(100 * change, 1) + ' %';
}

// Of the theme: lightness of small and of large changes.
function shadesOf(): {saturation: string; weak: number; strong: number} {
  return {saturation: css('--diff-s'), weak: parseFloat(css('--diff-weak')), strong: parseFloat(css('--diff-strong'))};
}

export class DiffPage {
  private readonly colours: Colours;
  private readonly flame: Flame;
  private readonly search: Search;
  private readonly tabs: Tabs;
  private shades = shadesOf();

  constructor(readonly model: DiffModel, private readonly version: string) {
    this.colours = new Colours(model);
    this.flame = new Flame(model, this.colours, () => this.tabs.show('Functions'),
      {colour: view => this.colour(view), mark: view => MARKS[model.verdicts[view.fn]!] ?? '', facts: view => this.facts(view)});
    this.search = new Search(model.names, () => this.draw());
    this.tabs = new Tabs([['Functions', () => this.functions()], ['Flame Graph', () => this.flamePanel()], ['Call Tree', () => this.tree()]], () => {
      if (this.tabs.current === 'Flame Graph')
        this.flame.update({inverted: false, colouring: 'module', marks: this.search.marks});
    });
  }

  title(): string {
    const {diff} = this.model;
    return shown(`diff ${diff.base.join(' ')} → ${diff.new.join(' ')}`);
  }

  build(): HTMLElement[] {
    const {whole} = this.model;
    const headline = [el('b', {}, seconds(1e9 * whole.cpu_time_s)), ` CPU time, base ${seconds(1e9 * whole.base_cpu_time_s)}`,
      whole.base_cpu_time_s > 0 ? `, ${percentOf(whole.cpu_time_s / whole.base_cpu_time_s - 1)}` : ''];
    return [makeHeader(this.title(), headline, theme => this.setTheme(theme)),
      el('main', {}, el('div', {class: 'tools', role: 'search'}, el('label', {}, 'Find', this.search.input), this.search.share),
        this.tabs.list, this.tabs.panel)];
  }

  setTheme(theme: string): void {
    document.documentElement.dataset['theme'] = theme;
    this.colours.renew();
    this.shades = shadesOf();
    this.draw();
  }

  draw(): void {
    this.search.tell(marks => this.model.matching(marks));
    this.tabs.refresh();
  }

  private head(): string {
    const {diff} = this.model;
    const runs = diff.base.length + diff.new.length > 2 ? ` Times are means of ${diff.base.length} and ${diff.new.length} runs.` : '';
    const isSingle = diff.base.length < 2 || diff.new.length < 2;
    return (diff.factor === undefined ? (isSingle ? 'Too few rows have enough samples to tell a slower machine from a slower program.' : '')
      : `Rows of one speed took ${percentOf(diff.factor / 1e6 - 1)}: changes are beyond that.`) + runs;
  }

  private functions(): Node[] {
    const {model} = this;
    const isMatch = (row: DiffRow) => !!this.search.marks && new RegExp(this.search.input.value, 'i').test(row.function);
    const columns: Column<DiffRow>[] = [
      // Narrow screens have room for the function's name beside time, change and verdict.
      {title: 'Base CPU Time', number: true, className: 'num wide', key: row => row.base_cpu_time_s, show: row => seconds(1e9 * row.base_cpu_time_s)},
      {title: 'CPU Time', number: true, key: row => row.cpu_time_s, show: row => seconds(1e9 * row.cpu_time_s)},
      {title: 'Difference', number: true, className: 'num wide', key: row => row.difference_s, show: row => signed(row.difference_s, 3) + ' s'},
      {title: 'Change', number: true, key: row => row.change ?? 0, show: row => percentOf(row.change)},
      {title: 'Std Error', number: true, className: 'num wide', key: row => row.change_std_error ?? 0,
        show: row => row.change_std_error === null ? '–' : row.change_std_error.toFixed(1)},
      {title: 'Verdict', key: row => row.verdict, show: row => el('span', {class: 'verdict ' + row.verdict},
        row.verdict ? `${MARKS[row.verdict] ?? ''} ${row.verdict}` : '')},
      {title: 'Function', className: 'name', key: row => row.function, show: row => el('span', {title: shown(row.function_full)}, shown(row.function))},
      {title: 'Module', key: row => row.module, show: row => shown(row.module)},
      {title: 'Samples', number: true, className: 'num wide', key: row => row.base_samples + row.samples, show: row => `${row.base_samples}, ${row.samples}`},
    ];
    const found = model.rows.filter(row => row.verdict).length;
    return [el('p', {}, this.head()),
      el('p', {}, found > 0 ? `${found} ${found === 1 ? 'function differs' : 'functions differ'} by more than chance: those with a verdict.`
        : 'No function differs by more than chance.'),
      flatTable('Functions by what differs', columns, model.rows, undefined, isMatch), el('p', {class: 'dim'}, `tbreport ${this.version}`)];
  }

  // Grey where the numbers of samples do not tell.
  private colour(view: View): string {
    const {change, isKnown} = this.model.change(view.node);
    if (!isKnown)
      return this.colours.plain;
    const {saturation, weak, strong} = this.shades;
    const part = Math.min(1, Math.abs(change) / STRONG);
    return `hsl(${change > 0 ? RED : BLUE} ${saturation} ${weak + part * (strong - weak)}%)`;
  }

  // Of a node with all that it calls.
  private facts(view: View): string {
    const {model} = this;
    const [base, own] = [model.time(view.node, 'base'), model.time(view.node, 'new')];
    const parts = [`${seconds(own)}, base ${seconds(base)}, ${signed((own - base) / 1e9, 3)} s`];
    if (view.node < 0)
      return parts[0]!;
    const {change, isKnown} = model.change(view.node);
    parts.push(!isKnown ? 'no more than samples differ by chance' : Number.isFinite(change) ? `${percentOf(Math.expm1(change))} beyond most`
      : change > 0 ? 'not in the base' : 'in the base alone');
    const verdict = model.verdicts[view.fn];
    if (verdict)
      parts.push(`the function's own time: ${verdict}`);
    return parts.join(' · ');
  }

  private sides(what: string): HTMLElement[] {
    return (['new', 'base'] as Side[]).map(side => el('button', {'aria-pressed': String(this.model.side === side), click: () => {
      this.model.use(side);
      this.tabs.refresh();
    }}, side === 'new' ? `${what} new time` : `${what} base time`));
  }

  private flamePanel(): Node[] {
    const swatch = (colour: string, text: string) => {
      const box = el('i');
      box.style.background = colour;
      return el('span', {}, box, text);
    };
    const full = (hue: number) => `hsl(${hue} ${this.shades.saturation} ${this.shades.strong}%)`;
    return [el('div', {class: 'tools'}, ...this.sides('Widths by'), el('button', {click: () => this.flame.zoomOut()}, 'Zoom out')), this.flame.element,
      el('div', {class: 'legend'}, swatch(full(RED), 'More time, with all that it calls'), swatch(full(BLUE), 'Less'),
        swatch(this.colours.plain, 'No more than samples differ by chance'),
        el('span', {}, 'Framed: the function’s own time differs by more than chance, ▲ slower, ▼ faster, + new, − gone.'))];
  }

  private tree(): Node[] {
    const {model} = this;
    return [el('div', {class: 'tools'}, ...this.sides('Order by')), treeTable({caption: 'Call tree of both sides', model, root: down(model), columns: [
      {title: 'Base', show: view => seconds(model.time(view.node, 'base'))}, {title: 'New', show: view => seconds(model.time(view.node, 'new'))},
      {title: 'Difference', show: view => signed((model.time(view.node, 'new') - model.time(view.node, 'base')) / 1e9, 3) + ' s'},
    ], marks: this.search.marks, open: () => undefined})];
  }
}
