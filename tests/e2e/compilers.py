"""Deep stacks: those of compilers at -O2, at the default settings and in copies alone. large.py has more of it."""

import os

import sources
import support as s
from call_check import check_calls

LEAST = 97  # percent of the stacks


def complete(what, command, samples, **how):
  got = s.collect_well(command, what=what, **how)
  total = s.summary(got.result)
  # Those that were left out for their cost say nothing of the others.
  tried = total['samples'] - total['stacks']['skipped']['budget']
  share = s.points(total['stacks']['complete'], tried)
  s.check(tried >= samples and share >= LEAST, f'{what}: {LEAST} % of the stacks are complete',
          f'{share:.2f} % of {tried}: {total["stacks"]}')
  s.check_none_lost(f'{what}: nothing lost', total, got.steal)
  check_calls(what, got.result, least=samples)


def compilers():
  source, output = s.scratch('work.cc'), s.scratch('work.o')
  sources.write_cplusplus(source, 4)
  if os.geteuid() == 0:
    for compiler in ('clang++', 'g++'):
      complete(f'{compiler} -O2', [compiler, '-O2', '-c', source, '-o', output], 150, interval='10ms')
  else:
    s.skip('compilers at the default settings', 'without BPF a stack in thirty is larger than a copy: too few samples to tell')
  # Twice, for as many samples as tell 97 from 98 %.
  once = f'clang++ -O2 -c {source} -o {output}'
  complete('clang++ -O2 in copies', ['/bin/sh', '-c', f'{once}; {once}'], 3000, options=['--unwind', 'copy'])


s.start()
with s.section('compilers'):
  compilers()
s.finish()
