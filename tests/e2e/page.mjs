// Opens a page in Chromium and says in JSON what it shows: page.mjs VIEWER CHROMIUM ELAPSED PAGE.html DIFF.html HOSTILE.html...
import {createRequire} from 'node:module';
import {readFileSync} from 'node:fs';

const [viewer, chromium_path, elapsed_s, page_path, diff_path, ...hostile_paths] = process.argv.slice(2);
const elapsed = Number(elapsed_s);
const middle = (elapsed / 2).toFixed(6);
const require = createRequire(viewer + '/package.json');
const {chromium} = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const seen = {requests: [], errors: [], axe: [], tabs: [], unreached: []};
const browser = await chromium.launch({executablePath: chromium_path, args: ['--no-sandbox', '--disable-gpu']});

async function open(path, options) {
  // axe is put into the page, which the page's own policy refuses.
  const context = await browser.newContext({bypassCSP: !!options.audit, ...options});
  const page = await context.newPage();
  page.on('request', request => seen.requests.push(request.url().slice(0, 200)));
  page.on('console', message => message.type() === 'error' && seen.errors.push(message.text()));
  page.on('pageerror', error => seen.errors.push(error.message));
  page.on('dialog', dialog => { seen.errors.push('dialog'); void dialog.dismiss(); });
  await page.goto('file://' + path);
  await page.waitForSelector('[data-ready]');
  return page;
}

const tab = (page, name) => page.getByRole('tab', {name, exact: true}).click();
const rows = page => page.$$eval('#panel table tbody tr', list =>
  list.map(row => [...row.cells].map(cell => cell.textContent)));
const sum = async page => (await page.locator('.tools .sum').textContent()).split(',')[0];

async function look(page) {
  seen.functions = await rows(page);
  await tab(page, 'Threads');
  seen.threads = await rows(page);
  await tab(page, 'Utilization');
  seen.levels = await rows(page);
  await tab(page, 'Waits');
  seen.waits = await rows(page);
  await tab(page, 'Source Lines');
  // The hottest function may be a library's, of which there is no text.
  await page.selectOption('#function', {label: 'mandelbrot_pixel'});
  seen.lines = {name: await page.$eval('#function', select => select.selectedOptions[0].textContent), rows: await rows(page)};
  await tab(page, 'Top-Down');
  const before = (await rows(page)).length;
  await page.locator('[role=treegrid] tr[tabindex="0"]').focus();
  await page.keyboard.press('ArrowLeft');
  seen.tree = [before, (await rows(page)).length];
}

async function find(page) {
  await tab(page, 'Flame Graph');
  await page.getByLabel('Find').fill('^mandelbrot_pix');
  seen.share = await page.locator('.share').textContent();
  await page.getByLabel('Find').fill('(');
  seen.bad = await page.locator('.share').textContent();
  await page.getByLabel('Find').fill('');
}

async function zoom(page) {
  const flame = page.getByRole('application');
  await page.locator('.flame canvas').click({position: {x: 100, y: 19 * 2 + 9}});
  seen.zoomed = [await flame.getAttribute('data-zoom'), await page.locator('.detail b').textContent()];
  await page.keyboard.press('Backspace');
  seen.unzoomed = await flame.getAttribute('data-zoom');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  seen.keyed = await flame.getAttribute('data-zoom');
  await page.keyboard.press('Backspace');
}

async function filter(page) {
  const bounds = await page.locator('.lanes').boundingBox();
  const at = share => bounds.x + bounds.width * share;
  await page.mouse.move(at(0.25), bounds.y + 40);
  await page.mouse.down();
  await page.mouse.move(at(0.5), bounds.y + 40, {steps: 3});
  await page.mouse.up();
  seen.dragged = [await sum(page), await page.locator('#from').inputValue(), await page.locator('#to').inputValue()];
  await page.getByRole('button', {name: 'Show all'}).click();
  seen.halves = [];
  for (const [from, to] of [['0', middle], [String(Number(middle) + elapsed / 4000), '']]) {
    await page.locator('#from').fill(from);
    await page.locator('#to').fill(to);
    await page.locator('#to').blur();
    seen.halves.push(await sum(page));
    await page.getByRole('button', {name: 'Show all'}).click();
  }
}

async function choose(page) {
  const option = await page.$$eval('#owner option', list => list.find(o => o.textContent.startsWith('render'))?.value);
  await page.locator('#owner').selectOption(option);
  seen.render = await sum(page);
  await page.getByRole('button', {name: 'Show all'}).click();
}

