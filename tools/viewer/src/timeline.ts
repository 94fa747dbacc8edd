// A row for each thread over the time of the run; a dragged range filters everything else.
import {css, el, shown, sized} from './dom.ts';
import type {Filter, Model} from './model.ts';

const ROW = 20;
const AXIS = 20;
const THREADS = 300; // those with the most CPU time

export class Timeline {
  readonly element: HTMLElement;
  private readonly canvas = el('canvas');
  private readonly axis = el('canvas', {class: 'axis'});
  private readonly lanes: HTMLElement;
  private readonly selection = el('div', {class: 'selection'});
  private readonly labels: HTMLButtonElement[] = [];
  private readonly shares: (Float32Array[] | undefined)[] = []; // by thread: running, ready, blocked, stopped by cell
  private readonly count: number;
  private drag: number | undefined;

  constructor(private readonly model: Model, private filter: Filter,
    private readonly select: (from: number, to: number) => void, private readonly toggle: (thread: number) => void) {
    this.count = Math.min(model.threads.length, THREADS);
    for (let t = 0; t < this.count; t++) {
      const thread = model.threads[t]!;
      const name = shown(thread.name) || '(no name)';
      this.labels.push(el('button', {'aria-pressed': 'false', title: `${name}, TID ${thread.tid}, of ${shown(thread.process)} (PID ${thread.pid})`,
        click: () => this.toggle(t)}, `${name} `, el('span', {class: 'dim'}, String(thread.tid || ''))));
    }
    const more = model.threads.length - this.count;
    this.lanes = el('div', {class: 'lanes'}, this.axis, this.canvas, this.selection);
    this.element = el('section', {class: 'timeline', 'aria-label': 'Timeline of threads'},
      el('div', {class: 'labels', role: 'group', 'aria-label': 'Threads to show'}, el('div', {class: 'axis'}, 'Thread'), ...this.labels,
        more > 0 ? el('div', {class: 'axis dim'}, `${more} more, with less CPU time`) : ''), this.lanes);
    this.lanes.addEventListener('pointerdown', event => {
      this.drag = this.cellOf(event);
      this.lanes.setPointerCapture(event.pointerId);
    });
    this.lanes.addEventListener('pointermove', event => {
      if (this.drag !== undefined)
        this.showRange(Math.min(this.drag, this.cellOf(event)), Math.max(this.drag, this.cellOf(event)));
    });
    this.lanes.addEventListener('pointerup', event => {
      if (this.drag === undefined)
        return;
      const [a, b] = [this.drag, this.cellOf(event)];
      this.drag = undefined;
      // A click is no range: it takes the range away.
      if (Math.abs(a - b) * this.lanes.clientWidth < 4 * this.model.cells)
        this.select(0, this.model.cells - 1);
      else
        this.select(Math.min(a, b), Math.max(a, b));
    });
    this.lanes.addEventListener('pointercancel', () => { this.drag = undefined; this.update(this.filter); });
  }

  private cellOf(event: PointerEvent): number {
    const bounds = this.lanes.getBoundingClientRect();
    const cell = Math.floor((event.clientX - bounds.left) / bounds.width * this.model.cells);
    return Math.max(0, Math.min(this.model.cells - 1, cell));
  }

  update(filter: Filter): void {
    this.filter = filter;
    const all = filter.threads.every(Boolean);
    this.labels.forEach((label, t) => label.setAttribute('aria-pressed', String(!all && !!filter.threads[t])));
    this.showRange(filter.from, filter.to);
  }

  private showRange(from: number, to: number): void {
    this.selection.hidden = from === 0 && to === this.model.cells - 1;
    this.selection.style.left = 100 * from / this.model.cells + '%';
    this.selection.style.width = 100 * (to + 1 - from) / this.model.cells + '%';
  }

  // By cell, parts of 1; of a thread without known states the CPU time of its samples.
  private sharesOf(thread: number): Float32Array[] {
    let shares = this.shares[thread];
    if (shares)
      return shares;
    const {cells, cellNs} = this.model;
    shares = [0, 1, 2, 3].map(() => new Float32Array(cells));
    const states = this.model.states(thread);
    if (states) {
      let cell = 0;
      states.cells.forEach((length, run) => {
        for (const past = cell + length; cell < past; cell++)
          shares!.forEach((row, state) => row[cell] = (states.shares[run]! >> 5 * state & 31) / 31);
      });
    } else {
      // A sample stands for the time before it, which is longer than a cell of a short run.
      const load = this.model.load(thread);
      let late = 0;
      for (let cell = cells - 1; cell >= 0; cell--) {
        late += load[cell]! / cellNs;
        shares[0]![cell] = Math.min(1, late);
        late -= Math.min(1, late);
      }
    }
    return this.shares[thread] = shares;
  }

  draw(): void {
    const width = this.lanes.clientWidth;
    if (width === 0)
      return;
    this.drawAxis(width);
    const context = sized(this.canvas, width, Math.max(ROW, this.count * ROW));
    context.fillStyle = css('--panel');
    context.fillRect(0, 0, width, this.count * ROW);
    const colours = ['--run', '--ready', '--block', '--stop'].map(css);
    const line = css('--line');
    const {cells} = this.model;
    for (let t = 0; t < this.count; t++) {
      const shares = this.sharesOf(t);
      const base = t * ROW + ROW - 3;
      context.fillStyle = line;
      context.fillRect(0, t * ROW + ROW - 1, width, 1);
      for (let x = 0; x < width; x++) {
        const from = Math.floor(x / width * cells);
        const to = Math.max(from + 1, Math.floor((x + 1) / width * cells));
        let y = base;
        for (let state = 0; state < 4; state++) {
          let sum = 0;
          for (let cell = from; cell < to; cell++)
            sum += shares[state]![cell]!;
          const height = sum / (to - from) * (ROW - 6);
          if (height <= 0)
            continue;
          // Waiting is a thin line: most threads wait most of the time.
          const drawn = state === 2 ? Math.min(height, 2) : height;
          context.fillStyle = colours[state]!;
          context.fillRect(x, y - drawn, 1, drawn);
          y -= drawn;
        }
      }
    }
  }

  private drawAxis(width: number): void {
    const context = sized(this.axis, width, AXIS);
    context.fillStyle = css('--panel');
    context.fillRect(0, 0, width, AXIS);
    context.fillStyle = css('--dim');
    context.font = "11px system-ui, 'Liberation Sans', 'DejaVu Sans', sans-serif";
    context.textBaseline = 'middle';
    const whole = this.model.cells * this.model.cellNs / 1e9;
    const wanted = whole / Math.max(2, width / 90);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map(times => times * power).find(value => value >= wanted) ?? wanted;
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    for (let i = 0; i * step < whole; i++) {
      const x = i * step / whole * width;
      context.fillRect(x, AXIS - 5, 1, 5);
      const text = (i * step).toFixed(digits) + ' s';
      if (x + 4 + context.measureText(text).width < width)
        context.fillText(text, x + 4, AXIS / 2);
    }
  }
}
