// The page: what is chosen, and the panels that show it.
import {utilization} from './charts.ts';
import {Colours, type Colouring} from './colour.ts';
import {load} from './data.ts';
import {DiffModel} from './diff.ts';
import {DiffPage} from './diff_page.ts';
import {bytes, el, makeHeader, percent, seconds, shown} from './dom.ts';
import {Flame} from './flame.ts';
import {type Filter, Model} from './model.ts';
import {Search} from './search.ts';
import {bar, type Column, flatTable, treeTable} from './tables.ts';
import {Tabs} from './tabs.ts';
import {Timeline} from './timeline.ts';
import {down, up, type View} from './views.ts';

const CONTEXT = 4; // lines around those with time

interface FunctionRow { fn: number; self: number; total: number }
interface LineRow { line: number; self: number; total: number; text: string }

class Page {
  private filter: Filter;
  private readonly colours: Colours;
  private readonly flame: Flame;
  private readonly timeline: Timeline | undefined;
  private readonly tabs: Tabs;
  private readonly range = el('span', {class: 'sum dim'});
  private readonly reset = el('button', {click: () => this.clear()}, 'Show all');
  private readonly search: Search;
  private readonly owner = el('select', {id: 'owner'});
  private readonly from = el('input', {type: 'number', id: 'from', min: 0, step: 'any'});
  private readonly to = el('input', {type: 'number', id: 'to', min: 0, step: 'any'});
  private colouring: Colouring = 'module';
  private inverted = false;
  private fn = -1; // of Callers and Source Lines

  constructor(readonly model: Model, private readonly version: string) {
    this.filter = model.all();
    this.colours = new Colours(model);
    this.flame = new Flame(model, this.colours, fn => this.show('Callers', fn));
    if (model.cellNs > 0)
      this.timeline = new Timeline(model, this.filter, (from, to) => this.setRange(from, to), thread => this.toggleThread(thread));
    this.search = new Search(model.names, () => this.refresh());
    this.tabs = new Tabs([
      ['Summary', () => this.summary()], ['Flame Graph', () => this.flamePanel()],
      ['Top-Down', () => this.tree('Top-down call tree', down(this.model), true)],
      ['Bottom-Up', () => this.tree('Functions by their own CPU time, with callers', up(this.model), false)],
      ['Callers', () => this.callers()], ['Source Lines', () => this.lines()], ['Threads', () => this.threads()],
      ['Utilization', () => utilization(this.model.levels(this.filter), this.model.facts.target, this.tabs.panel.clientWidth)],
      ['Waits', () => this.waits()],
    ], () => this.showFlame());
  }

  title(): string {
    return shown(this.model.facts.command);
  }

  build(): HTMLElement[] {
    const facts = this.model.facts;
    const header = makeHeader(shown(facts.command), [el('b', {}, this.amount(this.model.whole)), facts.is_counted ? '' : ' CPU time',
      facts.elapsed_ns ? ` in ${seconds(facts.elapsed_ns)}` : ''], theme => this.setTheme(theme));
    return [header, el('main', {}, ...(this.timeline ? [this.timeline.element, this.timelineLegend()] : []), this.tools(), this.tabs.list, this.tabs.panel)];
  }

  private amount(ns: number): string {
    return this.model.facts.is_counted ? `${Math.round(ns)} ${this.model.facts.event}` : seconds(ns);
  }

  private timelineLegend(): HTMLElement {
    const legend = el('div', {class: 'legend'});
    const states = this.model.threads.some(thread => thread.runs !== undefined);
    const names: [string, string][] = states ? [['Running', '--run'], ['Ready', '--ready'], ['Waiting', '--block'], ['Stopped', '--stop']]
      : [['CPU time of samples', '--run']];
    for (const [name, colour] of names) {
      const box = el('i');
      box.style.background = `var(${colour})`;
      legend.append(el('span', {}, box, name));
    }
    legend.append(el('span', {}, 'Drag over the rows to see a part of the run; a name shows its thread alone.'));
    return legend;
  }

