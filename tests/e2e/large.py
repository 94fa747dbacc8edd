"""What needs a large package or more time: deep stacks of a big compiler, a long run, the bench."""

import os
import subprocess

import sources
import support as s


def deep_stacks():
  """Compilers' stacks are tens of kilobytes deep: most are lost with copies of the usual 8 KB."""
  source, output = s.scratch('work.cc'), s.scratch('work.o')
  sources.write_cplusplus(source, 12)
  for compiler in ('clang++', 'g++'):
    once = f'{compiler} -O2 -c {source} -o {output}'
    # By copies it is 98 %: as many samples as tell that from 97.
    for interval, rounds, samples in (('10ms', 8, 2000), ('1ms', 1, 2000)):
      for options in ([], ['--unwind', 'copy']):
        got = s.collect_well(['/bin/sh', '-c', '; '.join([once] * rounds)], what=compiler, interval=interval,
                             options=options, timeout=600)
        total = s.summary(got.result)
        complete = s.points(total['stacks']['complete'], s.with_stack(total))
        what = ' '.join([compiler, '-O2 at', interval, *options])
        s.check(total['samples'] >= samples and complete >= 97, f'{what}: complete stacks',
                f'{complete:.2f} % of {total["samples"]}: {total["stacks"]}')
        s.check(total['samples_lost'] == 0, f'{what}: nothing lost', total['samples_lost'])


def long_run():
  """A minute of two busy threads and of births: memory stays bounded, nothing is lost."""
  got = s.collect([s.target('serve'), '60'], interval='1ms', timeout=300)
  total = s.summary(got.result)
  s.check(got.status == 0 and total['complete'], 'a long run: complete', got.stderr.strip()[-300:])
  s.check_ratio('a long run: CPU time', total['cpu_time_s'],
                s.number(got.truth(), 'process_ns') / 1e9 + 0.02 * (s.number(got.truth(), 'ended') // 2), 2, got.steal)
  s.check(total['samples_lost'] == 0, 'a long run: nothing lost', total['samples_lost'])
  rss = total['collector']['peak_rss_bytes']
  s.check(rss < 200 << 20, 'a long run: memory of the collector', f'{rss / (1 << 20):.1f} MiB')


def bench():
  done = subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bench', 'overhead'), '-n', '3',
                         '--intervals', '10ms,1ms', s.Run.build], capture_output=True, text=True)
  print(done.stdout)
  # Status 1: it ran, and a limit was missed, which other load on the machine brings about too.
  s.check(done.returncode in (0, 1) and 'limits: ' in done.stdout, 'bench/overhead', done.stderr.strip()[-300:])


s.start()
for part in (deep_stacks, long_run, bench):
  with s.section(part.__name__):
    part()
s.finish()
