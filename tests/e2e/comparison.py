"""Shares of functions and modules in a result against those in a perf.data of the same work.

What the host stole while tbcollect ran is in its accounts of threads, for an ordinary user in the row of the kernel (a tick that
comes late stands for one); perf counts samples, which show nothing of it."""

import collections
import re

import support as s


def bound(share):
  """Points: 1 of a share of 2 %, so that what is missing shows, and never more than 3."""
  return min(3, round(0.5 + share / 4, 2))


def one_name(function):
  """One of the names of functions that have several for one address, of which perf picks another."""
  return re.sub(r'^_*(GI_+)?(libc_|vdso_)?', '', function).replace('memcpy', 'memmove')


def our_shares(result, options):
  """({module: %}, {(function, module): %}) of the CPU time of the samples' leaves, and the number of samples."""
  modules, functions, count = collections.Counter(), collections.Counter(), 0
  for row in s.report(result, 'hotspots', '--inline', 'off', '--call-stack-mode', 'all', *options):
    if row['Function'] == '[No sample]':
      continue
    modules[row['Module']] += float(row['CPU Time'])
    functions[one_name(row['Function']), row['Module']] += float(row['CPU Time'])
    count += int(row['Samples'])
  return shares(modules), shares(functions), count


def perf_shares(data, apart):
  modules, functions = collections.Counter(), collections.Counter()
  for function, module in s.perf_samples(data, apart):
    modules[module] += 1
    functions[one_name(function), module] += 1
  return shares(modules), shares(functions), sum(modules.values())


def shares(counter):
  whole = sum(counter.values())
  return {key: s.points(count, whole) for key, count in counter.items()}


def compare(what, result, data, apart=False, options=(), stolen=0.0, drift=0.0, after=None):
  """options: of our report. apart: perf's samples in the kernel are one row, as they are where the kernel may not be sampled.
  stolen: see check_share. drift: points by which the program's own account of the two runs differs. after: perf's data of another run,
  behind ours: the machine's own change meanwhile is between the two."""
  modules, functions, count = our_shares(result, options)
  perf_modules, perf_functions, perf_count = perf_shares(data, apart)
  last_modules, last_functions, last_count = perf_shares(after, apart) if after else (perf_modules, perf_functions, perf_count)
  # As many as there would be with those in the kernel.
  drawn = count / (1 - modules.get(s.KERNEL, 0) / 100) if apart else count
  s.check(min(perf_count, last_count) >= 3000 and (apart or count >= 3000), f'{what}: samples', f'{count} here, {perf_count} in perf')
  # perf's names for what has no file differ; below 2 % neither list matters.
  big = {module for module, share in [*perf_modules.items(), *modules.items()] if share >= 2}

  def check(name, seen, first, last, larger):
    expected = min(max(seen, min(first, last)), max(first, last))
    most = max(bound(larger), s.points_by_chance(larger, drawn, perf_count))
    # Of runs that differ more than this nothing follows.
    if abs(first - last) > 2 * most:
      s.check(False, f'{what}: {name}: perf agrees with itself', f'{first:.2f} % and {last:.2f} %')
    s.check_share(f'{what}: {name}', seen, expected, most + drift, stolen=stolen)

  for module in sorted(big):
    seen, expected = modules.get(module, 0), perf_modules.get(module, 0)
    check(f'module {module}', seen, expected, last_modules.get(module, 0), max(seen, expected))
  # Functions that perf names; where it has no symbol it says [unknown].
  named = sorted((key for key, share in perf_functions.items() if share >= 2 and key[0] != '[unknown]'),
                 key=lambda key: -perf_functions[key])
  for key in named[:12]:
    check(f'{key[0]} of {key[1]}', functions.get(key, 0), perf_functions[key], last_functions.get(key, 0), perf_functions[key])
  return named
