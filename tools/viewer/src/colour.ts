// Colours of functions: by module, or by where their code comes from.
import {css} from './dom.ts';
import {type CallTree, KIND} from './tree.ts';

export type Colouring = 'module' | 'source';

const HUES = [28, 205, 130, 275, 345, 175, 50, 235, 310, 90];
const SOURCES: [string, number][] = [['Program', 28], ['Inlined', 50], ['System library', 205], ['Generated code', 130], ['Kernel', 275]];

export class Colours {
  private readonly hueOfModule = new Map<number, number>();
  private readonly hues = new Map<number, string>(); // of the theme
  private saturation = '';
  private lightness = '';
  plain = '';
  text = '';
  mark = '';

  constructor(private readonly model: CallTree) {
    const self = new Float64Array(model.modules.length);
    model.functions().self.forEach((ns, fn) => self[model.moduleOf[fn]!]! += ns);
    const order = [...self.keys()].filter(m => self[m]! > 0).sort((a, b) => self[b]! - self[a]! || a - b);
    order.forEach((module, place) => {
      if (place < HUES.length)
        this.hueOfModule.set(module, HUES[place]!);
    });
    this.renew();
  }

  // After a change of theme.
  renew(): void {
    this.hues.clear();
    this.saturation = css('--bar-s');
    this.lightness = css('--bar-l');
    this.plain = css('--plain');
    this.text = css('--bar-text');
    this.mark = css('--mark-bg');
  }

  private hue(hue: number): string {
    let colour = this.hues.get(hue);
    if (!colour)
      this.hues.set(hue, colour = `hsl(${hue} ${this.saturation} ${this.lightness})`);
    return colour;
  }

  private sourceOf(fn: number): number {
    const kind = this.model.kinds[fn]!;
    const module = this.model.modules[this.model.moduleOf[fn]!];
    if (kind === KIND.KERNEL || module?.name === '[kernel]')
      return 4;
    if (kind === KIND.INLINED)
      return 1;
    if (module?.name === '[jit]')
      return 3;
    return module?.system ? 2 : 0;
  }

  of(fn: number, by: Colouring): string {
    const kind = this.model.kinds[fn]!;
    if (kind >= KIND.UNKNOWN && kind <= KIND.NO_THREAD && kind !== KIND.KERNEL)
      return this.plain;
    if (by === 'source')
      return this.hue(SOURCES[this.sourceOf(fn)]![1]);
    const hue = this.hueOfModule.get(this.model.moduleOf[fn]!);
    return hue === undefined ? this.plain : this.hue(hue);
  }

  legend(by: Colouring): [string, string][] {
    if (by === 'source')
      return SOURCES.map(([name, hue]) => [name, this.hue(hue)]);
    const rows: [string, string][] = [...this.hueOfModule].slice(0, 7).map(([module, hue]) =>
      [this.model.modules[module]!.name, this.hue(hue)]);
    return [...rows, ['Others, and what is not known', this.plain]];
  }
}