  private tools(): HTMLElement {
    this.owner.append(el('option', {value: ''}, 'All threads'));
    const processes = new Map<string, number>();
    this.model.threads.forEach((thread, t) => processes.has(`${thread.pid} ${thread.process}`) || processes.set(`${thread.pid} ${thread.process}`, t));
    if (processes.size > 1) {
      const group = el('optgroup', {label: 'Processes'});
      for (const t of processes.values())
        group.append(el('option', {value: 'p' + t}, `${shown(this.model.threads[t]!.process)} (${this.model.threads[t]!.pid})`));
      this.owner.append(group);
    }
    const group = el('optgroup', {label: 'Threads'});
    this.model.threads.slice(0, 2000).forEach((thread, t) => group.append(el('option', {value: 't' + t}, `${shown(thread.name)} (${thread.tid})`)));
    this.owner.append(group);
    this.owner.addEventListener('change', () => this.chooseOwner(this.owner.value));
    const setTimes = () => {
      const cell = (input: HTMLInputElement, otherwise: number) =>
        input.value === '' ? otherwise : Math.max(0, Math.min(this.model.cells - 1, Math.floor(Number(input.value) * 1e9 / this.model.cellNs)));
      const [from, to] = [cell(this.from, 0), cell(this.to, this.model.cells - 1)];
      this.setRange(Math.min(from, to), Math.max(from, to));
    };
    this.from.addEventListener('change', setTimes);
    this.to.addEventListener('change', setTimes);
    return el('div', {class: 'tools', role: 'search'},
      el('label', {}, 'Find', this.search.input), this.search.share, el('label', {}, 'Of', this.owner),
      ...(this.timeline ? [el('span', {class: 'times'}, el('label', {}, 'From', this.from), el('label', {}, 'to', this.to, 's'))] : []),
      this.range, this.reset);
  }

  setTheme(theme: string): void {
    document.documentElement.dataset['theme'] = theme;
    this.colours.renew();
    this.draw();
  }

  private setRange(from: number, to: number): void {
    this.filter = {...this.filter, from, to};
    this.apply();
  }

  private toggleThread(thread: number): void {
    const alone = this.filter.threads.every((on, t) => !!on === (t === thread));
    this.filter = {...this.filter, threads: this.filter.threads.map((_, t) => alone || t === thread ? 1 : 0)};
    this.owner.value = alone ? '' : 't' + thread;
    this.apply();
  }

  private chooseOwner(value: string): void {
    const chosen = Number(value.slice(1));
    const same = (t: number) => this.model.threads[t]!.pid === this.model.threads[chosen]!.pid && this.model.threads[t]!.process === this.model.threads[chosen]!.process;
    this.filter = {...this.filter, threads: this.filter.threads.map((_, t) =>
      value === '' || (value[0] === 'p' ? same(t) : t === chosen) ? 1 : 0)};
    this.apply();
  }

  private clear(): void {
    this.filter = this.model.all();
    this.owner.value = this.from.value = this.to.value = '';
    this.search.clear();
    this.apply();
  }

  private apply(): void {
    this.model.apply(this.filter);
    this.refresh();
  }

  refresh(): void {
    const {model, filter} = this;
    const isAll = model.isWhole(filter) && filter.threads.every(Boolean);
    const at = (cell: number) => (cell * model.cellNs / 1e9).toFixed(3);
    if (this.timeline && !model.isWhole(filter)) {
      this.from.value = at(filter.from);
      this.to.value = at(filter.to + 1);
    } else {
      this.from.value = this.to.value = '';
    }
    this.search.tell(marks => model.matching(marks));
    this.range.textContent = isAll ? '' : `${this.amount(model.sum)}, ${percent(model.sum, model.whole)} of the run`;
    this.reset.hidden = isAll && !this.search.marks;
    this.timeline?.update(filter);
    this.tabs.refresh();
  }

  draw(): void {
    this.timeline?.draw();
    this.refresh();
  }

  show(tab: string, fn?: number): void {
    if (fn !== undefined)
      this.fn = fn;
    this.tabs.show(tab);
    if (fn !== undefined)
      this.tabs.panel.focus();
  }