// What Tab does not come to, of all that a pointer can use.
async function reach(page) {
  const controls = () => [...document.querySelectorAll('#page :is(button, select, input, [tabindex="0"])')].filter(one => one.tabIndex >= 0 && one.checkVisibility());
  const count = await page.evaluate(`(${controls})().length`);
  await page.evaluate(() => { document.activeElement?.blur(); window.reached = new Set(); });
  for (let i = 0; i <= count; i++) {
    await page.keyboard.press('Tab');
    await page.evaluate(() => window.reached.add(document.activeElement));
  }
  return page.evaluate(`(${controls})().filter(one => !window.reached.has(one)).map(one => one.outerHTML.slice(0, 80))`);
}

async function audit(path, theme, size, names) {
  const page = await open(path, {audit: true, colorScheme: theme, viewport: size});
  await page.addScriptTag({content: axe});
  seen.overflow = Math.max(seen.overflow ?? 0, await page.evaluate(() => document.documentElement.scrollWidth - innerWidth));
  for (const name of names ?? await page.$$eval('[role=tab]', list => list.map(one => one.textContent))) {
    await tab(page, name);
    const found = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
    for (const one of found.violations.filter(v => ['serious', 'critical'].includes(v.impact)))
      seen.axe.push(`${theme} ${size.width} ${name}: ${one.id}: ${one.nodes[0].html.slice(0, 120)}`);
    seen.tabs.push(name);
    if (size.width > 700)
      seen.unreached.push(...await reach(page));
  }
  seen[theme] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.context().close();
}

// The page of differences: its table, what its boxes say, and their colours.
async function compare(page) {
  const diff = {functions: await rows(page), boxes: {}, colours: {}};
  await tab(page, 'Call Tree');
  diff.tree = await rows(page);
  await tab(page, 'Flame Graph');
  const flame = page.getByRole('application');
  await flame.focus();
  for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'ArrowDown'])
    await page.keyboard.press(key);
  for (let i = 0; i < 12; i++) {
    const words = await page.locator('.detail').textContent();
    const name = (await page.locator('.detail b').textContent()).replace(/^\S /, '');
    if (name in diff.boxes)
      break;
    diff.boxes[name] = words;
    await page.keyboard.press('ArrowRight');
  }
  // Siblings stand in the order of their new time. Names are at the left of a box: its right end has the colour.
  const wide = await page.locator('.flame canvas').evaluate((canvas, order) => {
    const context = canvas.getContext('2d');
    const scale = canvas.width / canvas.clientWidth;
    return order.map(([name, right]) => [name, [...context.getImageData((right * canvas.clientWidth - 6) * scale, (3 * 19 + 15) * scale, 1, 1).data]]);
  }, ends(diff));
  diff.colours = Object.fromEntries(wide);
  diff.elements = await page.$$eval('#page script, #page img, #page b.own', list => list.length);
  diff.owned = await page.evaluate(() => window.owned ?? null);
  return diff;
}

// Where each box ends, as part of the width.
function ends(diff) {
  const times = Object.entries(diff.boxes).map(([name, words]) => [name, Number(words.match(/ ([0-9.]+) s, base/)[1])]);
  const whole = times.reduce((sum, [, time]) => sum + time, 0);
  let at = 0;
  return times.map(([name, time]) => [name, (at += time) / whole]);
}

const page = await open(page_path, {viewport: {width: 1280, height: 800}});
seen.ready_ms = Number(await page.getAttribute('html', 'data-ready'));
await look(page);
await find(page);
await zoom(page);
await choose(page);
await filter(page);
await page.context().close();
await audit(page_path, 'light', {width: 1280, height: 800});
await audit(page_path, 'dark', {width: 390, height: 844}, ['Summary', 'Flame Graph', 'Top-Down', 'Utilization']);

await audit(diff_path, 'light', {width: 1280, height: 800});
await audit(diff_path, 'dark', {width: 390, height: 844});
seen.diff = await compare(await open(diff_path, {viewport: {width: 1280, height: 800}}));

seen.hostile = [];
for (const path of hostile_paths) {
  const hostile = await open(path, {});
  const functions = await rows(hostile);
  await tab(hostile, 'Threads');
  const threads = await rows(hostile);
  await tab(hostile, 'Source Lines');
  const lines = await hostile.locator('#panel').textContent();
  await tab(hostile, 'Flame Graph');
  await hostile.locator('.flame canvas').hover({position: {x: 20, y: 19 * 2 + 9}});
  seen.hostile.push({functions, threads, lines, labels: await hostile.locator('.timeline').count() ? await hostile.locator('.timeline .labels').textContent() : '',
    elements: await hostile.$$eval('#page script, #page img, #page b.own', list => list.length),
    owned: await hostile.evaluate(() => window.owned ?? null)});
}
await browser.close();
console.log(JSON.stringify(seen));
