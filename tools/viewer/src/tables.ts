// Tables: of rows, and of trees whose rows open.
import {el, percent, seconds, shown} from './dom.ts';
import {type CallTree, KIND} from './tree.ts';
import type {Children, View} from './views.ts';

const ROWS = 100; // at first; more on demand
const CHILDREN = 50;

export interface Column<Row> {
  title: string;
  number?: boolean;
  key: (row: Row) => number | string;
  show: (row: Row) => string | Node;
  className?: string;
}

// The share as a bar; the figure beside it says the same.
export function bar(part: number, whole: number): Node {
  const element = el('div', {class: 'share-bar', 'aria-hidden': 'true'});
  element.style.setProperty('--share', `${whole > 0 ? 100 * Math.min(1, part / whole) : 0}%`);
  return element;
}

// sortBy: a column; undefined: the rows are in order.
export function flatTable<Row>(caption: string, columns: Column<Row>[], rows: Row[], sortBy: number | undefined,
  mark?: (row: Row) => boolean, rises = false, limit = ROWS): HTMLElement {
  const body = el('tbody');
  const head = el('tr');
  let sorted = sortBy;
  let falling = !rises && sortBy !== undefined && (columns[sortBy]!.number ?? false);
  const more = el('button', {click: () => { limit *= 5; fill(); }});
  const fill = () => {
    const key = sorted === undefined ? () => 0 : columns[sorted]!.key;
    const sign = falling ? -1 : 1;
    const order = rows.map(row => ({row, key: key(row)})).sort((a, b) => sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    body.replaceChildren(...order.slice(0, limit).map(({row}) => el('tr', {class: mark?.(row) ? 'match' : undefined},
      ...columns.map(column => el('td', {class: column.className ?? (column.number ? 'num' : undefined)}, column.show(row))))));
    head.querySelectorAll('th').forEach((cell, i) =>
      i === sorted ? cell.setAttribute('aria-sort', falling ? 'descending' : 'ascending') : cell.removeAttribute('aria-sort'));
    more.hidden = rows.length <= limit;
    more.textContent = `Show more of ${rows.length} rows`;
  };
  columns.forEach((column, i) => head.append(el('th', {scope: 'col', class: column.className ?? (column.number ? 'num' : undefined)},
    column.title === '' ? el('span', {}, el('span', {class: 'hidden'}, 'Share as a bar'))
      : el('button', {click: () => {
        falling = i === sorted ? !falling : column.number ?? false;
        sorted = i;
        fill();
      }}, column.title))));
  fill();
  if (rows.length === 0)
    return el('p', {class: 'empty'}, 'Nothing in this part of the run.');
  return el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
    el('table', {}, el('caption', {class: 'hidden'}, caption), el('thead', {}, head), body), more);
}

export interface TreeOptions {
  caption: string;
  model: CallTree;
  root: View;
  columns: {title: string; className?: string; show: (view: View) => string}[]; // numbers in front of the name
  marks: Uint8Array | undefined;
  open: (fn: number) => void;
}

