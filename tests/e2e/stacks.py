"""Stacks against programs that know theirs: a chain, recursion, signal handlers, C++, static builds."""

import mmap
import os
import shutil
import subprocess

import support as s
from call_check import check_calls


def chain():
  """A sample that is whole and has none of the 40 functions is of the loader; all others count."""
  got = s.collect_well([s.target('chain'), '2000'], interval='0.5ms')
  expected = ['main'] + [f'chain_{i:02}' for i in range(1, 41)]
  inside = [(frames, count) for frames, count in s.folded(got.result)
            if s.marked(frames) or any(f in expected for f in frames)]
  total = sum(count for _, count in inside)
  exact = sum(count for frames, count in inside
              if [f for f in frames if f in expected] == expected
              and frames.index('chain_40') - frames.index('main') == 40)
  s.check(total >= 3000 and exact >= 0.999 * total, 'chain: 40 functions in order', f'{exact} of {total}')
  s.check(not s.false_roots(got.result, s.target('chain')), 'chain: no false root', s.root_seconds(got.result))


def recursion():
  got = s.collect_well([s.target('recurse'), '2000', '300'])
  stacks = s.folded(got.result)
  total = s.samples_of(stacks, 'recurse_bottom')
  s.check(total >= 800, 'recursion: samples', total)
  down = [(f, c) for f, c in stacks if 'recurse_down' in f]
  good = sum(c for f, c in down if f.count('recurse_down') == 2 and 'main' in f)
  s.check(good >= 0.99 * sum(c for _, c in down) > 0, 'recursion: A A A A B is kept as A A B',
          f'{good} of {sum(c for _, c in down)}')
  ping = [(f, c) for f, c in stacks if 'recurse_ping' in f or 'recurse_pong' in f]
  good = sum(c for f, c in ping if f.count('recurse_ping') == 2 and f.count('recurse_pong') == 2
             and 'main' in f)
  s.check(good >= 0.99 * sum(c for _, c in ping) > 0, 'recursion: A B A B A B C is kept as A B A B C',
          f'{good} of {sum(c for _, c in ping)}')

  got = s.collect_well([s.target('recurse'), '2000', '300'], interval='0.5ms',
                       options=['--no-collapse'])
  inside = [(f, c) for f, c in s.folded(got.result) if s.marked(f) or any(x.startswith('recurse_') for x in f)]
  total = sum(c for _, c in inside)
  good = sum(c for f, c in inside if 'main' in f and not s.marked(f)
             and (f.count('recurse_down') == 300 or f.count('recurse_ping') == f.count('recurse_pong') == 150))
  s.check(total >= 3000 and good >= 0.999 * total, 'recursion: --no-collapse keeps 300 levels', f'{good} of {total}')
  whole, samples = s.summary(got.result)['stacks']['complete'], s.with_stack(s.summary(got.result))
  s.check(whole >= 0.999 * samples, 'recursion: 300 levels are complete', f'{whole} of {samples}')


def is_whole(frames, functions):
  """Whether none of the functions is left out: on the program's way down it is in the first of them. main does not call fill."""
  seen = [frame for frame in frames if frame in functions]
  return seen == functions[:len(seen)] and frames[-2:] != ['main', 'fill']


def large_locals():
  """312 KB of stack are more than any copy holds: what is left out of it is said, and never is a frame a false root."""
  deep = ['main'] + [f'deep_{i:02}' for i in range(1, 14)]
  for touch, what in (('1', 'in memory'), ('0', 'with gaps')):
    for interval, least in (('10ms', 50), ('1ms', 500)):
      for options in ([], ['--unwind', 'copy']):
        name = ' '.join(['312 KB of stack', what, 'at', interval, *options])
        got = s.collect_well([s.target('deep_locals'), '1000', touch], interval=interval, options=options)
        stacks = s.folded(got.result)
        inside = sum(c for f, c in stacks if any(x in deep for x in f))
        s.check(inside >= least, f'{name}: samples of its functions', f'{inside} of {s.samples_of(stacks)}')
        wrong = s.false_roots(got.result, s.target('deep_locals'))
        s.check(not wrong, f'{name}: no false root', wrong or s.summary(got.result)['stacks'])
        # What is said to be complete, and what was guessed up to main, has all of the functions in order.
        rooted = [(f, c) for f, c in stacks if 'main' in f or not s.marked(f)]
        bad = [(f, c) for f, c in rooted if not is_whole(f, deep)]
        s.check(not bad, f'{name}: all 13 functions or none above the cut', bad[:2] or sum(c for _, c in rooted))


