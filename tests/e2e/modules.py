"""Code goes to the file it came from, also when that is gone, shared, anonymous or in another mount namespace."""

import os
import resource
import shutil
import subprocess

import support as s


def one_address():
  """Two libraries take turns at one address, with 1:2 of the time."""
  got = s.collect_well([s.target('dlswap'), '20', '40', s.library('swap_first'), s.library('swap_second')])
  facts, stacks = got.truth(), s.folded(got.result)
  s.check(s.number(facts, 'same_address') >= 15, 'dlswap: both libraries were at one address',
          f'{s.number(facts, "same_address")} of {s.number(facts, "rounds")} rounds')
  first, second = s.number(facts, 'swap_first'), s.number(facts, 'swap_second')
  seen_first, seen_second = s.samples_of(stacks, 'swap_first_work'), s.samples_of(stacks, 'swap_second_work')
  s.check(seen_first + seen_second > 1000, 'dlswap: samples', f'{seen_first} + {seen_second}')
  s.check_share('dlswap: the first one\'s share', s.points(seen_first, seen_first + seen_second),
                s.points(first, first + second), 1, seen_first + seen_second)
  functions = s.report(got.result, 'hotspots')
  for name in ('first', 'second'):
    modules = {row['Module'] for row in functions if row['Function'] == f'swap_{name}_work'}
    s.check(modules == {f'libswap_{name}.so'}, f'dlswap: where swap_{name}_work is', modules)
  seen = {row['Module']: int(row['Samples']) for row in s.report(got.result, 'modules')}
  expected = {}
  for row in functions:
    expected[row['Module']] = expected.get(row['Module'], 0) + int(row['Samples'])
  s.check(seen == expected, 'dlswap: modules and functions agree', f'{seen} {expected}')


def overwritten():
  """Two libraries without build-ids take turns in one file: no name of the one for code of the other, nor its stacks."""
  libraries = []
  for name in ('first', 'second'):
    libraries.append(s.scratch(name))
    subprocess.run(['objcopy', '--remove-section=.note.gnu.build-id', s.library('swap_' + name), libraries[-1]], check=True)
  got = s.collect_well([s.target('dlswap'), '5', '80', *libraries, s.scratch('place.so')], what='dlswap in one file')
  stacks = s.folded(got.result)
  first, second = s.samples_of(stacks, 'swap_first_work'), s.samples_of(stacks, 'swap_second_work')
  whole = sum(c for f, c in stacks if 'main' in f and not s.marked(f))
  # What was in the file before the last time has no names: these would be the last one's.
  s.check(s.samples_of(stacks) >= 1000 and first == 0 and second <= 260, 'overwritten: no false names',
          f'{first} + {second} of {s.samples_of(stacks)}, {whole} whole')
  short = [(f, c) for f, c in stacks if 'run_once' in f and f[-1] in ('[place.so]', 'swap_first_work', 'swap_second_work')
           and not s.marked(f) and len(f) - f.index('run_once') < 3]  # more: in the library's linkage table
  s.check(not short, 'overwritten: whole stacks have all of their frames', short[:3])
  s.check(whole >= 160, 'overwritten: the last one\'s stacks are whole', whole)


def short_lived():
  """Programs that are deleted right after they ran: their files are looked at while they are there."""
  loop = 'for i in $(seq 20); do cp "$0" "$1.$i"; "$1.$i" 30 > "$1.out"; rm "$1.$i"; done'
  got = s.collect_well(['sh', '-c', loop, s.target('recurse'), s.scratch('brief')], what='short-lived programs')
  stacks = [(f, c) for f, c in s.folded(got.result) if f[0].startswith('brief')]
  whole, count = sum(c for f, c in stacks if not s.marked(f)), s.samples_of(stacks)
  s.check(whole >= 0.8 * count >= 300, 'short-lived programs: whole stacks', f'{whole} of {count}')


