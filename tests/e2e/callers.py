"""tbreport callers, the condition on the stack, and parts of a run: against perf's own reading of the stacks."""

import collections
import csv
import io
import re
import subprocess

import support as s
from support import check

MODES = ('--call-stack-mode', 'all', '--inline', 'off')


def samples_of(result, name, *options):
  """[(ns, [function] from the leaf)] as perf script shows an export."""
  data = s.scratch(name)
  s.run_tool('tbconvert', 'export', '--to', 'perf', '-o', data, *MODES[2:], *options, result)
  found = []
  for line in subprocess.run(['perf', 'script', '-i', data, '-F', 'period,ip,sym', '--no-inline'], check=True, capture_output=True,
                             text=True, timeout=120).stdout.splitlines():
    frame = re.match(r'\s+[0-9a-f]+ (.*)$', line)
    if re.match(r'\s*\d+\s*$', line):
      found.append((int(line), []))
    elif frame:
      found[-1][1].append(frame.group(1).strip())
  return found


OWN = ('main', 'stage_run', 'render_picture', 'mandelbrot_pixel', 'sort_numbers', 'compare_numbers', 'hash_messages', 'hash_bytes')


def place(name):
  """libc has several names of a function, of which perf takes others."""
  return name if name in OWN or name == '[No caller]' else 'libc'


def relations(samples, function):
  """{(role, function): [total, self]} in ns of one function, a stack counted once in each."""
  found = collections.defaultdict(lambda: [0, 0])
  for ns, names in samples:
    seen = set()
    for i, name in enumerate(names):
      if name != function:
        continue
      caller = names[i + 1] if i + 1 < len(names) else '[No caller]'
      places = [('function', function, i == 0), ('caller', place(caller), i == 0)]
      if i > 0:
        places.append(('callee', place(names[i - 1]), i == 1))
      for role, other, is_self in places:
        found[role, other][0] += 0 if (role, other) in seen else ns
        found[role, other][1] += ns if is_self else 0
        seen.add((role, other))
  return found


def check_callers(result, samples, function):
  text = s.run_tool('tbreport', 'callers', function, result, '--format', 'csv', *MODES).stdout
  rows = list(csv.DictReader(io.StringIO(text)))
  expected = relations(samples, function)
  seen = collections.defaultdict(lambda: [0.0, 0.0])
  for row in rows:
    key = row['Role'], place(row['Function'])
    seen[key] = [seen[key][0] + float(row['CPU Time:Total']), seen[key][1] + float(row['CPU Time:Self'])]
  # perf's periods are whole ns of each sample, ours us of each row.
  off = {key: (seen.get(key), [ns / 1e9 for ns in expected[key]]) for key in set(seen) | set(expected)
         if key not in seen or key not in expected or any(abs(a - b / 1e9) > 1e-5 for a, b in zip(seen[key], expected[key]))}
  check(len(rows) >= 2 and not off, f'callers {function}: the rows are those that perf script shows', f'{len(rows)} rows, off {off}')


def hit_seconds(rows):
  """Without time that no sample stands for."""
  return sum(float(row['CPU Time']) for row in rows if row['Function'] not in (s.KERNEL, '[No sample]'))


def check_conditions(result, samples):
  rows = s.report(result, 'hotspots', *MODES, '--filter', 'stack=sort_numbers')
  inside = sum(ns for ns, names in samples if 'sort_numbers' in names) / 1e9
  check(inside > 0 and abs(hit_seconds(rows) - inside) < 1e-5, 'filter stack: the time of the stacks with the function',
        f'{hit_seconds(rows):.6f} of {inside:.6f} s')


def check_parts(result):
  """The parts of a run are the run, and each has its own time."""
  elapsed = s.summary(result)['elapsed_s']
  cuts = ['0s', f'{elapsed / 3:.6f}s', f'{elapsed / 2:.6f}s', f'{elapsed + 1:.6f}s']
  whole = hit_seconds(s.report(result, 'hotspots'))
  parts = [hit_seconds(s.report(result, 'hotspots', '--from', first, '--to', last)) for first, last in zip(cuts, cuts[1:])]
  check(min(parts) > 0 and abs(sum(parts) - whole) < 1e-4, 'the parts of a run add up to it', f'{parts} of {whole:.6f} s')
  middle = sum(ns for ns, names in samples_of(result, 'part.data', '--from', cuts[1], '--to', cuts[2]) if names) / 1e9
  check(abs(middle - parts[1]) < 1e-5, 'a part of the run is that of perf', f'{parts[1]:.6f} of {middle:.6f} s')


def main():
  s.start()
  got = s.collect_well([s.target('demo'), '1'])
  samples = samples_of(got.result, 'callers.data')
  for function in ('stage_run', 'sort_numbers', 'compare_numbers', 'mandelbrot_pixel'):
    with s.section(function):
      check_callers(got.result, samples, function)
  with s.section('conditions'):
    check_conditions(got.result, samples)
  with s.section('parts'):
    check_parts(got.result)
  s.finish()


if __name__ == '__main__':
  main()