def resident_kb():
  with open('/proc/self/smaps', encoding='ascii') as file:
    return sum(int(line.split()[1]) for line in file if line.startswith('Rss:'))


def kernel_has_zeros():
  """Whether memory that is read, and never written, is the kernel's page of zeros."""
  before, size = resident_kb(), 4 << 20
  with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
    read = sum(memory[i] for i in range(0, size, mmap.PAGESIZE))
    return read == 0 and resident_kb() < before + size // 2048


def callers_in_turns():
  """Two callers of a function with an untouched page take turns at one place of the stack: what is read then is of the other's time."""
  got = s.collect_well([s.target('untouched'), '1500', '1', '3000'], options=['--unwind', 'copy'])
  stacks = s.folded(got.result)
  rooted = [(f, c) for f, c in stacks if 'untouched_down' in f and 'live' in f]
  wrong = sum(c for f, c in rooted if ('untouched_left' in f) != ('untouched_burn_left' in f))
  total = sum(c for f, c in stacks if 'untouched_down' in f)
  s.check(total >= 200 and wrong <= 0.02 * total, 'callers in turns: no caller of another time', f'{wrong} of {total} wrong')


def untouched_locals():
  """Arrays that were never written leave pages that end the kernel's copies. The target's memory stays as it is."""
  program = [s.target('untouched'), '1500', '2']
  alone = s.number(s.truth(subprocess.run([program[0], '100', '2'], capture_output=True, text=True, check=True).stdout), 'stack_kb')
  down = ['start_thread', 'live', 'untouched_down', 'untouched_down', 'untouched_burn']
  for options in ([], ['--unwind', 'copy']) if os.geteuid() == 0 else ([],):
    name = ' '.join(['untouched locals', *options])
    got = s.collect_well(program, options=[*options, '--no-collapse'])
    total, stacks = s.summary(got.result), s.folded(got.result)
    taken = s.number(got.truth(), 'stack_kb')
    s.check(taken == alone, f'{name}: the stacks take as much memory as without tbcollect', f'{taken} of {alone} KB')
    inside = [(f, c) for f, c in stacks if 'untouched_burn' in f and not any('Skipped' in x for x in f)]
    exact = sum(c for f, c in inside if [x for x in f if x in down] == down)
    if not options:
      check_calls(name, got.result, least=500)
    s.check(exact == s.samples_of(inside), f'{name}: both calls or a mark', f'{exact} of {s.samples_of(inside)}')
    by_bpf = os.geteuid() == 0 and not options
    complete, late = total['stacks']['complete'], int(s.report(got.result, 'quality')[0]['Late'])
    cut, due = total['stacks']['skipped']['untouched'], total['samples'] - total['stacks']['skipped']['budget']
    # Without BPF, all but the samples before the first readings: of the first fifth of a second, and five of each thread.
    s.check(complete >= (0.99 if by_bpf else 0.85 if kernel_has_zeros() else 0) * due, f'{name}: complete', total['stacks'])
    s.check(complete + late >= (0.99 if by_bpf else 0.8) * due, f'{name}: complete, or read from the target', f'{late} read, {total["stacks"]}')
    s.check(late == total['stacks']['guessed'], f'{name}: frames that were read are called so', f'{late} of {total["stacks"]["guessed"]}')
    s.check(complete + late + cut >= 0.99 * due, f'{name}: the cause has its name', total['stacks'])

  # What is larger than the copy is another cause.
  got = s.collect_well([s.target('deep_locals'), '700', '1'], options=['--unwind', 'copy'])
  total = s.summary(got.result)
  skipped = total['stacks']['skipped']
  s.check(skipped['truncated'] >= 0.95 * (total['samples'] - skipped['budget']) and skipped['untouched'] <= 0.03 * total['samples'],
          'untouched locals: a copy that is too small, but for the time of filling them', total['stacks'])


