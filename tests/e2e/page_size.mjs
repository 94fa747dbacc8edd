// Opens a page of many nodes and says in JSON how much of it is made: page_size.mjs VIEWER CHROMIUM PAGE.html PATTERN
import {createRequire} from 'node:module';

const [viewer, executablePath, path, pattern] = process.argv.slice(2);
const {chromium} = createRequire(viewer + '/package.json')('playwright-core');
const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--disable-gpu']});
const page = await browser.newPage({viewport: {width: 1280, height: 800}});
await page.goto('file://' + path);
await page.waitForSelector('[data-ready]', {timeout: 120000});
const seen = {elements: {}};
for (const name of await page.$$eval('[role=tab]', list => list.map(one => one.textContent))) {
  await page.getByRole('tab', {name, exact: true}).click();
  seen.elements[name] = await page.evaluate(() => document.querySelectorAll('#page *').length);
}
await page.getByRole('tab', {name: 'Flame Graph'}).click();
seen.boxes = Number(await page.getAttribute('.flame', 'data-boxes'));
await page.getByLabel('Find').fill(pattern);
seen.share = await page.locator('.share').textContent();
await browser.close();
console.log(JSON.stringify(seen));
