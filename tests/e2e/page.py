"""tbreport --format html in Chromium: the page's figures against the CSV of the reports, search, zoom and filters, both themes, what axe
finds, and names that are no markup."""

import csv
import io
import json
import os
import shutil
import stat
import subprocess

import support
from support import check, collect_well, report, section, summary, target

VIEWER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools', 'viewer')
SCRIPT = '<script>window.owned=1</script>'
HOSTILE = [SCRIPT, '</script><img src=x onerror=window.owned=2>', '\u009b31mred', "<b class='own'>bold</b>", '&amp &lt "\'', '\u202edlrow']
# A thread and a file with such names; the first is cut to 15 bytes by the kernel.
PROGRAM = """
#include <sys/prctl.h>
#include <time.h>
#line 1 "<img src=x onerror=window.owned=3>.c"
volatile unsigned long spun;
int main(void)
{
  prctl(PR_SET_NAME, "<b class=own>\\033[");
  while (clock() < CLOCKS_PER_SEC / 5)
    for (int i = 0; i < 100000; i++) spun++;
}
"""


def shown(ms):
  """As the page writes seconds."""
  return float(ms.split()[0])


def close(a, b):
  """Equal to the millisecond that the page shows."""
  return abs(a - b) <= 0.00101


def write_page(result):
  path = support.scratch(os.path.basename(result) + '.html')
  support.run_tool('tbreport', '--format', 'html', '-o', path, result)
  return path


def hostile_result():
  """Stacks of functions with such names."""
  path = support.scratch('hostile.folded')
  with open(path, 'w', encoding='utf-8') as file:
    for i, name in enumerate(HOSTILE):
      file.write(f'program;main;{name} {(i + 1) * 100}\n')
  result = support.new_result()
  support.run_tool('tbconvert', 'import', '-r', result, path)
  return result


def hostile_program():
  source = support.scratch('named.c')
  with open(source, 'w') as file:
    file.write(PROGRAM)
  program = support.scratch('named')
  subprocess.run(['gcc', '-g', '-O1', '-o', program, source], check=True)
  return collect_well([program], options=['-c', 'concurrency']).result


def diff_results():
  """Two sides of folded stacks: render slower, hash faster, one function gone and one new, one of a hostile name; the others as they were."""
  base = {f'same_{i}': 4000 for i in range(5)} | {'render': 4000, 'hash': 3000, 'old': 900, SCRIPT: 1000}
  new = base | {'render': 6000, 'hash': 2000, 'fresh': 800}
  del new['old']
  results = []
  for side in (base, new):
    path = support.scratch(f'side_{len(results)}.folded')
    with open(path, 'w') as file:
      file.writelines(f'program;main;run;{name} {samples}\n' for name, samples in side.items())
    results.append(support.new_result())
    support.run_tool('tbconvert', 'import', '-r', results[-1], path)
  return results


def write_diff_page(results):
  path = support.scratch('diff.html')
  support.run_tool('tbreport', 'diff', '--format', 'html', '-o', path, *results)
  return path


def check_diff(seen, results):
  text = support.run_tool('tbreport', 'diff', '--format', 'csv', *results).stdout
  rows = list(csv.DictReader(io.StringIO(text)))[1:]
  mine = {row[6]: row for row in seen['functions']}
  number = lambda words: float(words.split()[0].replace('\u2212', '-'))
  for row in rows:
    own = mine[row['Function']]
    check(all(close(number(own[i]), float(row[name])) for i, name in enumerate(('Base CPU Time', 'CPU Time', 'Difference'))) and
          (own[3] == '–') == (row['Change'] == '') and (own[3] == '–' or abs(number(own[3]) - 100 * float(row['Change'])) < 0.051) and
          own[5].split()[-1:] == row['Verdict'].split() and own[8] == f'{row["Base Samples"]}, {row["Samples"]}',
          f'{row["Function"]}: figures of the diff page as in the CSV', f'{own}, {row}')
  check({row['Function']: row['Verdict'] for row in rows if row['Verdict']} == {'render': 'slower', 'hash': 'faster', 'old': 'gone', 'fresh': 'new'} and
        len(mine) == len(rows), 'what differs has its verdict', text)
  check(seen['boxes']['render'].find('▲') == 0 and 'slower' in seen['boxes']['render'] and 'faster' in seen['boxes']['hash'] and
        'chance' in seen['boxes']['same_0'], 'boxes are marked and described', seen['boxes'])
  reds = {name: colour[0] - colour[2] for name, colour in seen['colours'].items()}
  check(reds['render'] > 40 and reds['hash'] < -40 and abs(reds['same_0']) < 12, 'red is slower, blue faster, grey neither', seen['colours'])
  check(seen['tree'][0][:3] == ['289.000 s', '298.000 s', '+9.000 s'] and 'main' in seen['tree'][0][3], 'the call tree has both sides', seen['tree'])
  check(seen['owned'] is None and seen['elements'] == 0, 'names are no markup in the diff page', seen['elements'])


