"""One program's waits by the observer, by BPF and by the preloaded library: all three agree with the program, and with each
other. The summary's waiting objects are those of the report waits."""

import json
import re

import support as s

MODES = ['mutex=10x25', 'queue=10x25', 'rwlock=10x25', 'semaphore=10x25', 'barrier=10x25', 'pipe=10x25']
OBSERVER, BPF, LIBRARY = 'observer', 'BPF', 'library'
OPTIONS = {OBSERVER: ['--wait-source', 'observer'], BPF: ['--wait-source', 'bpf'], LIBRARY: ['--wait-source', 'observer', '--preload']}
TOP = 5


def lost(text, rows):
  """Waits of unknown objects, and without a record."""
  words = re.findall(r'^(\d+) waits? lost', text, re.MULTILINE)
  return sum(map(int, words)) + sum(int(row['Wait Count']) for row in rows if row['Sync Object'] == '[Not looked at]')


def of_fact(rows, fact):
  """Number and time of the waits for the fact's object, to the moment that the thread ran again."""
  name = f'{fact["type"]} {fact["object"]}'.strip()
  found = [row for row in rows if row['Sync Object'].startswith(name) and row['Function'] in (fact['function'], 'await')]
  return sum(int(row['Wait Count']) for row in found), sum(float(row['Wait Time']) + float(row['Ready Time']) for row in found)


def check_summary(source, got, rows):
  text = s.run_tool('tbreport', 'summary', got.result).stdout
  table = text.split('\nTop Waiting Objects\n')[1].split('\n\n')[0].splitlines()[1:]
  seen = [(float(words[0]), int(words[4]), words[5]) for words in (line.split(None, 5) for line in table)]
  wanted = [(round(float(row['Wait Time']), 3), int(row['Wait Count']), row['Sync Object']) for row in rows
            if not row['Sync Object'].startswith('[Short')][:TOP]
  alike = len(seen) == len(wanted) == TOP and all(
      one[1:] == other[1:] and abs(one[0] - other[0]) <= 0.0011 for one, other in zip(seen, wanted))
  s.check(alike, f'{source}: the summary has the first {TOP} waiting objects', seen)


def run(source):
  """{type: part of the program's own time that the source says}"""
  got = s.collect_well([s.target('waiting'), *MODES], what=source, options=['-c', 'locks-and-waits', *OPTIONS[source]], interval='10ms')
  rows = s.report(got.result, 'waits')
  missing = lost(s.run_tool('tbreport', 'waits', got.result).stdout, rows)
  parts = {}
  for fact in (json.loads(line) for line in got.stdout.splitlines() if line.startswith('{')):
    count, time = of_fact(rows, fact)
    s.check(count >= 0.9 * fact['count'], f'{source}: {fact["mode"]}: most are seen', f'{count} of {fact["count"]}')
    s.check(fact['count'] - missing <= count <= fact['count'], f'{source}: {fact["mode"]} waits', f'{count} of {fact["count"]}, {missing} lost')
    if count > 0:
      s.check_ratio(f'{source}: {fact["mode"]} time', time, fact['time_s'] * count / fact['count'], 2, got.steal)
      parts[fact['type']] = time / (fact['time_s'] * count / fact['count'])
  check_summary(source, got, rows)
  return parts


def is_permitted():
  done = s.collect(['true'], options=['-c', 'locks-and-waits', *OPTIONS[BPF]])
  return 'CAP_BPF' not in done.stderr and 'built without BPF' not in done.stderr, done.stderr.strip()


s.start()
permitted, why = is_permitted()
if not permitted:
  s.skip('waits by BPF', why)
found = {}
for name in (OBSERVER, BPF, LIBRARY):
  if name != BPF or permitted:
    with s.section(name):
      found[name] = run(name)
for name, others in found.items():
  if name == OBSERVER:
    continue
  for kind in sorted(found.get(OBSERVER, {})):
    s.check(kind in others and abs(others[kind] / found[OBSERVER][kind] - 1) <= 0.02, f'{name} beside the observer: {kind}',
            f'{others.get(kind, 0):.4f}, {found[OBSERVER][kind]:.4f} of the program\'s time')
s.finish()
