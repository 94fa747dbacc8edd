// Elements made without markup: names of a target are text, whatever is in them.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined | ((event: never) => void)>;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {},
  ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function')
      element.addEventListener(name, value as unknown as EventListener);
    else if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) {
    if (child)
      element.append(child);
  }
  return element;
}

// Control characters, and those that turn the direction of text, made visible.
export function shown(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    c => '\\x' + c.charCodeAt(0).toString(16).padStart(2, '0'));
}

export function seconds(ns: number): string {
  return (ns / 1e9).toFixed(3) + ' s';
}

export function percent(part: number, whole: number): string {
  return whole > 0 ? (100 * part / whole).toFixed(1) + ' %' : '–';
}

export function bytes(count: number): string {
  return count < 1e6 ? (count / 1e3).toFixed(1) + ' kB' : (count / 1e6).toFixed(1) + ' MB';
}

export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A canvas as sharp as the screen.
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const scale = window.devicePixelRatio || 1;
  const [columns, rows] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  // Setting a size takes new memory, also where it is the same.
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
  }
  const context = canvas.getContext('2d', {alpha: false})!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}

// setTheme gets the other theme.
export function makeHeader(command: string, headline: Child[], setTheme: (theme: string) => void): HTMLElement {
  const theme = el('button', {class: 'theme', click: () => setTheme(document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark')}, 'Light / dark');
  return el('header', {}, el('h1', {}, 'tbreport'), el('div', {class: 'command mono', title: command}, command), el('div', {class: 'headline'}, ...headline), theme);
}
