// The page: what is chosen, and the panels that show it.
import {utilization} from './charts.ts';
import {Colours, type Colouring} from './colour.ts';
import {load} from './data.ts';
import {bytes, el, percent, seconds, shown} from './dom.ts';
import {Flame} from './flame.ts';
import {type Filter, Model} from './model.ts';
import {bar, type Column, flatTable, treeTable} from './tables.ts';
import {Timeline} from './timeline.ts';
import {down, up, type View} from './views.ts';

interface FunctionRow { fn: number; self: number; total: number }

class Page {
  private filter: Filter;
  private readonly colours: Colours;
  private readonly flame: Flame;
  private readonly timeline: Timeline | undefined;
  private readonly panel = el('div', {class: 'panel', role: 'tabpanel', id: 'panel', tabindex: -1});
  private readonly share = el('span', {class: 'share', role: 'status'});
  private readonly range = el('span', {class: 'sum dim'});
  private readonly reset = el('button', {click: () => this.clear()}, 'Show all');
  private readonly search = el('input', {type: 'text', id: 'search', spellcheck: 'false', autocomplete: 'off', placeholder: 'regular expression'});
  private readonly owner = el('select', {id: 'owner'});
  private readonly from = el('input', {type: 'number', id: 'from', min: 0, step: 'any'});
  private readonly to = el('input', {type: 'number', id: 'to', min: 0, step: 'any'});
  private readonly tabs = new Map<string, HTMLButtonElement>();
  private readonly panels: [string, () => Node | Node[]][];
  private tab = 'Summary';
  private marks: Uint8Array | undefined;
  private colouring: Colouring = 'module';
  private inverted = false;
  private fn = -1; // of Callers and Source Lines

  constructor(private readonly model: Model, private readonly version: string) {
    this.filter = model.all();
    this.colours = new Colours(model);
    this.flame = new Flame(model, this.colours, fn => this.show('Callers', fn));
    if (model.cellNs > 0)
      this.timeline = new Timeline(model, this.filter, (from, to) => this.setRange(from, to), thread => this.toggleThread(thread));
    this.panels = [
      ['Summary', () => this.summary()], ['Flame Graph', () => this.flamePanel()],
      ['Top-Down', () => this.tree('Top-down call tree', down(this.model), true)],
      ['Bottom-Up', () => this.tree('Functions by their own CPU time, with callers', up(this.model), false)],
      ['Callers', () => this.callers()], ['Source Lines', () => this.lines()], ['Threads', () => this.threads()],
      ['Utilization', () => utilization(this.model.levels(this.filter), this.model.facts.target, this.panel.clientWidth)],
      ['Waits', () => this.waits()],
    ];
  }

