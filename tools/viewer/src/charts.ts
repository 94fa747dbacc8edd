// Elapsed time by number of CPUs used at once, with the classes of use.
import uPlot from 'uplot';
import {css, el, percent, seconds} from './dom.ts';
import {flatTable} from './tables.ts';

// As tools/states/concurrency.h: by the share of the target, in whole percent.
const CLASSES: [string, number, string][] = [['Idle', 0, '--idle'], ['Poor', 50, '--poor'], ['Ok', 85, '--ok'],
  ['Ideal', 115, '--ideal'], ['Over', Infinity, '--over']];

export function classOf(running: number, target: number): number {
  if (running === 0)
    return 0;
  const share = Math.round(100000 * running / target);
  return CLASSES.findIndex(([, most], i) => i > 0 && share <= most);
}

export function utilization(times: number[], target: number, width: number): HTMLElement {
  const whole = times.reduce((sum, ns) => sum + ns, 0);
  if (whole === 0)
    return el('p', {class: 'empty'}, 'Not known: the result has no states of threads. tbcollect -c concurrency records them.');
  const levels = Math.max(times.length, Math.ceil(target / 1000) + 1);
  const rows = Array.from({length: levels}, (_, running) => ({running, ns: times[running] ?? 0, use: classOf(running, target)}));
  const average = rows.reduce((sum, row) => sum + row.running * row.ns, 0) / whole;
  const holder = el('div', {class: 'chart', role: 'img', 'aria-label': 'Elapsed time by number of CPUs used at once; the table below has the same figures'});
  const axis = {stroke: css('--dim'), grid: {stroke: css('--line'), width: 1}, ticks: {stroke: css('--line'), width: 1}};
  const xs = [-1, ...rows.map(row => row.running), levels];
  new uPlot({
    width: Math.max(240, width - 12), height: 220,
    cursor: {show: false}, legend: {show: false},
    scales: {x: {time: false, range: [-0.7, levels - 0.3]}, y: {range: (_u, _min, max) => [0, max * 1.08 || 1]}},
    axes: [{...axis, label: 'CPUs used at once', labelSize: 20, size: 32, grid: {show: false}, incrs: [1, 2, 5, 10, 20, 50, 100],
      values: (_u, splits) => splits.map(value => value >= 0 && value < levels && Number.isInteger(value) ? String(value) : '')},
    {...axis, size: 58, values: (_u, splits) => splits.map(value => +value.toFixed(3) + ' s')}],
    series: [{}, ...CLASSES.map(([name, , colour]) => ({label: name, fill: css(colour), stroke: css(colour), width: 0,
      points: {show: false}, paths: uPlot.paths.bars!({size: [0.7, 90]})}))],
  }, [xs, ...CLASSES.map((_, use) => [null, ...rows.map(row => row.use === use ? row.ns / 1e9 : null), null])] as uPlot.AlignedData, holder);
  return el('div', {},
    el('p', {}, `On average ${average.toFixed(2)} CPUs were used at once, of ${+(target / 1000).toFixed(2)} that the program could use. All threads of the run count.`),
    el('div', {class: 'legend'}, ...CLASSES.map(([name, , colour], use) => {
      const box = el('i');
      box.style.background = `var(${colour})`;
      const ns = rows.reduce((sum, row) => sum + (row.use === use ? row.ns : 0), 0);
      return el('span', {}, box, `${name} ${percent(ns, whole)}`);
    })),
    holder, el('h2', {}, 'By number of CPUs'),
    flatTable('Elapsed time by number of CPUs used at once', [
      {title: 'CPUs', number: true, key: row => row.running, show: row => String(row.running)},
      {title: 'Elapsed Time', number: true, key: row => row.ns, show: row => seconds(row.ns)},
      {title: 'Share', number: true, key: row => row.ns, show: row => percent(row.ns, whole)},
      {title: 'Utilization', key: row => row.use, show: row => CLASSES[row.use]![0]},
    ], rows, 0, undefined, true));
}