  private showFlame(): void {
    if (this.tabs.current === 'Flame Graph')
      this.flame.update({inverted: this.inverted, colouring: this.colouring, marks: this.search.marks});
  }

  private name(fn: number): HTMLElement {
    return el('button', {click: () => this.show('Callers', fn), title: shown(this.model.names[fn]!)}, shown(this.model.names[fn]!));
  }

  // By their own time, the most first.
  private functionRows(): FunctionRow[] {
    const sums = this.model.functions();
    if (this.rows?.sums !== sums) {
      const rows = Array.from(sums.self, (ns, fn) => ({fn, self: ns, total: sums.total[fn]!})).filter(row => row.total > 0);
      this.rows = {sums, rows: rows.sort((a, b) => b.self - a.self)};
    }
    return this.rows.rows;
  }
  private rows: {sums: object; rows: FunctionRow[]} | undefined;

  private functionColumns(): Column<FunctionRow>[] {
    const {model} = this;
    return [
      {title: 'Self', number: true, key: row => row.self, show: row => seconds(row.self)},
      {title: 'Share', number: true, key: row => row.self, show: row => percent(row.self, model.sum)},
      {title: '', className: 'bar', key: row => row.self, show: row => bar(row.self, model.sum)},
      {title: 'Total', number: true, key: row => row.total, show: row => seconds(row.total)},
      {title: 'Function', className: 'name', key: row => model.names[row.fn]!, show: row => this.name(row.fn)},
      {title: 'Module', key: row => model.modules[model.moduleOf[row.fn]!]!.name, show: row => shown(model.modules[model.moduleOf[row.fn]!]!.name)},
    ];
  }

  private facts(rows: [string, unknown][]): HTMLElement {
    const list = el('dl');
    for (const [name, value] of rows) {
      if (value !== undefined && value !== '' && value !== null)
        list.append(el('dt', {}, name), el('dd', {}, shown(String(value))));
    }
    return list;
  }

  private summary(): Node[] {
    const {facts} = this.model;
    const number = (name: string) => facts[name] as number | undefined;
    const stacks = (name: string) => number(name) ? `${number(name)} (${percent(number(name)!, facts.samples)})` : undefined;
    const cost = number('cost_ns');
    const start = number('start_real_ns');
    const cards = el('div', {class: 'cards'},
      el('section', {}, el('h2', {}, 'Time'), this.facts([
        ['Elapsed', facts.elapsed_ns ? seconds(facts.elapsed_ns) : undefined],
        [facts.is_counted ? facts.event : 'CPU time', this.amount(facts.cpu_ns)],
        ['CPUs on average', facts.elapsed_ns && !facts.is_counted ? (facts.cpu_ns / facts.elapsed_ns).toFixed(2) : undefined],
        ['In no sample', number('rest_ns') ? seconds(number('rest_ns')!) : undefined],
        ['Threads', this.model.threads.length], ['Processes', number('processes')], ['Exit status', number('exit_status')]])),
      el('section', {}, el('h2', {}, 'Samples and stacks'), this.facts([
        ['Samples', facts.samples], ['Lost', number('lost')], ['Complete', stacks('complete')], ['Guessed', stacks('guessed')],
        ['Skipped', stacks('skipped')], ['Without stacks', stacks('without')], ['With recursion collapsed', stacks('collapsed')],
        ['Interval', number('interval_ns') ? `${number('interval_ns')! / 1e6} ms` : undefined], ['Sampling', facts['sampling']],
        ['Advice', facts['advice']]])),
      el('section', {}, el('h2', {}, 'Collection'), this.facts([
        ['Collector', facts['collector']], ['Analysis', facts['analysis']],
        ['Cost', cost === undefined ? undefined : `${seconds(cost)} CPU time (${percent(cost, facts.cpu_ns)} of the program's)`],
        ['Peak memory', number('cost_bytes') ? bytes(number('cost_bytes')!) : undefined],
        ['Data written', number('file_bytes') ? bytes(number('file_bytes')!) : undefined],
        ['Start', start ? new Date(start / 1e6).toISOString().replace(/\.\d+Z/, 'Z') : undefined],
        ['Host', facts['host']], ['System', facts['os']], ['Processor', facts['cpu']], ['Logical CPUs', number('cpus')]])));
    const warnings = facts.warnings.length > 0
      ? [el('ul', {class: 'warnings', 'aria-label': 'Warnings'}, ...facts.warnings.map(text => el('li', {}, shown(text))))] : [];
    return [...warnings, cards, el('h2', {}, 'Functions'),
      flatTable('Functions by their own CPU time', this.functionColumns(), this.functionRows(), 0, row => !!this.search.marks?.[row.fn]),
      el('p', {class: 'dim'}, `tbreport ${this.version}`)];
  }