  build(): HTMLElement[] {
    const facts = this.model.facts;
    const list = el('div', {class: 'tabs', role: 'tablist', 'aria-label': 'Reports'});
    for (const [name] of this.panels) {
      const tab = el('button', {role: 'tab', 'aria-controls': 'panel', click: () => this.show(name)}, name);
      this.tabs.set(name, tab);
      list.append(tab);
    }
    list.addEventListener('keydown', event => {
      const names = [...this.tabs.keys()];
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (step) {
        this.show(names[(names.indexOf(this.tab) + step + names.length) % names.length]!);
        this.tabs.get(this.tab)!.focus();
      }
    });
    const theme = el('button', {click: () => this.setTheme(document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark')}, 'Light / dark');
    const header = el('header', {}, el('h1', {}, 'tbreport'), el('div', {class: 'command mono', title: shown(facts.command)}, shown(facts.command)),
      el('div', {class: 'headline'}, el('b', {}, this.amount(this.model.whole)), facts.is_counted ? '' : ' CPU time',
        facts.elapsed_ns ? ` in ${seconds(facts.elapsed_ns)}` : ''), theme);
    theme.className = 'theme';
    return [header, el('main', {}, ...(this.timeline ? [this.timeline.element, this.timelineLegend()] : []), this.tools(), list, this.panel)];
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
    this.search.addEventListener('input', () => this.find());
    const setTimes = () => {
      const cell = (input: HTMLInputElement, otherwise: number) =>
        input.value === '' ? otherwise : Math.max(0, Math.min(this.model.cells - 1, Math.floor(Number(input.value) * 1e9 / this.model.cellNs)));
      const [from, to] = [cell(this.from, 0), cell(this.to, this.model.cells - 1)];
      this.setRange(Math.min(from, to), Math.max(from, to));
    };
    this.from.addEventListener('change', setTimes);
    this.to.addEventListener('change', setTimes);
    return el('div', {class: 'tools', role: 'search'},
      el('label', {}, 'Find', this.search), this.share, el('label', {}, 'Of', this.owner),
      ...(this.timeline ? [el('span', {class: 'times'}, el('label', {}, 'From', this.from), el('label', {}, 'to', this.to, 's'))] : []),
      this.range, this.reset);
  }

  setTheme(theme: string): void {
    document.documentElement.dataset['theme'] = theme;
    this.colours.renew();
    this.draw();
  }

  private find(): void {
    const text = this.search.value;
    this.search.setCustomValidity('');
    this.marks = undefined;
    if (text !== '') {
      try {
        const pattern = new RegExp(text, 'i');
        this.marks = Uint8Array.from(this.model.names, name => pattern.test(name) ? 1 : 0);
      } catch {
        this.search.setCustomValidity('no regular expression');
      }
    }
    this.refresh();
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
    this.owner.value = this.from.value = this.to.value = this.search.value = '';
    this.marks = undefined;
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
    this.share.textContent = this.search.validationMessage ? 'no regular expression'
      : this.marks ? `matches ${(100 * model.matching(this.marks)).toFixed(1)} %` : '';
    this.share.hidden = !this.share.textContent;
    this.range.textContent = isAll ? '' : `${this.amount(model.sum)}, ${percent(model.sum, model.whole)} of the run`;
    this.reset.hidden = isAll && !this.marks;
    this.timeline?.update(filter);
    this.showPanel();
  }

  draw(): void {
    this.timeline?.draw();
    this.showPanel();
  }

  show(tab: string, fn?: number): void {
    if (fn !== undefined)
      this.fn = fn;
    this.tab = tab;
    this.showPanel();
    if (fn !== undefined)
      this.panel.focus();
  }

  private showPanel(): void {
    for (const [name, tab] of this.tabs) {
      tab.setAttribute('aria-selected', String(name === this.tab));
      tab.tabIndex = name === this.tab ? 0 : -1;
    }
    this.panel.setAttribute('aria-label', this.tab);
    const made = this.panels.find(([name]) => name === this.tab)![1]();
    this.panel.replaceChildren(...(Array.isArray(made) ? made : [made]));
    if (this.tab === 'Flame Graph')
      this.flame.update({inverted: this.inverted, colouring: this.colouring, marks: this.marks});
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
      flatTable('Functions by their own CPU time', this.functionColumns(), this.functionRows(), 0, row => !!this.marks?.[row.fn]),
      el('p', {class: 'dim'}, `tbreport ${this.version}`)];
  }

  private flamePanel(): Node[] {
    const toggle = (label: string, pressed: boolean, act: () => void) =>
      el('button', {'aria-pressed': String(pressed), click: () => { act(); this.showPanel(); }}, label);
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
    return treeTable({caption, model: this.model, root, withSelf, marks: this.marks, open: fn => this.show('Callers', fn)});
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
    select.addEventListener('change', () => { this.show(this.tab, Number(select.value)); document.getElementById('function')?.focus(); });
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
    const lines = this.model.lines(row.fn);
    const known = lines.some(line => line.line > 0);
    const file = this.model.file(row.fn);
    return [this.picker(rows, row), el('p', {class: 'mono'}, file ? shown(file) : ''),
      known ? flatTable('Lines of the function', [
        {title: 'Line', number: true, key: line => line.line, show: line => line.line > 0 ? String(line.line) : 'not known'},
        {title: 'Self', number: true, key: line => line.self, show: line => seconds(line.self)},
        {title: 'Share', number: true, key: line => line.self, show: line => percent(line.self, row.self)},
        {title: '', className: 'bar', key: line => line.self, show: line => bar(line.self, row.self)},
        {title: 'Total', number: true, key: line => line.total, show: line => seconds(line.total)},
        {title: 'Share of total', number: true, key: line => line.total, show: line => percent(line.total, row.total)},
      ], lines, 0, undefined, true) : el('p', {class: 'empty'}, 'No lines are known: the module has no debug information.')];
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
    const model = new Model(data);
    const page = new Page(model, data.meta.version);
    document.title = `tbreport: ${shown(data.meta.facts.command)}`.slice(0, 200);
    root.replaceChildren(...page.build());
    page.refresh();
    page.draw();
    document.documentElement.dataset['ready'] = String(Math.round(performance.now()));
    requestAnimationFrame(() => setTimeout(() => model.prepare()));
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