def vanished():
  for mode in ('plain', 'deleted', 'memfd'):
    library = s.scratch('libvanishing.so')
    shutil.copy(s.library('swap_first'), library)
    got = s.collect_well([s.target('loadlib'), mode, '1000', library], what=f'loadlib {mode}')
    stacks = s.folded(got.result)
    count = s.samples_of(stacks)
    inside = s.samples_of(stacks, 'swap_first_work')
    if mode == 'plain':
      s.check(inside >= 0.95 * count > 400, 'library: its function', f'{inside} of {count}')
      continue
    # Without the file there may be no symbols, but never wrong ones, and stacks stay whole.
    name = 'vanishing' if mode == 'deleted' else 'memfd'
    rows = [row for row in s.report(got.result, 'modules') if name in row['Module'] + row['Path']]
    s.check(sum(int(row['Samples']) for row in rows) >= 0.95 * count, f'{mode}: samples are the library\'s',
            f'{sum(int(row["Samples"]) for row in rows)} of {count}; {inside} have the function\'s name')
    whole = s.samples_of(stacks, 'main')
    s.check(whole >= 0.95 * count > 400, f'{mode}: stacks reach main', f'{whole} of {count}')


def jit():
  got = s.collect_well([s.target('jit'), '1000'])
  stacks = s.folded(got.result)
  count, named = s.samples_of(stacks), s.samples_of(stacks, lambda f: 'jit_square' in f)
  s.check(named >= 0.95 * count > 400, 'jit: the function of /tmp/perf-PID.map', f'{named} of {count}')
  callers = sum(c for f, c in stacks if any('jit_square' in x for x in f) and 'jit_caller' in f and 'main' in f)
  s.check(callers >= 0.95 * named > 0, 'jit: its callers, by its frame pointer', f'{callers} of {named}')

  got = s.collect_well([s.target('jit'), '500', '0'], what='jit without a map')
  stacks = s.folded(got.result)
  named = s.samples_of(stacks, lambda f: 'jit_square' in f)
  s.check(named == 0 and s.samples_of(stacks) > 200, 'jit: without a map no name is made up', named)


def early_end():
  """Over before anybody looked at it: the names that it left are its user's all the same."""
  for mode in ('%s 2; true', 'exec %s 2'):
    got = s.collect_well(['sh', '-c', mode % s.target('jit')], interval='0.1ms', what='jit that ends early')
    stacks = s.folded(got.result)
    named = s.samples_of(stacks, lambda f: 'jit_square' in f)
    count = named + s.samples_of(stacks, lambda f: '[jit]' in f)
    s.check(named >= 0.8 * count > 10, 'jit that ends early: its function has its name', f'{named} of {count}')


def left_map():
  """A map that an earlier process of the same id left is not this one's."""
  got = s.collect_well(['sh', '-c', 'f=/tmp/perf-$$.map; echo "0 ffffffffffff old_name" > $f; '
                        f'touch -d "1 hour ago" $f; exec {s.target("jit")} 300 0'], what='jit with an old map')
  stacks = s.folded(got.result)
  named = s.samples_of(stacks, lambda f: 'old_name' in f)
  s.check(named == 0 and s.samples_of(stacks) > 100, 'jit: a map older than its process is not used', named)
  s.check('older than the process' in got.stderr, 'and that is said', got.stderr.strip().splitlines()[-1:])


def foreign_map():
  """A map that another user wrote is not believed."""
  if os.getuid() != 0:
    s.skip('foreign perf map', 'needs a second user')
    return
  result = s.new_result()
  script = ('f=/tmp/perf-$$.map; echo "0 ffffffffffff evil_name" > $f; chown 12345 $f; '
            f'exec {s.target("jit")} 500 0')
  got = s.collect(['sh', '-c', script], result=result)
  pid = s.number(got.truth(), 'pid')
  stacks = s.folded(got.result)
  named = s.samples_of(stacks, lambda f: 'evil_name' in f)
  s.check(named == 0 and s.samples_of(stacks) > 100, 'jit: a map of another user is not used', named)
  s.check('of another user' in got.stderr, 'and that is said', got.stderr.strip().splitlines()[-1:])
  os.unlink(f'/tmp/perf-{pid}.map')


