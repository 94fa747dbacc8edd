"""A Go program with DWARF and without: the same stacks, as whole, under the same names, from Go's own table."""

import os

import support as s

# The outermost functions of goroutines and of threads.
ROOTS = {'runtime.goexit', 'runtime.rt0_go', 'runtime.clone', 'runtime.mstart'}
# Nearly all of the program's time is in these; square and mix have no code of their own.
ROUNDS = '1500'
FUNCTIONS = ['main.fib', 'main.mixAll', 'main.mix', 'main.square', 'main.deep', 'main.trade', 'main.(*shop).sell', 'main.(*shop).names',
             'main.(*shop).names.func1', 'sort.Slice', 'strconv.Itoa', 'main.main.func1']


def usual(frame):
  """With symbols, assembly's functions have their calling convention in their names."""
  return frame[:-len('.abi0')] if frame.endswith('.abi0') else frame


def is_of_c(frames):
  """Whether a thread that C started for the runtime's own work is not followed into C: its assembly there has no call frame information."""
  return s.marked(frames) and 'runtime.mstart' in frames[:4]


def profile(name):
  """Samples of each function, and of all, of a collection whose stacks are checked."""
  got = s.collect_well([s.target(name), ROUNDS], what=name)
  counts = s.summary(got.result)['stacks']
  stacks = [([usual(frame) for frame in frames], count) for frames, count in s.folded(got.result)]
  skipped = counts['skipped']
  apart = skipped['other_stack'] + s.samples_of([(frames, count) for frames, count in stacks if is_of_c(frames)])
  tried = counts['complete'] + counts['guessed'] + sum(skipped.values()) - apart
  s.check(counts['complete'] >= 500 and counts['complete'] >= 0.995 * tried, f'{name}: 99.5 % of the stacks are whole, but for other stacks',
          f'{counts["complete"]} of {tried}, {apart} more continue on another stack or in C; {skipped}')
  if '-c' not in name:
    wrong = [(frames, count) for frames, count in stacks
             if not s.marked(frames) and len(frames) > 1 and frames[1] not in ROOTS and not frames[1].startswith('[')]
    s.check(not wrong, f'{name}: every whole stack starts where goroutines and threads do', wrong[:3])
    unknown = [row['Function'] for row in s.report(got.result, 'hotspots') if '@0x' in row['Function'] and row['Module'] == f'target-{name}']
    s.check(not unknown, f'{name}: all functions have names', unknown[:5])
  return {function: s.samples_of(stacks, function) for function in FUNCTIONS}, s.samples_of(stacks)


s.start()
if os.path.exists(s.target('go')):
  for form in ('go', 'go-c'):
    known, known_total = profile(form)
    found, found_total = profile(f'{form}-stripped')
    missing = [function for function, count in known.items() if count >= 0.01 * known_total and not found[function]]
    s.check(not missing and sum(map(bool, known.values())) >= 9, f'{form}: the functions with 1 % of the time have their names when stripped',
            missing or found)
    for function in ('main.fib', 'main.mixAll', 'main.square'):
      share, expected = s.points(found[function], found_total), s.points(known[function], known_total)
      s.check(abs(share - expected) <= 5, f'{form}: {function} has its share when stripped', f'{share:.1f} %, {expected:.1f} % with DWARF')
else:
  s.skip('Go programs', 'golang-go is not installed')
s.finish()
