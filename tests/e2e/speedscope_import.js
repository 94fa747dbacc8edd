// Runs the importer of the npm package speedscope: node speedscope_import.js PACKAGE/dist/release FILE
// Prints what the importer understood, as JSON. The package is a page's script: everything up to the page itself is run, with a
// stand-in for the browser, and the function behind "load this file" is called.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [release, file] = process.argv.slice(2);

function loadImporter() {
  const name = fs.readdirSync(release).find((entry) => /^speedscope-.*\.js$/.test(entry));
  const script = fs.readFileSync(path.join(release, name), 'utf8');
  const importer = /loadFileFromBase64:\(\w+,\w+\)=>\{this\.loadProfile\(\(\)=>(\w+)\(/.exec(script);
  const page = script.lastIndexOf('console.log(`speedscope v');
  if (!importer || page < 0) throw new Error('another speedscope than this test knows');
  const anything = new Proxy(function () {}, {
    get: (target, key) => key === Symbol.toPrimitive ? () => '' : key === Symbol.iterator ? undefined : anything,
    apply: () => anything,
    construct: () => anything,
    set: () => true,
  });
  const quiet = {log() {}, warn() {}, error() {}, assert() {}};
  const browser = {console: quiet, window: anything, document: anything, localStorage: anything, navigator: anything, setTimeout,
                   TextDecoder, TextEncoder, URL, WebAssembly, performance};
  browser.self = browser;
  vm.createContext(browser);
  vm.runInContext(`${script.slice(0, page)}globalThis.importFile = ${importer[1]};})();`, browser);
  return browser.importFile;
}

function describe(profile) {
  const own = {};
  const stacks = new Map();
  const stack = [];
  profile.forEachFrame((frame) => { own[frame.name] = (own[frame.name] || 0) + frame.getSelfWeight(); });
  profile.forEachCallGrouped((node) => {
    stack.push(node.frame.name);
    if (node.getSelfWeight() > 0) stacks.set(JSON.stringify(stack), [...stack]);
  }, () => stack.pop());
  return {name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), self: own,
          stacks: [...stacks.values()]};
}

async function main() {
  const group = await loadImporter()(path.basename(file), fs.readFileSync(file).toString('base64'));
  const answer = {name: group.name, active: group.indexToView, profiles: group.profiles.map(describe)};
  process.stdout.write(JSON.stringify(answer));
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
