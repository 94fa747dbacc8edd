// Makes the page without data: build.mjs FOLDER OUTPUT.c
//
// The policy in the page allows exactly this style and this script, by their hashes, and nothing from anywhere else.
import {createHash} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';

const folder = resolve(process.argv[2]);
const output = process.argv[3];
const {buildSync} = createRequire(join(folder, 'package.json'))('esbuild');
const MARK = '%DATA%';

function bundle(entry) {
  const result = buildSync({
    absWorkingDir: folder, entryPoints: [entry], bundle: true, minify: true, write: false,
    format: 'iife', target: 'es2022', charset: 'utf8', legalComments: 'inline', logLevel: 'warning',
  });
  const text = result.outputFiles[0].text;
  if (/<\/(script|style)|<!--/i.test(text))
    throw new Error(`${entry}: its text would end the element that it is in`);
  return text;
}

function hash(text) {
  return `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
}

// A replacement as it is: $ means nothing in it.
function put(page, mark, text) {
  const parts = page.split(mark);
  if (parts.length !== 2)
    throw new Error(`page.html: ${mark} is there ${parts.length - 1} times`);
  return parts.join(text);
}

function bytes(name, text) {
  const numbers = [...Buffer.from(text, 'utf8')];
  const lines = [];
  for (let i = 0; i < numbers.length; i += 32)
    lines.push('\t' + numbers.slice(i, i + 32).join(',') + ',');
  return `static const unsigned char ${name}[] = {\n${lines.join('\n')}\n};\n`;
}

const style = bundle('style.css');
const script = bundle('src/main.ts');
const policy = ["default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`,
  "base-uri 'none'", "form-action 'none'"].join('; ');
let page = readFileSync(join(folder, 'page.html'), 'utf8');
page = put(page, '%POLICY%', policy);
page = put(page, '%STYLE%', style);
page = put(page, '%SCRIPT%', script);
const parts = page.split(MARK);
if (parts.length !== 2)
  throw new Error(`page.html: ${MARK} is there ${parts.length - 1} times`);
writeFileSync(output, `/* Made by tools/viewer/build.mjs. */
#include "tools/page/page_template.h"

${bytes('before', parts[0])}
${bytes('after', parts[1])}
struct page_template page_template_get(void)
{
	return (struct page_template){before, sizeof(before), after, sizeof(after)};
}
`);