  private flamePanel(): Node[] {
    const toggle = (label: string, pressed: boolean, act: () => void) =>
      el('button', {'aria-pressed': String(pressed), click: () => { act(); this.tabs.refresh(); }}, label);
    const legend = el('div', {class: 'legend'});
    for (const [name, colour] of this.colours.legend(this.colouring)) {
      const box = el('i');
      box.style.background = colour;
      legend.append(el('span', {}, box, shown(name)));
    }
    legend.append(el('span', {}, 'Hatched: guessed or skipped frames.'));
    return [el('div', {class: 'tools'},
      toggle('Icicle', !this.inverted, () => { this.inverted = false; }), toggle('Inverted', this.inverted, () => { this.inverted = true; }),
      toggle('By module', this.colouring === 'module', () => { this.colouring = 'module'; }),
      toggle('By source of code', this.colouring === 'source', () => { this.colouring = 'source'; }),
      el('button', {click: () => this.flame.zoomOut()}, 'Zoom out')), this.flame.element, legend];
  }

  private tree(caption: string, root: View, withSelf: boolean): Node {
    return treeTable({caption, model: this.model, root, columns: [
      {title: 'CPU Time', show: view => seconds(view.total)}, {title: 'Share', className: 'num wide', show: view => percent(view.total, this.model.sum)},
      ...(withSelf ? [{title: 'Self', show: (view: View) => seconds(view.self)}] : [])], marks: this.search.marks, open: fn => this.show('Callers', fn)});
  }

  // The chosen function, or else the one with most time of its own.
  private chosen(rows: FunctionRow[]): FunctionRow | undefined {
    return rows.find(row => row.fn === this.fn) ?? rows[0];
  }

  private picker(rows: FunctionRow[], row: FunctionRow): HTMLElement {
    const select = el('select', {id: 'function'});
    for (const other of rows.slice(0, 300))
      select.append(el('option', {value: other.fn}, shown(this.model.names[other.fn]!)));
    if (![...select.options].some(option => option.value === String(row.fn)))
      select.append(el('option', {value: row.fn}, shown(this.model.names[row.fn]!)));
    select.value = String(row.fn);
    select.addEventListener('change', () => { this.show(this.tabs.current, Number(select.value)); document.getElementById('function')?.focus(); });
    select.style.maxWidth = '100%';
    return el('div', {class: 'tools'}, el('label', {for: 'function'}, 'Function'), select,
      el('span', {class: 'dim'}, `self ${seconds(row.self)}, total ${seconds(row.total)}, ${percent(row.total, this.model.sum)}`));
  }

  private callers(): Node[] {
    const rows = this.functionRows();
    const row = this.chosen(rows);
    if (!row)
      return [el('p', {class: 'empty'}, 'Nothing in this part of the run.')];
    const {callers, callees} = this.model.neighbours(row.fn);
    const table = (title: string, map: Map<number, number>) => flatTable(title, [
      {title: 'CPU Time', number: true, key: entry => entry[1], show: entry => seconds(entry[1])},
      {title: 'Share', number: true, key: entry => entry[1], show: entry => percent(entry[1], row.total)},
      {title: '', className: 'bar', key: entry => entry[1], show: entry => bar(entry[1], row.total)},
      {title: title, className: 'name', key: entry => entry[0] < 0 ? '' : this.model.names[entry[0]]!,
        show: entry => entry[0] < 0 ? '(outermost)' : this.name(entry[0])},
    ] as Column<[number, number]>[], [...map], 0);
    return [this.picker(rows, row), el('h2', {}, 'Called by'), table('Callers', callers), el('h2', {}, 'Calls'),
      callees.size > 0 ? table('Callees', callees) : el('p', {class: 'dim'}, 'It calls nothing that was seen.')];
  }

