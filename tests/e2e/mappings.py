"""Programs that map much code: stacks stay whole, each mapping is noted, and what it costs the collector is
measured by what it costs the program. How little is looked at for each is the unit tests' (mapping, siblings)."""

import re

import support as s

MANY = 20000


def collector_seconds(result):
  """CPU time of the collector by its own account."""
  text = s.run_tool('tbreport', 'summary', result).stdout
  return float(re.search(r'Collector Cost: +([0-9.]+) s', text).group(1))


def collect(what, *arguments):
  got = s.collect_well([s.target('mappings'), *arguments], what=f'mappings {what}')
  total = s.summary(got.result)
  s.check(total['stacks']['complete'] >= 0.98 * total['samples'] > 0, f'{what}: stacks are whole',
          f'{total["stacks"]["complete"]} of {total["samples"]}')
  rows = s.report(got.result, 'hotspots')
  s.check(s.seconds(rows, Function='mappings_burn') > 0.2, f'{what}: its function is found', rows[:1])
  return got


def many(what, kind, few):
  got = collect(what, str(MANY), '300', kind)
  program = s.seconds(s.report(got.result, 'hotspots')) - s.number(got.truth(), 'burn_ns') / 1e9
  cost = collector_seconds(got.result) - few
  s.check(cost < 3 * program, f'{what}: noting {MANY} mappings costs less than three times what making them does',
          f'{cost:.3f} s, made in {program:.3f} s')


s.start()
with s.section('few'):
  FEW = collector_seconds(collect('one mapping', '1', '300', '0').result)
for name, number in (('generated code', '0'), ('a file', '1')):
  with s.section(f'many of {name}'):
    many(f'many of {name}', number, FEW)
  with s.section(f'churn of {name}'):
    collect(f'churn of {name}', '0', '300', number)
s.finish()
