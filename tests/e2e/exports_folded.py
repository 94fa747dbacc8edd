"""tbconvert export --to folded on three real results: the lines against tbreport's samples, call trees and threads."""

import collections
import re

import support as s
import timeline_exports

# What folded stacks leave to other reports: time in no sample, and of no known thread.
SAMPLELESS = {'[No sample]', '[No known thread]'}
LINE = re.compile(r'([^\x00-\x1f\x7f]+) ([1-9]\d*)')


def folded(what, result, *options):
  """{(process, ..., leaf): count}; each line is well formed, and stands once and in its place."""
  text = s.run_tool('tbconvert', 'export', '--to', 'folded', '-o', '-', *options, result).stdout
  lines = text.split('\n')
  last = lines.pop()
  matches = [LINE.fullmatch(line) for line in lines]
  stacks = [match[1] for match in matches if match]
  good = last == '' and all(matches) and stacks == sorted(set(stacks), key=lambda stack: stack.encode())
  if not good or not stacks:
    s.check(False, f'{what}: lines {options}', [line for line, match in zip(lines, matches) if not match][:3] or f'{len(lines)} lines')
  return {tuple(match[1].split(';')): int(match[2]) for match in matches}


def shown(name):
  """A name of a report as lines have it; CSV has an apostrophe in front of what a spreadsheet would take for a formula."""
  return re.sub('[\x00-\x1f\x7f]', '?', re.sub(r"^'(?=[=+\-@])", '', name)).replace(';', ':')


def sums(pairs):
  found = collections.Counter()
  for key, count in pairs:
    found[key] += count
  return +found


def leaves(stacks):
  return sums((stack[-1], count) for stack, count in stacks.items())


def sampled(result, *options):
  """{function: samples} by tbreport; whether the kernel was sampled, else its time counts as samples in folded stacks."""
  rows = s.report(result, 'hotspots', '--call-stack-mode', 'all', *options)
  found = sums((shown(row['Function']), int(row['Samples'])) for row in rows if row['Function'] not in SAMPLELESS)
  return found, found[s.KERNEL] > 0


def without_kernel(counts):
  return {key: count for key, count in counts.items() if s.KERNEL not in (key, key[-1])}


def difference(seen, expected):
  return [(key, seen.get(key), expected.get(key)) for key in {*seen, *expected} if seen.get(key) != expected.get(key)][:3]


def check_leaves(what, result, *options):
  """The samples of each function; returns the lines."""
  stacks = folded(what, result, *options)
  expected, has_kernel = sampled(result, *options)
  seen = leaves(stacks)
  if not has_kernel:
    seen, expected = without_kernel(seen), without_kernel(expected)
  wrong = difference(seen, expected)
  s.check(not wrong and sum(seen.values()) > 0, f'{what}: {sum(seen.values())} samples of {len(seen)} functions {options}', wrong or '')
  return stacks


def call_tree(result, *options):
  """{(root, ..., leaf): seconds of its own}"""
  times, stack = collections.Counter(), []
  for row in s.report(result, 'top-down', '--call-stack-mode', 'all', *options)[1:]:
    name = row['Function Stack']
    depth = len(name) - len(name.lstrip(' ')) - 1
    stack = stack[:depth] + [shown(name.strip(' '))]
    if stack[0] not in SAMPLELESS:
      times[tuple(stack)] += float(row['CPU Time:Self'])
  return times


def check_call_trees(what, result):
  """CPU time of each stack of each process."""
  pids = sorted({row['PID'] for row in s.report(result, 'threads') if row['TID']})
  worst, count = 0, 0
  for pid in pids:
    options = ['--filter', f'pid={pid}']
    stacks = folded(what, result, '--weight', 'cpu', *options)
    seen = sums((stack[1:], us) for stack, us in stacks.items())
    expected = call_tree(result, *options)
    count += len(seen)
    worst = max([worst, *(abs(seen.get(stack, 0) - 1e6 * expected.get(stack, 0)) for stack in {*seen, *expected})])
  # Lines and rows are rounded to us, each of them; a recursion of several names may be rows of its own.
  s.check(worst <= 2 and count > 0, f'{what}: CPU time of {count} stacks in {len(pids)} processes', f'off by at most {worst:.1f} us')


def check_processes(what, result, stacks):
  _, has_kernel = sampled(result)
  rows = s.report(result, 'hotspots', '--group-by', 'process')
  seen = sums((stack[0], count) for stack, count in stacks.items() if has_kernel or stack[-1] != s.KERNEL)
  expected = sums((shown(row['Process']), int(row['Samples'])) for row in rows if row['Process'] not in SAMPLELESS)
  s.check(seen == expected, f'{what}: samples of processes', f'{dict(seen)} {dict(expected)}')


def check_threads(what, result, stacks):
  _, has_kernel = sampled(result)
  by_thread = folded(what, result, '--threads')
  seen = sums((stack[:2], count) for stack, count in by_thread.items() if has_kernel or stack[-1] != s.KERNEL)
  expected = sums(((shown(row['Process']), shown(f'{row["Thread"]}-{row["TID"]}')), int(row['Samples']))
                  for row in s.report(result, 'threads') if row['TID'])
  s.check(seen == expected, f'{what}: samples of {len(seen)} threads', difference(seen, expected))
  joined = without_kernel(sums(((stack[0], *stack[2:]), count) for stack, count in by_thread.items()))
  s.check(joined == without_kernel(stacks), f'{what}: without the threads, the same stacks', difference(joined, without_kernel(stacks)))


def check_parts(what, result, stacks):
  """Two parts of the run are the whole."""
  middle = f'{s.summary(result)["elapsed_s"] / 2:.6f}s'
  parts = [without_kernel(folded(what, result, option, middle)) for option in ('--to', '--from')]
  joined = sums((stack, count) for part in parts for stack, count in part.items())
  s.check(all(parts) and joined == without_kernel(stacks), f'{what}: two parts of the run are the whole',
          f'{[sum(part.values()) for part in parts]} {difference(joined, without_kernel(stacks))}')


def check_result(what, result):
  stacks = check_leaves(what, result)
  check_leaves(what, result, '--inline', 'off')
  check_processes(what, result, stacks)
  check_call_trees(what, result)
  check_threads(what, result, stacks)
  check_parts(what, result, stacks)
  return stacks


def check_inlined(result, stacks):
  compiled = folded('threads', result, '--inline', 'off')
  inlined = [stack for stack in stacks if 'mix' in stack]
  s.check(inlined and all(stack[stack.index('mix') - 1].startswith('work<') for stack in inlined) and not any('mix' in stack for stack in compiled),
          'threads: inlined functions, and none without', inlined[:1])
  own = folded('threads', result, '--filter', 'function=mix')
  s.check(own == {stack: count for stack, count in stacks.items() if stack[-1] == 'mix'}, 'threads: a filter by function', len(own))


def check_generated(stacks):
  inner = [stack for stack in stacks if any(re.match(r'(JS|LazyCompile):.?inner ', frame) for frame in stack)]
  s.check(inner, 'generated code: the script\'s function', len(inner))


s.start()
for name, collect in timeline_exports.programs().items():
  with s.section(name):
    found = collect()
    lines = check_result(name, found)
    if name == 'threads':
      check_inlined(found, lines)
    elif name == 'generated code':
      check_generated(lines)
s.finish()
