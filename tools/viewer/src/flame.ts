// The flame graph on a canvas: only rectangles that are seen are made, so a million nodes are no more work than a thousand.
import {Colours, type Colouring} from './colour.ts';
import {css, el, percent, seconds, shown, sized} from './dom.ts';
import {type CallTree, KIND} from './tree.ts';
import {down, up, type View} from './views.ts';

const ROW = 19;
const LEAST = 0.6; // pixels of a rectangle that is still seen
const TEXT = "12px ui-monospace, 'SF Mono', Menlo, 'Liberation Mono', 'DejaVu Sans Mono', monospace";

interface Box {
  view: View;
  x: number;
  width: number;
  depth: number;
  above: Box | undefined;
}

export interface FlameOptions {
  inverted: boolean;
  colouring: Colouring;
  marks: Uint8Array | undefined; // functions that match the search
}

// What replaces colours and words of a result's times.
export interface Look {
  colour(view: View): string;
  mark(view: View): string; // in front of the name, and the box has a frame; '': none
  facts(view: View): string;
}

export class Flame {
  readonly element: HTMLElement;
  readonly zoomed: () => number[];
  private readonly canvas = el('canvas');
  private readonly scroller: HTMLElement;
  private readonly spacer: HTMLElement;
  private readonly detail = el('div', {class: 'detail'});
  private readonly live = el('div', {class: 'hidden', role: 'status'});
  private boxes: Box[] = [];
  private root: View;
  private path: View[] = []; // zoomed into the last one
  private chosen: Box | undefined;
  private rows = 0;
  private charWidth = 0;
  private options: FlameOptions = {inverted: false, colouring: 'module', marks: undefined};

  constructor(private readonly model: CallTree, private readonly colours: Colours, private readonly open: (fn: number) => void,
    private readonly look?: Look) {
    this.root = down(model);
    this.zoomed = () => this.path.map(view => view.fn);
    this.spacer = el('div', {}, this.canvas);
    this.scroller = el('div', {class: 'flame', tabindex: 0, role: 'application', 'aria-roledescription': 'flame graph',
      'aria-label': 'Flame graph. Arrow keys walk, Enter zooms in, Backspace zooms out, C shows callers. The same figures are in the tables.'},
    this.spacer);
    this.element = el('div', {}, this.scroller, this.detail, this.live);
    this.scroller.addEventListener('scroll', () => this.draw());
    this.scroller.addEventListener('keydown', event => this.key(event));
    this.canvas.addEventListener('pointermove', event => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => this.choose(undefined));
    this.canvas.addEventListener('click', event => this.click(event));
    this.canvas.addEventListener('dblclick', event => {
      const box = this.at(event);
      if (box && box.view.fn >= 0)
        this.open(box.view.fn);
    });
  }

  // New sums or options; the zoom stays where its functions still have time.
  update(options: FlameOptions): void {
    const path = options.inverted === this.options.inverted ? this.zoomed() : [];
    this.options = options;
    this.root = options.inverted ? up(this.model) : down(this.model);
    this.path = [];
    let view = this.root;
    for (const fn of path) {
      const child = view.children().find(fn);
      if (!child)
        break;
      this.path.push(view = child);
    }
    this.layout();
  }

  layout(): void {
    const width = this.scroller.clientWidth;
    if (width === 0)
      return;
    const focus = this.path[this.path.length - 1] ?? this.root;
    this.boxes = [];
    this.chosen = undefined;
    let above: Box | undefined;
    [this.root, ...this.path.slice(0, -1)].slice(0, this.path.length).forEach((view, depth) => {
      this.boxes.push(above = {view, x: 0, width, depth, above});
    });
    const scale = focus.total > 0 ? width / focus.total : 0;
    const queue: Box[] = [{view: focus, x: 0, width, depth: this.path.length, above}];
    this.rows = this.path.length + 1;
    while (queue.length > 0) {
      const box = queue.pop()!;
      this.boxes.push(box);
      this.rows = Math.max(this.rows, box.depth + 1);
      let x = box.x;
      for (const child of box.view.children().above(LEAST / scale)) {
        const part = child.total * scale;
        queue.push({view: child, x, width: part, depth: box.depth + 1, above: box});
        x += part;
      }
    }
    this.scroller.dataset['zoom'] = String(this.path.length);
    this.scroller.dataset['boxes'] = String(this.boxes.length);
    this.spacer.style.height = this.rows * ROW + 'px';
    this.draw();
    this.describe();
  }