def signal_handlers():
  got = s.collect_well([s.target('altstack'), '2000'])
  stacks = s.folded(got.result)
  same = [(f, c) for f, c in stacks if 'handler_burn_same' in f]
  check_calls('signal', got.result, least=1000)
  total = sum(c for _, c in same)
  through = sum(c for f, c in same if 'handler_on_same_stack' in f and 'handler_victim' in f and 'main' in f
                and f.index('handler_victim') < f.index('handler_on_same_stack'))
  s.check(total >= 400 and through >= 0.99 * total, 'signal: through the handler to main',
          f'{through} of {total}')
  other = [(f, c) for f, c in stacks if 'handler_burn_alternate' in f]
  total = sum(c for _, c in other)
  joined = sum(c for f, c in other if ['main', 'handler_victim'] == [x for x in f if x in ('main', 'handler_victim')]
               and f.index('handler_victim') < f.index('handler_on_alternate_stack'))
  skipped = sum(c for f, c in other if 'main' not in f and any('Skipped' in x or 'Guessed' in x for x in f))
  # BPF copies both stacks.
  right = joined if os.geteuid() == 0 else skipped
  s.check(total >= 400 and right >= 0.99 * total, 'signal: the handler on an alternate stack',
          f'{joined} of {total} joined with what the signal interrupted, {skipped} said to be skipped')
  text = s.run_tool('tbreport', 'top-down', got.result, '--call-stack-mode', 'all').stdout
  s.check('[signal handler called]' in text and '__restore_rt' not in text, 'signal: the trampoline in a text report',
          [line for line in text.splitlines() if 'signal' in line or 'restore' in line][:3])
  s.check(any('__restore_rt' in f for f, _ in stacks), 'signal: the trampoline in an export')


def nested_signals():
  """Handlers on alternate stacks, interrupted by signals handled there, or on a second one; all in reach of a copy."""
  outer = ['nested_thread', 'nested_victim']
  inner = {
      'nested_burn_raised': ['handler_raises', 'nested_interrupt', 'handler_raised'],
      'nested_burn_tick': ['handler_burns', 'nested_burn_outer', 'handler_tick'],
      'nested_burn_apart': ['handler_leaves', 'nested_interrupt', 'handler_apart'],
  }
  for unwind in ('auto', 'copy'):
    name = f'nested signals, {unwind}'
    got = s.collect_well([s.target('nested'), '3000'], options=['--unwind', unwind, '--stack-size', '65528'])
    facts, stacks = got.truth(), s.folded(got.result)
    for burn, between in inner.items():
      known = [*outer, *between, burn]
      inside = [(frames, count) for frames, count in stacks if burn in frames]
      total = sum(count for _, count in inside)
      exact = sum(count for frames, count in inside
                  if [f for f in frames if f.startswith(('nested_', 'handler_', '['))] == known)
      wanted = s.number(facts, burn) / 1e6 if burn in facts else 1000
      s.check(total >= 0.8 * wanted > 0 and exact >= 0.99 * total, f'{name}: {burn} and all around it', f'{exact} of {total}')


def cplusplus():
  got = s.collect_well([s.target('shop'), '2000'])
  facts, stacks = got.truth(), s.folded(got.result)
  whole, broken = s.number(facts, 'till_int'), s.number(facts, 'till_double')
  ints = s.samples_of(stacks, lambda f: 'Till<int>::ring' in f)
  doubles = s.samples_of(stacks, lambda f: 'Till<double>::ring' in f)
  known = s.samples_of(stacks) - s.samples_of(stacks, s.KERNEL)
  s.check_share('C++: Till<int>::ring', s.points(ints, known), s.points(whole, s.number(facts, 'process_ns')), 2, known)
  s.check_share('C++: Till<double>::ring', s.points(doubles, known), s.points(broken, s.number(facts, 'process_ns')), 2, known)
  mangled = [f for frames, _ in stacks for f in frames if f.startswith('_Z')]
  s.check(not mangled, 'C++: names are demangled', ', '.join(mangled[:3]))
  check_calls('C++', got.result, least=1000)