export function treeTable(options: TreeOptions): HTMLElement {
  const {model} = options;
  const body = el('tbody');
  const views = new WeakMap<HTMLTableRowElement, View>();

  const makeRow = (view: View, level: number): HTMLTableRowElement => {
    const kind = model.kinds[view.fn]!;
    const hasChildren = !view.isLeaf();
    const module = model.modules[model.moduleOf[view.fn]!]!;
    const notes = [kind === KIND.INLINED ? 'inlined' : '', view.guessed > 0 ? `guessed ${percent(view.guessed, view.total)}` : '']
      .filter(text => text).join(', ');
    const name = el('td', {class: 'name'}, el('span', {class: 'twist', 'aria-hidden': 'true'}, hasChildren ? '▸' : ''),
      shown(model.names[view.fn]!), notes ? el('span', {class: 'dim'}, '  ' + notes) : '');
    name.style.paddingLeft = 8 + 14 * Math.min(level - 1, 40) + 'px';
    const row = el('tr', {tabindex: -1, 'aria-level': level, 'aria-expanded': hasChildren ? 'false' : undefined,
      class: options.marks?.[view.fn] ? 'match' : undefined},
    ...options.columns.map(column => el('td', {class: column.className ?? 'num'}, column.show(view))), name, el('td', {class: 'dim wide'}, shown(module.name)));
    views.set(row, view);
    return row;
  };
  const level = (row: HTMLTableRowElement) => Number(row.getAttribute('aria-level'));
  const setTwist = (row: HTMLTableRowElement, isOpen: boolean) => {
    row.setAttribute('aria-expanded', String(isOpen));
    row.querySelector('.twist')!.textContent = isOpen ? '▾' : '▸';
  };
  const restRow = (list: Children, from: number, at: number): HTMLTableRowElement => {
    const row = el('tr', {'aria-level': at, tabindex: -1, click: (event: Event) => {
      event.stopPropagation();
      const more = rowsOf(list, from, at);
      row.replaceWith(...more);
      focus(more[0]);
    }}, ...options.columns.map(column => el('td', {class: column.className ?? 'num'})), el('td', {class: 'name dim'}, `… ${list.count - from} more, ${seconds(list.sumFrom(from))}`), el('td', {class: 'wide'}));
    return row;
  };
  const rowsOf = (list: Children, from: number, at: number): HTMLTableRowElement[] => {
    const rows = list.slice(from, from + CHILDREN).map(view => makeRow(view, at));
    if (list.count > from + CHILDREN)
      rows.push(restRow(list, from + CHILDREN, at));
    return rows;
  };
  const expand = (row: HTMLTableRowElement) => {
    if (row.getAttribute('aria-expanded') !== 'false')
      return;
    setTwist(row, true);
    row.after(...rowsOf(views.get(row)!.children(), 0, level(row) + 1));
  };
  const collapse = (row: HTMLTableRowElement) => {
    if (row.getAttribute('aria-expanded') !== 'true')
      return;
    setTwist(row, false);
    for (let next = row.nextElementSibling as HTMLTableRowElement | null; next && level(next) > level(row);) {
      const gone = next;
      next = next.nextElementSibling as HTMLTableRowElement | null;
      gone.remove();
    }
  };
  const focus = (row: Element | null | undefined) => {
    if (!(row instanceof HTMLTableRowElement))
      return;
    body.querySelectorAll('[tabindex="0"]').forEach(other => other.setAttribute('tabindex', '-1'));
    row.setAttribute('tabindex', '0');
    row.focus();
  };
  body.append(...rowsOf(options.root.children(), 0, 1));
  // The way down that has most of the time is open.
  for (let row = body.querySelector('tr'), left = 12; row && left > 0; left--) {
    const view = views.get(row);
    const heaviest: View | undefined = view?.children().slice(0, 1)[0];
    if (!view || !heaviest || heaviest.total < 0.5 * options.root.total)
      break;
    expand(row);
    row = row.nextElementSibling as HTMLTableRowElement | null;
  }
  body.querySelector('tr')?.setAttribute('tabindex', '0');
  body.addEventListener('click', event => {
    const row = (event.target as Element).closest('tr');
    if (!row)
      return;
    focus(row);
    if (row.getAttribute('aria-expanded') === 'false')
      expand(row);
    else
      collapse(row);
  });
  body.addEventListener('dblclick', event => {
    const row = (event.target as Element).closest('tr');
    const view = row && views.get(row);
    if (view)
      options.open(view.fn);
  });
  body.addEventListener('keydown', event => {
    const row = (event.target as Element).closest('tr');
    if (!row || event.ctrlKey || event.metaKey || event.altKey)
      return;
    switch (event.key) {
      case 'ArrowDown': focus(row.nextElementSibling); break;
      case 'ArrowUp': focus(row.previousElementSibling); break;
      case 'ArrowRight':
        if (row.getAttribute('aria-expanded') === 'false')
          expand(row);
        else
          focus(row.nextElementSibling);
        break;
      case 'ArrowLeft':
        if (row.getAttribute('aria-expanded') === 'true') {
          collapse(row);
        } else {
          let above = row.previousElementSibling as HTMLTableRowElement | null;
          while (above && level(above) >= level(row))
            above = above.previousElementSibling as HTMLTableRowElement | null;
          focus(above);
        }
        break;
      case 'Enter': row.click(); break;
      case 'c': case 'C': { const view = views.get(row); if (view) options.open(view.fn); break; }
      default: return;
    }
    event.preventDefault();
  });
  if (!body.firstChild)
    return el('p', {class: 'empty'}, 'Nothing in this part of the run.');
  const titles = [...options.columns, {title: 'Function', className: ''}, {title: 'Module', className: 'wide'}];
  return el('div', {class: 'scroll'}, el('table', {role: 'treegrid', 'aria-label': options.caption},
    el('thead', {}, el('tr', {}, ...titles.map(({title, className}) => el('th', {scope: 'col', class: className ?? 'num'},
      el('span', {}, title))))), body));
}