def mount_namespace():
  """The target's files are looked up where the target sees them."""
  if os.getuid() != 0:
    s.skip('mount namespace', 'needs root')
    return
  inside = s.scratch('only-inside')
  os.mkdir(inside)
  script = (f'mount -t tmpfs none {inside} && cp {s.target("chain")} {inside}/hidden-chain && '
            f'exec {inside}/hidden-chain 1000')
  got = s.collect(['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script])
  s.check(got.status == 0, 'mount namespace: collects', f'{got.status} {got.stderr.strip()[-300:]}')
  stacks = s.folded(got.result)
  rows = [row for row in s.report(got.result, 'modules') if row['Module'] == 'hidden-chain']
  count = sum(int(row['Samples']) for row in rows)
  s.check(count >= 400, 'mount namespace: samples are the file\'s that only the target sees', count)
  deep = sum(c for f, c in stacks if len(f) >= 42)
  s.check(deep >= 0.95 * count > 0, 'mount namespace: stacks are whole', f'{deep} of {count}')


def namespaces_in_turn():
  """That a file's first process was over too soon to read it does not matter to the next one's."""
  if os.getuid() != 0:
    s.skip('mount namespaces in turn', 'needs root')
    return
  inside = s.scratch('in-turn')
  os.mkdir(inside)
  one = (f"unshare --mount --propagation private sh -c 'mount -t tmpfs none {inside} && "
         f"cp {s.target('chain')} {inside}/chain && exec {inside}/chain '")
  # Those that are over at once are gone before anybody looks at what they mapped.
  got = s.collect(['sh', '-c', f'for i in 1 2 3; do {one}1; done; sleep 0.3; {one}1000'],
                  options=('--unwind', 'copy'))
  stacks = s.folded(got.result)
  rows = [row for row in s.report(got.result, 'modules') if row['Module'] == 'chain']
  count = sum(int(row['Samples']) for row in rows)
  deep = sum(c for f, c in stacks if len(f) >= 42)
  s.check(deep >= 0.95 * count > 400, 'mount namespaces in turn: the last one\'s stacks are whole',
          f'{deep} of {count}')


def many_files():
  """More programs than files may be open, one after the other, and then one that matters."""
  folder = s.scratch('many')
  os.mkdir(folder)
  # The first half is over before it is sampled, in the second one walks go through each.
  script = (f'i=0; while [ $i -lt 100 ]; do cp /bin/true {folder}/$i; {folder}/$i; i=$((i+1)); done; '
            f'while [ $i -lt 200 ]; do cp {s.target("chain")} {folder}/$i; {folder}/$i 5; i=$((i+1)); done; '
            f'exec {s.target("chain")} 1000')
  got = s.collect_well(['sh', '-c', script], what='many files', options=('--unwind', 'copy'),
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
  stacks = s.folded(got.result)
  count = s.samples_of(stacks, 'chain_40')
  deep = sum(c for f, c in stacks if len(f) >= 42)
  s.check(deep >= 0.95 * count > 400, 'many files: the last program\'s stacks are whole', f'{deep} of {count}')


def remove_maps():
  for name in os.listdir('/tmp'):
    if name.startswith('perf-') and name.endswith('.map') and name[5:-4].isdigit():
      path = os.path.join('/tmp', name)
      if not os.path.exists(f'/proc/{name[5:-4]}') and os.stat(path).st_uid == os.getuid():
        with open(path, encoding='utf-8', errors='replace') as file:
          ours = 'jit_square' in file.read(4096)
        if ours:
          os.unlink(path)


s.start()
for part in (one_address, overwritten, short_lived, vanished, jit, early_end, left_map, foreign_map, mount_namespace, namespaces_in_turn, many_files):
  with s.section(part.__name__):
    part()
remove_maps()
s.finish()