NODE_WORK = '''
class Square { constructor(k) { this.k = k; } area() { return this.k * this.k; } }
class Round extends Square { area() { return 3 * this.k * this.k; } }
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function sorted(n) { const a = []; for (let i = 0; i < n; i++) a.push({v: i * 7919 % 1000}); a.sort((x, y) => x.v - y.v); return a[0].v; }
function text(n) { return JSON.parse(JSON.stringify(Array.from({length: n}, (_, i) => ({a: i, b: 's' + i})))).length; }
function shapes(n) { const s = [new Square(1), new Round(2)]; let t = 0; for (let i = 0; i < n; i++) t += s[i % 2].area(); return t; }
const end = process.cpuUsage().user + 1500000;
let sum = 0;
while (process.cpuUsage().user < end) sum += fib(18) + sorted(300) + text(100) + shapes(10000);
'''


def generated_code():
  """Code in no file, without frame pointers: one function is replaced by another at its address."""
  got = s.collect_well([s.target('rewritten'), '2000', '1000'])
  stacks = s.folded(got.result)
  inside = [(f, c) for f, c in stacks if 'rewritten_small' in f or 'rewritten_large' in f]
  total = sum(c for _, c in inside)
  bad = [f for f, _ in inside if not s.marked(f) and [x for x in f if x in ('main', 'rewritten_run')] != ['main', 'rewritten_run']]
  s.check(total >= 1000 and not bad, 'generated code: no whole stack lacks a caller', bad[:2] or total)
  # While code may be that of a late sample, or the one before, nothing is known of it.
  whole = sum(c for f, c in inside if 'rewritten_run' in f and not s.marked(f))
  s.check(whole >= 0.6 * total, 'generated code: whole stacks', f'{whole} of {total}')
  check_calls('generated code', got.result)
  if not shutil.which('node'):
    s.skip('generated code of node', 'node is not installed')
    return
  got = s.collect_well(['node', '-e', NODE_WORK], what='node', interval='2ms')
  total = s.summary(got.result)
  unknown = total['stacks']['skipped'].get('no_info', 0)
  s.check(unknown <= 0.02 * s.with_stack(total), 'node: at most 2 % of the stacks end in code without unwind information',
          total['stacks'])


def kinds_of_binaries():
  functions = ('split_half', 'split_third', 'split_fifth')
  for kind in ('split-static', 'split-static-pie', 'split-stripped'):
    got = s.collect_well([s.target(kind), '1500'])
    stacks, total = s.folded(got.result), s.summary(got.result)
    count = s.samples_of(stacks) - s.samples_of(stacks, s.KERNEL)
    s.check(count >= 600, f'{kind}: samples', count)
    complete = total['stacks']['complete']
    s.check(complete >= 0.99 * total['samples'], f'{kind}: complete stacks',
            f'{complete} of {total["samples"]}: {total["stacks"]}')
    module = os.path.basename(s.target(kind))
    # What the vdso does for the program is its own here, and what the kernel does where that is known.
    rows, facts = s.report(got.result, 'modules', '--call-stack-mode', 'user-only'), got.truth()
    burned = sum(s.number(facts, function) for function in functions)
    s.check_least(f'{kind}: its module', s.points(s.seconds(rows, Module=module), s.known_seconds(rows)),
                  s.points(burned, s.number(facts, 'process_ns')), 2, count)
    if kind == 'split-stripped':
      names = [f for frames, _ in stacks for f in frames if f.startswith('func@0x')]
      s.check(names, f'{kind}: functions without symbols have names by address', len(names))
    else:
      for function in functions:
        s.check_share(f'{kind}: {function}', s.points(s.samples_of(stacks, function), count),
                      s.points(s.number(facts, function), s.number(facts, 'process_ns')), 3, total['samples'])


def chain_exact(got):
  """(samples in the chain, those of them with all 40 functions)."""
  expected = ['main'] + [f'chain_{i:02}' for i in range(1, 41)]
  inside = [(frames, count) for frames, count in s.folded(got.result) if 'chain_40' in frames]
  return (sum(count for _, count in inside),
          sum(count for frames, count in inside if [f for f in frames if f in expected] == expected))


