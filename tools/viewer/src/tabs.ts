// Panels of which one is shown, and the list of their names.
import {el} from './dom.ts';

export class Tabs {
  readonly list = el('div', {class: 'tabs', role: 'tablist', 'aria-label': 'Reports'});
  readonly panel = el('div', {class: 'panel', role: 'tabpanel', id: 'panel', tabindex: -1});
  current: string;
  private readonly buttons = new Map<string, HTMLButtonElement>();

  // shown: called when a panel stands in the page.
  constructor(private readonly panels: [string, () => Node | Node[]][], private readonly shown: () => void) {
    this.current = panels[0]![0];
    for (const [name] of panels) {
      const button = el('button', {role: 'tab', 'aria-controls': 'panel', click: () => this.show(name)}, name);
      this.buttons.set(name, button);
      this.list.append(button);
    }
    this.list.addEventListener('keydown', event => {
      const names = panels.map(([name]) => name);
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (step) {
        this.show(names[(names.indexOf(this.current) + step + names.length) % names.length]!);
        this.buttons.get(this.current)!.focus();
      }
    });
  }

  show(name: string): void {
    this.current = name;
    this.refresh();
  }

  refresh(): void {
    for (const [name, button] of this.buttons) {
      button.setAttribute('aria-selected', String(name === this.current));
      button.tabIndex = name === this.current ? 0 : -1;
    }
    this.panel.setAttribute('aria-label', this.current);
    const made = this.panels.find(([name]) => name === this.current)![1]();
    this.panel.replaceChildren(...(Array.isArray(made) ? made : [made]));
    this.shown();
  }
}
