"""Names and lines of generated code by jitdumps: each sample has the function that lay at its address when it was taken."""

import os
import shutil
import subprocess

import support as s

NODE_WORK = '''function inner(n){let s=0;for(let i=0;i<n;i++)s+=Math.sqrt(i)*i%7;return s}
function outer(n){let r=0;for(let k=0;k<n;k++)r+=inner(20000);return r}
const t=process.cpuUsage().user;let x=0;while(process.cpuUsage().user-t<800000)x+=outer(10);console.log(x)'''
NAMES = ('jit_first', 'jit_second', 'jit_third')


def named(stacks):
  """Samples in each of the three functions."""
  return {name: s.samples_of(stacks, name) for name in NAMES}


def turns():
  """Three functions take turns at one address, the third of them is moved there; the dump is whole only when all is over."""
  dump = s.scratch('jit-1.dump')
  got = s.collect_well([s.target('jitdump'), dump, '4', '50'])
  facts, stacks = got.truth(), s.folded(got.result)
  seen, truth = named(stacks), {name: s.number(facts, name) for name in NAMES}
  total = sum(seen.values())
  s.check(total >= 0.95 * s.samples_of(stacks) > 400, 'turns: all samples have names', f'{seen} of {s.samples_of(stacks)}')
  for name in NAMES:
    s.check_share(f'turns: the share of {name}', s.points(seen[name], total), s.points(truth[name], sum(truth.values())), 1, total)
  rows = {row['Function']: row for row in s.report(got.result, 'hotspots') if row['Function'] in NAMES}
  files = {name: rows[name]['Source File'] for name in rows}
  s.check(files == {name: f'{name[4:]}.x' for name in NAMES}, 'turns: their source files', files)
  s.check(len({row['Start Address'] for row in rows.values()}) == 1, 'turns: one address', [row['Start Address'] for row in rows.values()])
  callers = sum(c for f, c in stacks if f[-1] in NAMES and 'jit_caller' in f and 'main' in f)
  s.check(callers >= 0.95 * total > 0, 'turns: their callers', f'{callers} of {total}')

  # Again, of a result that has them already; and of one whose dump is gone.
  s.run_tool('tbconvert', 'finalize', got.result)
  s.check(s.folded(got.result) == stacks, 'turns: finalized again, it is the same')
  os.unlink(dump)
  again = s.run_tool('tbconvert', 'finalize', got.result)
  s.check(s.folded(got.result) == stacks, 'turns: names stay without the dump', again.stderr.strip())


def wrong_files():
  """A file that the process did not map, one in the place of the mapped one, and one of another user."""
  dump = s.scratch('jit-2.dump')
  got = s.collect_well([s.target('jitdump'), dump, '2', '20', '0'], what='a dump that is not mapped')
  s.check(sum(named(s.folded(got.result)).values()) == 0, 'wrong files: a dump that is not mapped is not looked for')
  for word, command in (('another file by now', f'cp {dump} {dump}.new; mv {dump}.new {dump}'), ('of another user', f'chown 12345 {dump}')):
    if 'chown' in command and os.getuid() != 0:
      s.skip('a dump of another user', 'needs a second user')
      continue
    os.unlink(dump)
    got = s.collect_well(['sh', '-c', f'{s.target("jitdump")} {dump} 2 20; {command}'], what=word)
    stacks = s.folded(got.result)
    s.check(sum(named(stacks).values()) == 0 and s.samples_of(stacks) > 100, f'wrong files: {word}: no names', named(stacks))
    s.check(word in got.stderr, f'wrong files: {word}: and that is said', got.stderr.strip().splitlines()[-1:])


def torn():
  """The compiler was killed in the midst of a record: those before it count."""
  dump = s.scratch('jit-3.dump')
  got = s.collect_well(['sh', '-c', f'{s.target("jitdump")} {dump} 1 100; truncate -s -70 {dump}'], what='torn')
  seen = named(s.folded(got.result))
  s.check(seen['jit_first'] > 50 and seen['jit_second'] > 100 and seen['jit_third'] == 0, 'torn: the records before the end', seen)


def perf_names(data):
  """Samples of perf in each function of generated code, by its own reading of the dump."""
  injected = data + '.jit'
  subprocess.run(['perf', 'inject', '--jit', '-i', data, '-o', injected], check=True, capture_output=True, cwd=s.Run.work)
  counts = {}
  for function, _ in s.perf_samples(injected):
    counts[function] = counts.get(function, 0) + 1
  return counts


def functions_of(result, process):
  """Samples of a process in user code by function."""
  counts = {}
  for frames, count in s.folded(result):
    if frames[0] == process and frames[-1] != '[System calls and faults]':
      counts[frames[-1]] = counts.get(frames[-1], 0) + count
  return counts


def node():
  """The same run seen by perf, too. Its reading of the dump makes thousands of files: once is enough, as root."""
  with_perf = os.getuid() == 0
  if not shutil.which('node') or (with_perf and not shutil.which('perf')):
    s.skip('node', 'node or perf is not installed')
    return
  script = s.scratch('work.js')
  with open(script, 'w', encoding='ascii') as file:
    file.write(NODE_WORK)
  data = s.scratch('node.data')
  recording = ['perf', 'record', '-q', '-e', 'cpu-clock:u', '-c', '1000000', '-k', 'mono', '-o', data, '--']
  got = s.collect_well([*(recording if with_perf else ()), 'node', '--perf-prof', script], what='node', cwd=s.Run.work)
  ours = functions_of(got.result, 'node')
  total, unnamed = sum(ours.values()), ours.get('[jit]', 0)
  script_samples = sum(count for name, count in ours.items() if name.startswith('JS:') and script in name)
  s.check(script_samples >= 0.3 * total > 100, 'node: functions of the script', f'{script_samples} of {total}')
  s.check(unnamed <= 0.01 * total, 'node: all generated code has names', f'{unnamed} of {total}')
  if not with_perf:
    return
  theirs = perf_names(data)
  large = {name: count for name, count in theirs.items() if name.startswith('JS:') and count >= 50}
  s.check(any('inner' in name for name in large), 'node: perf has names', large)
  for name, count in large.items():
    s.check_share(f'node: samples in {name}', s.points(ours.get(name, 0), total), s.points(count, sum(theirs.values())), 2,
                  min(total, sum(theirs.values())))


s.start()
for part in (turns, wrong_files, torn, node):
  with s.section(part.__name__):
    part()
s.finish()