def separate_debug_files():
  """A program without unwind information of its own: with it in .debug_frame, split off, and lost, when its code is analysed."""
  whole, program, debug = s.target('chain-tableless'), s.scratch('program'), s.scratch('program.debug')
  total, exact = chain_exact(s.collect_well([whole, '1000']))
  s.check(exact >= 0.99 * total >= 400, 'debug file: .debug_frame of the program itself', f'{exact} of {total}')

  shutil.copy(whole, program)
  for arguments in (['--only-keep-debug', whole, debug], ['--strip-debug', '--add-gnu-debuglink=' + debug, program]):
    subprocess.run(['objcopy', *arguments], check=True)
  total, exact = chain_exact(s.collect_well([program, '1000']))
  s.check(exact >= 0.99 * total >= 400, 'debug file: beside the program', f'{exact} of {total}')

  os.mkdir(s.scratch('.debug'))
  os.rename(debug, s.scratch('.debug/program.debug'))
  total, exact = chain_exact(s.collect_well([program, '1000']))
  s.check(exact >= 0.99 * total >= 400, 'debug file: in .debug', f'{exact} of {total}')

  os.rename(s.scratch('.debug/program.debug'), s.scratch('elsewhere'))
  total, exact = chain_exact(s.collect_well([program, '1000']))
  s.check(exact >= 0.99 * total >= 400, 'debug file: lost; by analysis of the code', f'{exact} of {total}')


def false_roots():
  """Hand-written code that looks like the outermost function: no stack is called whole that lacks the callers."""
  if not os.path.exists(s.target('false_root')):
    s.skip('false roots', 'x86-64 assembly')
    return
  for kind in ('zeros', 'pushed'):
    for unwind in ('copy', 'auto'):
      got = s.collect_well([s.target('false_root'), kind, '700'], options=['--unwind', unwind])
      inside = [(f, c) for f, c in s.folded(got.result) if f'false_root_{kind}' in f]
      total = sum(c for _, c in inside)
      false = [f for f, _ in inside if '[Skipped frame(s)]' not in f
               and [x for x in f if x.startswith('false_root_level') or x == 'main']
               != ['main', 'false_root_level_1', 'false_root_level_2', 'false_root_level_3']]
      s.check(total >= 250 and not false, f'false roots: {kind}, {unwind}: none is called complete',
              f'{total} samples, {false[:2]}')
      skipped = s.summary(got.result)['stacks']['skipped']
      if kind == 'zeros':
        whole = sum(c for f, c in inside if '[Skipped frame(s)]' not in f)
        s.check(whole >= 0.95 * total, f'false roots: {kind}, {unwind}: the code shows the callers', f'{whole} of {total}')
      else:
        s.check(skipped['bad_info'] >= 0.95 * total, f'false roots: {kind}, {unwind}: the reason', skipped)
  got = s.collect_well([s.target('bare_entry')])
  inside = [(f, c) for f, c in s.folded(got.result) if f[-1] == 'bare_entry_burn']
  total = sum(c for _, c in inside)
  exact = sum(c for f, c in inside if f[1:] == ['_start', 'bare_entry_caller', 'bare_entry_burn'])
  s.check(total >= 100 and exact >= 0.99 * total, 'false roots: code near the entry point has its callers',
          f'{exact} of {total}, {inside[:2]}')