  private lines(): Node[] {
    const rows = this.functionRows();
    const row = this.chosen(rows);
    if (!row)
      return [el('p', {class: 'empty'}, 'Nothing in this part of the run.')];
    const file = this.model.file(row.fn);
    const source = file ? this.model.source(file) : undefined;
    const lines = this.withText(this.model.lines(row.fn), source?.lines);
    const isKnown = lines.some(line => line.line > 0);
    // Narrow screens leave shares out: the source has to be seen.
    const time = (title: string, key: (line: LineRow) => number, whole?: number): Column<LineRow> => ({title, number: true, key,
      className: whole === undefined ? 'num' : 'num wide',
      show: line => line.self + line.total === 0 ? '' : whole === undefined ? seconds(key(line)) : percent(key(line), whole)});
    return [this.picker(rows, row), el('p', {class: 'mono'}, file ? shown(file) : '',
      source?.isChanged ? el('span', {class: 'bad'}, ' changed after the collection: lines may not be those that ran') : ''),
      isKnown ? flatTable('Lines of the function', [
        {title: 'Line', number: true, key: line => line.line, show: line => line.line > 0 ? String(line.line) : 'not known'},
        time('Self', line => line.self), time('Share', line => line.self, row.self),
        {title: '', className: 'bar', key: line => line.self, show: line => line.self + line.total === 0 ? '' : bar(line.self, row.self)},
        time('Total', line => line.total), time('Share of total', line => line.total, row.total),
        ...(source ? [{title: 'Source', className: 'source', key: (line: LineRow) => line.text, show: (line: LineRow) => line.text}] : []),
      ], lines, 0, undefined, true, 500) : el('p', {class: 'empty'}, 'No lines are known: the module has no debug information.'),
      ...(isKnown && !source ? [el('p', {class: 'dim'}, 'The page has the text of the 20 hottest functions whose source files were there when it was written.')] : [])];
  }

  // Lines with time among their neighbours, as far as the page has their text.
  private withText(lines: {line: number; self: number; total: number}[], text: Map<number, string> | undefined): LineRow[] {
    const rows = new Map(lines.map(line => [line.line, {...line, text: shown(text?.get(line.line) ?? '')}]));
    const known = lines.filter(line => line.line > 0);
    for (let line = (known[0]?.line ?? 1) - CONTEXT; text && known.length > 0 && line <= known[known.length - 1]!.line + CONTEXT; line++) {
      if (!rows.has(line) && text.has(line))
        rows.set(line, {line, self: 0, total: 0, text: shown(text.get(line)!)});
    }
    return [...rows.values()];
  }

  private threads(): Node {
    const {model} = this;
    const sums = model.cpuOfThreads(this.filter);
    const rows = model.threads.map((thread, t) => ({thread, t, ns: sums[t]!}));
    const state = (title: string, index: number): Column<typeof rows[0]> => ({title, number: true,
      key: row => row.thread.state_ns?.[index] ?? -1, show: row => row.thread.state_ns ? seconds(row.thread.state_ns[index]!) : '–'});
    const hasStates = model.threads.some(thread => thread.state_ns);
    return flatTable('Threads', [
      {title: 'CPU Time', number: true, key: row => row.ns, show: row => seconds(row.ns)},
      {title: 'Share', number: true, key: row => row.ns, show: row => percent(row.ns, sums.reduce((a, b) => a + b, 0))},
      {title: 'Thread', className: 'name', key: row => row.thread.name,
        show: row => el('button', {click: () => this.toggleThread(row.t)}, shown(row.thread.name) || '(no name)')},
      {title: 'TID', number: true, key: row => row.thread.tid, show: row => String(row.thread.tid)},
      {title: 'Process', key: row => row.thread.process, show: row => shown(row.thread.process)},
      {title: 'PID', number: true, key: row => row.thread.pid, show: row => String(row.thread.pid)},
      ...(hasStates ? [state('Running, whole run', 1), state('Ready', 2), state('Waiting', 3)] : []),
    ], rows, 0);
  }