  private name(view: View): string {
    const mark = this.look && view.fn >= 0 ? this.look.mark(view) : '';
    return view.fn < 0 ? 'All' : (mark ? mark + ' ' : '') + shown(this.model.names[view.fn]!);
  }

  draw(): void {
    const width = this.scroller.clientWidth;
    const height = this.scroller.clientHeight;
    if (width === 0 || height === 0)
      return;
    const context = sized(this.canvas, width, height);
    const top = this.scroller.scrollTop;
    context.fillStyle = css('--panel');
    context.fillRect(0, 0, width, height);
    context.font = TEXT;
    context.textBaseline = 'middle';
    this.charWidth ||= context.measureText('m').width;
    const frame = css('--text');
    const markText = css('--mark');
    for (const box of this.boxes) {
      const y = box.depth * ROW - top;
      if (y + ROW > 0 && y < height)
        this.drawBox(context, box, y, frame, markText);
    }
  }

  private drawBox(context: CanvasRenderingContext2D, box: Box, y: number, frame: string, markText: string): void {
    const {view} = box;
    const isMatch = view.fn >= 0 && !!this.options.marks?.[view.fn];
    const width = Math.max(box.width - (box.width > 3 ? 1 : 0), 0.5);
    const isContext = box.depth < this.path.length;
    context.globalAlpha = isContext || (this.options.marks && !isMatch) ? 0.45 : 1;
    context.fillStyle = view.fn < 0 ? this.colours.plain
      : this.look ? this.look.colour(view) : isMatch ? this.colours.mark : this.colours.of(view.fn, this.options.colouring);
    context.fillRect(box.x, y, width, ROW - 1);
    context.globalAlpha = 1;
    if (this.isDoubtful(view) && width > 2)
      this.hatch(context, box.x, y, width);
    if (this.look && view.fn >= 0 && width > 4 && this.look.mark(view)) {
      context.strokeStyle = frame;
      context.lineWidth = 1;
      context.strokeRect(box.x + 0.5, y + 0.5, width - 1, ROW - 2);
    }
    if (box === this.chosen) {
      context.strokeStyle = frame;
      context.lineWidth = 2;
      context.strokeRect(box.x + 1, y + 1, Math.max(width - 2, 1), ROW - 3);
    }
    const room = Math.floor((width - 8) / this.charWidth);
    if (room >= 3) {
      const name = this.name(view);
      context.fillStyle = isMatch && !this.look ? markText : this.colours.text;
      context.fillText(name.length > room ? name.slice(0, room - 1) + '…' : name, box.x + 4, y + ROW / 2);
    }
  }

  // Guessed for at least half of its time, or a mark of missing frames.
  private isDoubtful(view: View): boolean {
    const kind = view.fn < 0 ? 0 : this.model.kinds[view.fn]!;
    return kind >= KIND.UNKNOWN && kind <= KIND.NO_THREAD && kind !== KIND.KERNEL
      || view.guessed * 2 >= view.total && view.guessed > 0;
  }

  private hatch(context: CanvasRenderingContext2D, x: number, y: number, width: number): void {
    context.save();
    context.beginPath();
    context.rect(x, y, width, ROW - 1);
    context.clip();
    context.strokeStyle = this.colours.text;
    context.globalAlpha = 0.22;
    context.lineWidth = 1;
    context.beginPath();
    for (let at = x - ROW - x % 6; at < x + width; at += 6) {
      context.moveTo(at, y + ROW);
      context.lineTo(at + ROW, y);
    }
    context.stroke();
    context.restore();
  }