def browse(chromium, result, diff_page, *hostile):
  got = subprocess.run(['node', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'page.mjs'), VIEWER, chromium, str(summary(result)['elapsed_s']),
                        write_page(result), diff_page, *map(write_page, hostile)], capture_output=True, text=True, timeout=support.HANGS_S)
  check(got.returncode == 0, 'the page was walked through', got.stderr[-2000:])
  return json.loads(got.stdout) if got.returncode == 0 else None


def check_file(result):
  path = write_page(result)
  size = os.path.getsize(path)
  with open(path, encoding='utf-8') as file:
    page = file.read()
  check(size < 3e6, 'the page is small', f'{size} bytes')
  check('http://' not in page and 'https://' not in page.split('<script>')[0],
        'the page names no place to load from')
  check("default-src 'none'" in page and 'unsafe' not in page.split('<style>')[0], "the page's policy allows its own style and script only")
  check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, 'the page is for its owner')


def check_figures(seen, result):
  rows = report(result, 'hotspots')[:5]
  mine = {row[4]: (shown(row[0]), shown(row[3])) for row in seen['functions']}
  for row in rows:
    check(close(mine[row['Function']][0], float(row['CPU Time'])), f'CPU time of {row["Function"]} as in the CSV',
          f'{mine[row["Function"]][0]}, {row["CPU Time"]}')
  threads = {row[3]: row for row in seen['threads']}
  for row in report(result, 'threads'):
    if not row['TID']:
      continue  # of no known thread
    check(close(shown(threads[row['TID']][0]), float(row['CPU Time'])), f'CPU time of thread {row["Thread"]} as in the CSV',
          f'{threads[row["TID"]][0]}, {row["CPU Time"]}')
    check(close(shown(threads[row['TID']][8]), float(row['Wait Time'])), f'wait time of thread {row["Thread"]} as in the CSV',
          f'{threads[row["TID"]][8]}, {row["Wait Time"]}')
  levels = {row[0]: shown(row[1]) for row in seen['levels']}
  for row in report(result, 'utilization'):
    check(close(levels[row['Simultaneously Utilized Logical CPUs']], float(row['Elapsed Time'])), 'elapsed time by CPUs as in the CSV',
          f'{levels}, {row}')
  # The page has no row of what threads' states alone tell.
  waits = [row for row in report(result, 'waits') if row['Sync Object'] not in ('[Short waits]', '[Short and unseen waits]')]
  check(sum(int(row[3]) for row in seen['waits']) == sum(int(row['Wait Count']) for row in waits), 'as many waits as in the CSV',
        f'{seen["waits"]}, {waits}')
  most = waits[0]
  check(any(row[4] == most['Sync Object'] and close(shown(row[0]), float(most['Wait Time'])) for row in seen['waits']),
        'wait time of the first object as in the CSV', f'{seen["waits"][:1]}, {most["Wait Time"]}')


def check_lines(seen, result):
  """Lines of the hottest function with their text, and others around them."""
  name = seen['lines']['name']
  mine = {row[0]: row for row in seen['lines']['rows']}
  text = support.run_tool('tbreport', 'source', name, result, '--format', 'csv').stdout
  wanted = [row for row in csv.DictReader(io.StringIO(text)) if row['Line']]
  for row in wanted:
    own = mine[row['Line']]
    check(close(shown(own[1]), float(row['CPU Time:Self'])) and close(shown(own[4]), float(row['CPU Time:Total'])) and own[6] == row['Source'],
          f'line {row["Line"]} of {name} as in the CSV', f'{own}, {row}')
  around = [row for row in seen['lines']['rows'] if not row[1]]
  check(len(wanted) > 1 and around and any(row[6].strip() for row in around), 'lines around those with time have their text', f'{seen["lines"]["rows"][:3]}')


def check_ways(seen, result):
  hotspots = report(result, 'hotspots')
  whole = sum(float(row['CPU Time']) for row in hotspots)
  pixel = support.seconds(hotspots, Function='mandelbrot_pixel')
  share = float(seen['share'].split()[1])
  check(abs(share - 100 * pixel / whole) < 0.11, 'the share that a search matches', f'{share} %, {100 * pixel / whole:.2f} %')
  check(seen['bad'] == 'no regular expression', 'a broken search is said', seen['bad'])
  check(seen['zoomed'] == ['2', 'stage_run'] and seen['unzoomed'] == '1', 'a click zooms in, Backspace out', f'{seen["zoomed"]} {seen["unzoomed"]}')
  check(seen['keyed'] == '1', 'keys zoom', seen['keyed'])
  check(seen['tree'][1] < seen['tree'][0], 'a key closes a row of the tree', f'{seen["tree"]}')
  render = next(float(row['CPU Time']) for row in report(result, 'threads') if row['Thread'] == 'render')
  check(close(shown(seen['render']), render), 'of one thread, its CPU time', f'{seen["render"]}, {render}')
  total = summary(result)
  halves = [shown(half) for half in seen['halves']]
  check(min(halves) > 0 and abs(sum(halves) - whole) < 0.02 * whole + 0.002, 'two halves of the run make up the whole', f'{halves}, {whole:.3f}')
  dragged = [shown(seen['dragged'][0])] + [float(text) for text in seen['dragged'][1:]]
  check(0 < dragged[0] < whole and abs(dragged[1] - total['elapsed_s'] / 4) < 0.02 * total['elapsed_s'] and
        abs(dragged[2] - total['elapsed_s'] / 2) < 0.02 * total['elapsed_s'], 'a dragged range filters', f'{seen["dragged"]}, {total["elapsed_s"]}')