def budget():
  """Over its budget the collector leaves stacks out, and says so; samples stay."""
  got = s.collect_well([s.target('chain'), '4000'], interval='0.1ms', options=['--overhead-limit', '0.01'])
  total = s.summary(got.result)
  skipped = total['stacks']['skipped']['budget']
  s.check(total['samples'] + total['samples_lost'] >= 36000, 'budget: samples stay', total['samples'])
  s.check(skipped >= 0.5 * total['samples'], 'budget: stacks are skipped and counted', f'{skipped} of {total["samples"]}')
  s.check(skipped + total['stacks']['complete'] >= 0.99 * total['samples'], 'budget: the others are complete',
          total['stacks']['complete'])

  # The stacks that are kept show the same shares as all samples.
  got = s.collect_well([s.target('split'), '4000'], interval='0.1ms', options=['--overhead-limit', '0.01'])
  facts = got.truth()
  kept = [(frames, count) for frames, count in s.folded(got.result) if not s.marked(frames) and s.KERNEL not in frames]
  count = s.samples_of(kept)
  s.check(0 < count <= 0.5 * s.summary(got.result)['samples'], 'budget: some stacks of split are kept', count)
  for function in ('split_half', 'split_third', 'split_fifth'):
    s.check_share(f'budget: kept stacks in {function}', s.points(s.samples_of(kept, function), count),
                  s.points(s.number(facts, function), s.number(facts, 'process_ns')), 3, count)

  # Of threads that live less than an interval samples tell next to nothing; what they use counts. Collecting takes
  # a small part of what it may here, and still more than the samples would allow.
  got = s.collect_well([s.target('brief'), '4000'], interval='1ms', options=['--overhead-limit', '20'])
  total = s.summary(got.result)
  s.check(total['threads'] >= 1000 and total['samples'] > 0, 'budget: brief threads are there', total['threads'])
  s.check_no_budget('budget: brief threads keep their stacks', total, 0.2, got.steal)
  # Most samples are of the thread that makes them, in clone3, whose system call no FDE describes.
  s.check(total['stacks']['skipped']['no_info'] <= 0.02 * total['samples'], 'stacks in clone3 are whole', total['stacks'])


def quality():
  """What is said of stacks that fit, and of stacks that do not."""
  got = s.collect_well([s.target('chain'), '1500'])
  rows = s.report(got.result, 'quality')
  run = rows[0]
  samples = int(run['Samples'])
  s.check(run['Scope'] == 'run' and int(run['Complete']) >= 0.99 * samples > 0, 'quality: complete stacks',
          f'{run["Complete"]} of {samples}')
  walks = s.with_stack(s.summary(got.result))
  s.check(int(run['Walks']) == walks and int(run['Frames']) >= 40 * walks, 'quality: frames',
          f'{run["Frames"]} in {run["Walks"]} walks')
  s.check(int(run['Frames Reused']) + int(run['Rule Lookups']) < int(run['Frames']),
          'quality: frames come from a stack before, the cache or a lookup',
          f'{run["Frames Reused"]} reused, {run["Rule Lookups"]} lookups')
  s.check(0 < int(run['Timed ns']) < 1e7 * int(run['Timed Walks']), 'quality: time of a walk',
          f'{run["Timed ns"]} ns in {run["Timed Walks"]}')
  for scope in ('module', 'thread'):
    total = sum(int(row['Samples']) for row in rows if row['Scope'] == scope)
    s.check(total == samples, f'quality: {scope}s have all samples', total)
    for column in ('Walks', 'Frames', 'Frames by Info', 'Frames Reused', 'Rule Lookups', 'Timed ns', 'Guesses Tested'):
      total = sum(int(row[column] or 0) for row in rows if row['Scope'] == scope)
      s.check(total == int(run[column]), f'quality: {scope}s have all {column}', f'{total} of {run[column]}')

  got = s.collect_well([s.target('chain'), '1500'], options=['--stack-size', '256', '--unwind', 'copy'])
  run = s.report(got.result, 'quality')[0]
  s.check(int(run['Complete']) < int(run['Samples']) and '--stack-size 65528' in run['Advice'],
          'quality: a copy that is too small', run['Advice'])