  private at(event: MouseEvent): Box | undefined {
    const bounds = this.canvas.getBoundingClientRect();
    const x = event.clientX - bounds.left;
    const depth = Math.floor((event.clientY - bounds.top + this.scroller.scrollTop) / ROW);
    return this.boxes.find(box => box.depth === depth && x >= box.x && x < box.x + box.width);
  }

  private hover(event: PointerEvent): void {
    const box = this.at(event);
    this.canvas.style.cursor = box ? 'pointer' : 'default';
    if (box !== this.chosen)
      this.choose(box);
  }

  private choose(box: Box | undefined): void {
    this.chosen = box;
    this.draw();
    this.describe();
  }

  private describe(): void {
    const view = (this.chosen?.view ?? this.path[this.path.length - 1] ?? this.root);
    const model = this.model;
    const kind = view.fn < 0 ? 0 : model.kinds[view.fn]!;
    const words = ['', ' · code in no known module', ' · the stack was cut: frames outside are not known',
      ' · frames outside of it are guessed', ' · the kernel, without a stack', '', '', '', '', '', ' · inlined'][kind] ?? '';
    const guessed = view.guessed > 0 ? ` · guessed for ${percent(view.guessed, view.total)} of it` : '';
    const module = view.fn < 0 ? '' : model.modules[model.moduleOf[view.fn]!]!;
    const facts = this.look ? this.look.facts(view) : `${seconds(view.total)}, ${percent(view.total, model.sum)}` +
      (this.options.inverted ? '' : ` · self ${seconds(view.self)}, ${percent(view.self, model.sum)}`);
    this.detail.replaceChildren(el('b', {class: 'mono'}, this.name(view)), ' ' + facts + words + guessed,
      el('div', {class: 'dim'}, module ? shown(module.path || module.name) + ' ' + shown(view.fn < 0 ? '' : model.file(view.fn)) : ''));
  }

  private zoom(box: Box): void {
    const path: View[] = [];
    for (let at: Box | undefined = box; at && at.view !== this.root; at = at.above)
      path.unshift(at.view);
    this.path = path;
    this.layout();
  }

  private click(event: MouseEvent): void {
    const box = this.at(event);
    this.scroller.focus({preventScroll: true});
    if (box)
      this.zoom(box);
  }

  zoomOut(): void {
    this.path.pop();
    this.layout();
  }

  private key(event: KeyboardEvent): void {
    const now = this.chosen ?? this.boxes.find(box => box.depth === this.path.length);
    if (!now || event.ctrlKey || event.metaKey || event.altKey)
      return;
    const siblings = this.boxes.filter(box => box.depth === now.depth).sort((a, b) => a.x - b.x);
    const place = siblings.indexOf(now);
    const first = (list: Box[]) => list.sort((a, b) => a.x - b.x)[0];
    let next: Box | undefined;
    switch (event.key) {
      case 'ArrowRight': next = siblings[place + 1]; break;
      case 'ArrowLeft': next = siblings[place - 1]; break;
      case 'ArrowDown': next = first(this.boxes.filter(box => box.above === now)); break;
      case 'ArrowUp': next = now.above; break;
      case 'Home': next = this.boxes[0]; break;
      case 'Enter': this.zoom(now); break;
      case 'Backspace': case 'Escape': this.zoomOut(); break;
      case 'c': case 'C': if (now.view.fn >= 0) this.open(now.view.fn); break;
      default: return;
    }
    event.preventDefault();
    if (next)
      this.choose(next);
    const shownBox = this.chosen;
    if (shownBox) {
      const y = shownBox.depth * ROW;
      if (y < this.scroller.scrollTop || y + ROW > this.scroller.scrollTop + this.scroller.clientHeight)
        this.scroller.scrollTop = y - this.scroller.clientHeight / 2;
    }
    this.live.textContent = this.detail.textContent;
  }
}
