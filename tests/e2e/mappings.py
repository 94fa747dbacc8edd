"""Programs that map much code: stacks stay whole, each mapping is noted, and what it costs the collector is
measured by what it costs the program. How little is looked at for each is the unit tests' (mapping, siblings)."""

import support as s

MANY = 20000
LIMIT = ['--overhead-limit', '5']  # the default one: stacks are left out where noting mappings costs too much


class Mapped:
  """A run of the target: what noting its mappings costs is seen beside one that has none to speak of."""

  def __init__(self, what, arguments, options=()):
    self.what = what
    got = s.collect_well([s.target('mappings'), *arguments], what=f'mappings {what}', options=options)
    total = s.summary(got.result)
    rows = s.report(got.result, 'hotspots')
    self.cost = total['collector']['cpu_s']
    self.made = s.seconds(rows) - s.number(got.truth(), 'burn_ns') / 1e9  # what making the mappings took
    self.kept = 1 - total['stacks']['skipped']['budget'] / total['samples']
    s.check(total['stacks']['complete'] >= 0.98 * self.kept * s.with_stack(total) > 0, f'{what}: stacks are whole',
            f'{total["stacks"]["complete"]} of {s.with_stack(total)}')
    s.check(s.seconds(rows, Function='mappings_burn') > 0.2, f'{what}: its function is found', rows[:1])

  def check_cost(self, few, count):
    cost = self.cost - few.cost
    s.check(cost < self.made, f'{self.what}: noting {count} mappings costs less than making them',
            f'{1e3 * cost:.1f} ms, made in {1e3 * self.made:.1f} ms')

  def check_kept(self, few):
    s.check(self.kept >= 0.9 * few.kept, f'{self.what}: stacks are kept as without', f'{self.kept:.3f}, {few.kept:.3f}')


s.start()
with s.section('few'):
  FEW = Mapped('one mapping', ['1', '300', '0'])
  LONG = Mapped('one mapping, with a limit', ['1', '2000', '0'], LIMIT)
for name, number in (('generated code', '0'), ('a file', '1')):
  with s.section(f'many of {name}'):
    Mapped(f'many of {name}', [str(MANY), '300', number]).check_cost(FEW, MANY)
  # The first second is free of any limit.
  with s.section(f'churn of {name}'):
    churn = Mapped(f'churn of {name}', ['0', '2000', number], LIMIT)
    churn.check_cost(LONG, 'some 10000')
    churn.check_kept(LONG)
s.finish()