def check_look(seen):
  check(seen['errors'] == [], 'no error, nothing refused by the policy', f'{seen["errors"]}')
  check(all(url.startswith('file:') for url in seen['requests']), 'no request but for the file', f'{seen["requests"]}')
  check(len(seen['tabs']) == 19 and seen['axe'] == [], 'axe finds nothing serious in either theme', '\n'.join(seen['axe']))
  check(seen['unreached'] == [], 'Tab comes to all that can be used', f'{seen["unreached"]}')
  check(seen['overflow'] <= 0, 'nothing is wider than the screen', seen['overflow'])
  check(seen['light'] != seen['dark'], 'both themes', f'{seen["light"]}, {seen["dark"]}')


def check_hostile(stacks, program):
  names = {row[4] for row in stacks['functions']}
  for page in (stacks, program):
    check(page['owned'] is None and page['elements'] == 0, 'names are no markup', f'{page["owned"]}, {page["elements"]} elements')
  check({SCRIPT, HOSTILE[1], HOSTILE[3], HOSTILE[4]} <= names, 'names of functions are shown as they are', f'{names}')
  check({'\\x9b31mred', '\\x202edlrow'} <= names, 'what controls terminals or turns text around is made visible', f'{names}')
  threads = {row[2] for row in program['threads']}
  check('<b class=own>\\x1b[' in threads and '<b class=own>\\x1b[' in program['labels'], 'a name of a thread is shown as it is', f'{threads}')
  check('<img src=x onerror=window.owned=3>.c' in program['lines'], 'a name of a file is shown as it is', program['lines'][:200])


def write_wide(path):
  """100,000 nodes: 1000 functions that call 99 others each, of times that differ. Returns the share of the callees that match."""
  matching = whole = 0
  with open(path, 'w') as file:
    for i in range(1000):
      for k in range(99):
        samples = 1 + (i * 7 + k * 13) % 50
        file.write(f'program;caller_{i};callee_{k}_{i % 10} {samples}\n')
        whole += samples
        matching += samples if str(k).startswith('4') else 0
  return matching / whole


def check_size(chromium):
  """Of many nodes only those are made that are seen. Times are the bench's: tests/bench/page."""
  folded, result = support.scratch('wide.folded'), support.new_result()
  share = write_wide(folded)
  support.run_tool('tbconvert', 'import', '-r', result, folded)
  done = subprocess.run(['node', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'page_size.mjs'), VIEWER, chromium, write_page(result), '^callee_4'],
                        capture_output=True, text=True, timeout=support.HANGS_S)
  check(done.returncode == 0, 'a page of 100,000 nodes was walked through', done.stderr[-2000:])
  seen = json.loads(done.stdout) if done.returncode == 0 else {'elements': {'': 0}, 'boxes': 0, 'share': 'none none'}
  check(0 < max(seen['elements'].values()) < 3000, 'of all rows those are made that are shown', seen['elements'])
  # A caller has 1.3 pixels, a callee none; one box is the whole.
  check(seen['boxes'] == 1001, 'of all boxes those are made that are wide enough', seen['boxes'])
  check(abs(float(seen['share'].split()[1]) - 100 * share) < 0.06, 'the share of many functions that a search matches', f'{seen["share"]}, {share:.4f}')


def main():
  support.start()
  chromium = shutil.which('chromium')
  if subprocess.run([support.tool('tbreport'), '--format', 'html', '-o', support.scratch('none.html'), support.Run.work],
                    capture_output=True, text=True).stderr.find('built without the page') >= 0 or not chromium or \
     not os.path.isdir(os.path.join(VIEWER, 'node_modules', 'playwright-core')):
    support.skip('the page in a browser', 'needs node, tools/viewer/node_modules (npm ci) and chromium')
    support.finish()
  with section('page'):
    result = collect_well([target('demo'), '1'], options=['-c', 'locks-and-waits']).result
    check_file(result)
    sides = diff_results()
    seen = browse(chromium, result, write_diff_page(sides), hostile_result(), hostile_program())
    if seen:
      check_figures(seen, result)
      check_lines(seen, result)
      check_diff(seen['diff'], sides)
      check_ways(seen, result)
      check_look(seen)
      check_hostile(*seen['hostile'])
  with section('size'):
    check_size(chromium)
  support.finish()


main()