  private waits(): Node[] {
    const {model} = this;
    if (!model.hasWaits())
      return [el('p', {class: 'empty'}, 'The result has no waits. tbcollect -c locks-and-waits records them.')];
    const rows = model.waitRows(this.filter);
    const sum = rows.reduce((ns, row) => ns + row.ns, 0);
    const stacks = el('div', {});
    const path = (title: string, functions: number[]) => functions.length > 0
      ? el('div', {}, el('span', {class: 'dim'}, title + ' '), el('span', {class: 'mono'}, functions.slice(0, 24).map(fn => shown(model.names[fn]!)).join(' ← '))) : null;
    const showStacks = (row: typeof rows[0]) => {
      const list = [...row.stacks].sort((a, b) => b[1].ns - a[1].ns).slice(0, 30);
      stacks.replaceChildren(el('h2', {}, `${shown(row.name)}: where threads waited, and who ended it`),
        el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Stacks of waits'}, el('table', {},
          el('thead', {}, el('tr', {}, ...['Wait Time', 'Waits', 'Stacks, from the leaf up'].map((title, i) => el('th', {scope: 'col', class: i < 2 ? 'num' : undefined}, el('span', {}, title))))),
          el('tbody', {}, ...list.map(([kind, part]) => {
            const {stack, waking, waker} = model.waitStacks(kind);
            return el('tr', {}, el('td', {class: 'num'}, seconds(part.ns)), el('td', {class: 'num'}, String(part.count)),
              el('td', {class: 'name'}, path('waited in', stack),
                waker ? el('div', {}, el('span', {class: 'dim'}, 'woken by '), `${shown(waker.name)} (${waker.tid})`) : null, path('there in', waking)));
          })))));
      stacks.querySelector<HTMLElement>('.scroll')!.focus();
    };
    return [flatTable('Waits by object', [
      {title: 'Wait Time', number: true, key: row => row.ns, show: row => seconds(row.ns)},
      {title: 'Share', number: true, key: row => row.ns, show: row => percent(row.ns, sum)},
      {title: '', className: 'bar', key: row => row.ns, show: row => bar(row.ns, sum)},
      {title: 'Waits', number: true, key: row => row.count, show: row => String(row.count)},
      {title: 'Object', className: 'name', key: row => row.name, show: row => el('button', {click: () => showStacks(row)}, shown(row.name))},
      {title: 'Type', key: row => row.type, show: row => row.type},
    ], rows, 0), stacks];
  }
}

async function begin(): Promise<void> {
  const root = document.getElementById('page')!;
  document.documentElement.dataset['theme'] = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  try {
    const holder = document.getElementById('data')!;
    const data = await load(holder.textContent ?? '');
    holder.textContent = '';
    const page = data.meta.diff ? new DiffPage(new DiffModel(data), data.meta.version) : new Page(new Model(data), data.meta.version);
    document.title = `tbreport: ${page.title()}`.slice(0, 200);
    root.replaceChildren(...page.build());
    page.draw();
    document.documentElement.dataset['ready'] = String(Math.round(performance.now()));
    requestAnimationFrame(() => setTimeout(() => page.model.prepare()));
    let width = root.clientWidth;
    new ResizeObserver(() => {
      if (root.clientWidth !== width) {
        width = root.clientWidth;
        page.draw();
      }
    }).observe(root);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', event => page.setTheme(event.matches ? 'dark' : 'light'));
  } catch (error) {
    root.replaceChildren(el('p', {class: 'loading', role: 'alert'}, `This page cannot be shown: ${String(error)}`));
  }
}

void begin();
