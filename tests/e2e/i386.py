"""Stacks of 32-bit programs on a 64-bit kernel, with and without frame pointers: the same truth as the
64-bit ones (stacks.py), and nobody takes their files for something else than ELF files."""

import os

import support as s

FORMS = ('32', '32-framed')


def inside(got, leaf):
  """[(frames, samples)] of the stacks that have the leaf, and their samples."""
  stacks = [(frames, count) for frames, count in s.folded(got.result) if leaf in frames]
  return stacks, sum(count for _, count in stacks)


def collect(name, form, *arguments, **options):
  got = s.collect_well([s.target(f'{name}-{form}'), *arguments], **options)
  s.check('not an ELF file' not in got.stderr, f'{name}-{form}: its files are read', got.stderr.strip()[-300:])
  total = s.summary(got.result)
  return got, total['samples'], total['stacks']['complete']


def check_most(what, part, whole, least):
  """Of so many samples at least, 99 % or what is the same by chance: code of the vdso and of the C library has no unwind information in
  places, where a fraction of a percent of the samples is, more on a loaded machine."""
  s.check(whole >= least, f'{what}: samples', f'{whole} of {least}')
  s.check_least(what, s.points(part, whole), 99, 0, whole)


def exactly(frames, expected):
  """The frames from main on, without C library's; the root is _start."""
  return frames[1] == '_start' and frames[frames.index('main'):] == expected if 'main' in frames else False


def chain(form):
  got, samples, complete = collect('chain', form, '1500')
  stacks, total = inside(got, 'chain_40')
  expected = ['main'] + [f'chain_{i:02}' for i in range(1, 41)]
  exact = sum(count for frames, count in stacks if exactly(frames, expected))
  check_most(f'chain-{form}: 40 functions in order', exact, total, 600)
  check_most(f'chain-{form}: complete', complete, samples, 600)
  rows = s.report(got.result, 'hotspots')
  facts = got.truth()
  s.check_share(f'chain-{form}: chain_40', s.points(s.total_seconds(got.result, 'chain_40'), s.known_seconds(rows)),
                s.points(s.number(facts, 'chain_ns'), s.number(facts, 'process_ns')), 2, samples)


def recursion(form):
  got, samples, complete = collect('recurse', form, '1000', '300', options=['--no-collapse'])
  check_most(f'recurse-{form}: complete', complete, samples, 600)
  down, total = inside(got, 'recurse_down')
  # With the clock that recurse_bottom looks at.
  bottom = sum(count for frames, count in down if 'recurse_bottom' in frames and
               exactly(frames[:frames.index('recurse_bottom') + 1], ['main'] + ['recurse_down'] * 300 + ['recurse_bottom']))
  # A sample may hit the program on its way down or up.
  between = sum(count for frames, count in down if exactly(frames, ['main'] + ['recurse_down'] * frames.count('recurse_down')))
  check_most(f'recurse-{form}: 300 levels', bottom + between, total, 300)
  s.check(bottom >= 0.9 * total, f'recurse-{form}: mostly all of them', f'{bottom} and {between} between of {total}')


def signal_handlers(form):
  got, _, _ = collect('altstack', form, '1500')
  same, total = inside(got, 'handler_burn_same')
  through = sum(count for frames, count in same
                if frames[1] == '_start' and frames[-2:] == ['handler_on_same_stack', 'handler_burn_same']
                and 'main' in frames and frames.index('main') + 1 == frames.index('handler_victim'))
  check_most(f'altstack-{form}: through the handler to the root', through, total, 300)
  other, total = inside(got, 'handler_burn_alternate')
  honest = sum(count for frames, count in other
               if frames[-2:] == ['handler_on_alternate_stack', 'handler_burn_alternate'] and '[Skipped frame(s)]' in frames)
  check_most(f'altstack-{form}: what is on the other stack is skipped', honest, total, 300)


def callback(form):
  got, samples, complete = collect('callback', form, '1000')
  stacks, total = inside(got, 'callback_burn')
  exact = sum(count for frames, count in stacks
              if frames[1] == '_start' and frames[-2:] == ['callback_compare', 'callback_burn']
              and 'main' in frames and frames[frames.index('main') + 1] == 'callback_start'
              and 3 <= len(frames) - frames.index('callback_start') <= 10)
  check_most(f'callback-{form}: through the C library', exact, total, 400)
  check_most(f'callback-{form}: complete', complete, samples, 400)


def children():
  """A process of each width, one of which starts the other."""
  got = s.collect_well(['/bin/sh', '-c', f'{s.target("chain-32")} 500; {s.target("chain")} 500'])
  stacks, total = inside(got, 'chain_40')
  exact = sum(count for frames, count in stacks
              if frames[frames.index('main'):] == ['main'] + [f'chain_{i:02}' for i in range(1, 41)])
  check_most('children: of both widths', exact, total, 400)
  seen = {frames[0] for frames, _ in stacks}
  s.check(len(seen) == 2, 'children: both programs', seen)


def code_of(data):
  """Module records and samples as they are in the file, without their numbers."""
  lines = s.run_tool('print_tb5', data).stdout.splitlines()
  return sorted(line.split(': ', 1)[1] for line in lines if ' cs=0x' in line and ': ' in line)


def unwinding_of(result):
  return [row for row in s.report(result, 'quality') if row['Scope'] in ('module', 'thread')]


def recovered():
  """What a cut file holds of 32-bit code, and of unwinding it, is there after recovery."""
  got, samples, _ = collect('chain', '32', '300', options=['--no-finalize'])
  data = os.path.join(got.result, os.path.basename(got.result) + '.tb5')
  with open(data, 'rb+') as file:
    file.truncate(os.path.getsize(data) - 40)
  code, unwinding = code_of(data), unwinding_of(got.result)
  narrow = sum('cs=0x23' in line and 'mode=2' in line for line in code)
  walks = sum(int(row['Walks'] or 0) for row in unwinding if row['Scope'] == 'module')
  s.run_tool('tbconvert', 'recover', got.result)
  s.check(s.summary(got.result)['complete'] and code_of(data) == code and narrow >= samples >= 20,
          'recovered: modules and samples of 32-bit code', f'{len(code)} records, {narrow} of 32-bit code')
  s.check(unwinding_of(got.result) == unwinding and walks >= 20, 'recovered: what unwinding took', f'{walks} walks')


s.start()
if os.path.exists(s.target('chain-32')):
  for part in (chain, recursion, signal_handlers, callback):
    for kind in FORMS:
      with s.section(f'{part.__name__}({kind})'):
        part(kind)
  with s.section('children'):
    children()
  with s.section('recovered'):
    recovered()
else:
  s.skip('32-bit programs', 'none were built: there is no gcc-multilib, or this kernel runs none (meson setup says which)')
s.finish()