def guesses():
  """Stacks larger than the copy get callers only where these are beyond doubt, and say so."""
  stairs = [f'stair_{i:02}' for i in range(1, 17)]
  got = s.collect_well([s.target('stairs'), '4000'], options=['--stack-size', '1024', '--unwind', 'copy'])
  stacks = s.folded(got.result)
  guessed = [(f, c) for f, c in stacks if '[Guessed frame(s)]' in f]
  total = sum(c for _, c in guessed)
  inside = [(f, c, [x for x in f if x in stairs]) for f, c in guessed if 'main' in f]
  exact = sum(c for f, c, seen in inside
              if seen == stairs[:len(seen)] and f.index('main') < f.index('stair_01') and f.count('main') == 1)
  s.check(total >= 1000, 'guesses: stacks that are guessed', f'{total} of {s.samples_of(stacks)}')
  s.check(exact >= 0.995 * total > 0, 'guesses: are right', f'{exact} of {total}')
  run = s.report(got.result, 'quality')[0]
  s.check(int(run['Guesses Tested']) >= 5 and int(run['Guesses Covered']) > 0 and int(run['Guesses Wrong']) == 0,
          'guesses: try themselves', f'{run["Guesses Covered"]} of {run["Guesses Tested"]}, {run["Guesses Wrong"]} wrong')
  s.check(int(run['Guesses by Agreement']) == int(run['Guessed']) and int(run['Guess Least Hits']) >= 4 and
          int(run['Guess Verified Frames']) >= int(run['Guessed']), 'guesses: say what they rest on',
          [run[x] for x in ('Guesses by Agreement', 'Guess Verified Frames', 'Guess Hits', 'Guess Least Hits')])

  got = s.collect_well([s.target('recurse'), '1000', '300'], options=['--stack-size', '1024', '--unwind', 'copy'])
  stacks = s.summary(got.result)['stacks']
  s.check(stacks['guessed'] == 0 < stacks['skipped']['truncated'], 'guesses: none through a recursion', stacks)


def deep_copies():
  """At 0.1 ms the copies hold a part of a stack of 33 KB; now and then a larger one tells the rest, and is no sample."""
  stairs = [f'stair_{i:02}' for i in range(1, 17)]
  got = s.collect_well([s.target('stairs-tall'), '3000'], interval='0.1ms',
                       options=['--unwind', 'copy'])
  stacks, total = s.folded(got.result), s.summary(got.result)
  guessed = [(f, c) for f, c in stacks if '[Guessed frame(s)]' in f]
  known = total['stacks']['complete'] + total['stacks']['guessed']
  s.check(total['stacks']['guessed'] >= 0.2 * total['samples'] and known >= 0.85 * total['samples'],
          'deep copies: stacks that are whole or guessed', total['stacks'])
  exact = sum(c for f, c in guessed if 'main' in f and [x for x in f if x in stairs] == stairs[:len([x for x in f if x in stairs])])
  count = sum(c for _, c in guessed)
  s.check(exact >= 0.995 * count > 0, 'deep copies: guesses are right', f'{exact} of {count}')
  s.check_ratio('deep copies: CPU time', total['cpu_time_s'], s.number(got.truth(), 'process_ns') / 1e9, 2, got.steal)
  s.check(total['samples'] <= 1.02 * total['cpu_time_s'] / total['interval_s'], 'deep copies: are no samples', total['samples'])
  # What is tried is what is guessed: as many of the tries lead to a guess as of the stacks that are cut.
  run = s.report(got.result, 'quality')[0]
  tested, made = int(run['Guesses Tested']), int(run['Guesses Covered'])
  cut = total['stacks']['guessed'] + total['stacks']['skipped']['truncated']
  s.check(int(run['Walks']) <= total['samples'] and int(run['Deep Walks']) >= tested >= 100,
          'deep copies: are tried, and counted apart', f'{run["Deep Walks"]} walks, {tested} tries')
  s.check(run['Guesses Wrong'] == '0', 'deep copies: no try is wrong', run['Guesses Wrong'])
  s.check_share('deep copies: tries that lead to a guess, like what is cut', s.points(made, tested),
                s.points(total['stacks']['guessed'], cut), 20, tested)
  # A size that was asked for is all there is.
  got = s.collect_well([s.target('stairs-tall'), '1000'], interval='0.1ms',
                       options=['--unwind', 'copy', '--stack-size', '8192'])
  total = s.summary(got.result)
  known = total['stacks']['complete'] + total['stacks']['guessed']
  s.check(known <= 0.75 * total['samples'], 'deep copies: none with --stack-size', total['stacks'])


s.start()
for part in (chain, recursion, large_locals, untouched_locals, callers_in_turns, signal_handlers, nested_signals, generated_code, cplusplus, kinds_of_binaries, separate_debug_files,
             false_roots, budget, quality, guesses, deep_copies):
  with s.section(part.__name__):
    part()
s.finish()
