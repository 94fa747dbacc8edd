"""tbconvert import of folded stacks: our own exports come back as they were, and what perf's tools write is understood.
Usage: imports_folded.py BUILD_DIRECTORY"""

import os
import subprocess

import support as s

C = '''
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
static inline uint64_t step(uint64_t x) { for (int i = 0; i < 8; i++) x = x * x + i; return x; }
static __attribute__((noinline)) uint64_t work(long rounds) { uint64_t s = 1; while (rounds-- > 0) s = s * 1664525 + step(s); return s; }
static void *run(void *rounds) { return (void *)work((long)rounds); }
int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, run, (void *)(8000000 * (i + 1)));
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}
'''
OTHERS = '''# made by hand
cc1plus;main;std::map<int, long>::find(int const&) 30
cc1plus;main;operator new 12
sh;main 8
'''


def import_text(what, text):
  path, result = s.scratch(f'{what}.folded'), s.new_result()
  with open(path, 'wb') as file:
    file.write(text)
  s.run_tool('tbconvert', 'import', '-r', result, path)
  return result


def folded(result, *options):
  return subprocess.run([s.tool('tbconvert'), 'export', '--to', 'folded', '-o', '-', *options, result], check=True, capture_output=True).stdout


def build_threads():
  source, program = s.scratch('threads.c'), s.scratch('threads')
  with open(source, 'w', encoding='ascii') as file:
    file.write(C)
  subprocess.run(['gcc', '-O2', '-g', '-o', program, source, '-pthread'], check=True)
  return program


def own_exports():
  for what, command in (('c', [build_threads()]), ('generated code', [s.target('jit'), '200'])):
    result = s.collect_well(command, what=what).result
    for options in ([], ['--threads'], ['--inline', 'off']):
      text = folded(result, *options)
      imported = import_text(what.replace(' ', '-'), text)
      again = folded(imported, *(option for option in options if option == '--threads'))
      s.check(text and again == text, f'{what}: the text comes back {" ".join(options)}', len(text))
      s.check(s.summary(imported)['samples'] == sum(int(line.rsplit(b' ', 1)[1]) for line in text.splitlines()), f'{what}: the number of samples')


def other_tools():
  result = import_text('others', OTHERS.encode())
  rows = {row['Function']: (row['Samples'], row['CPU Time']) for row in s.report(result, 'hotspots')}
  s.check(rows == {'std::map<int, long>::find(int const&)': ('30', '0.300000'), 'operator new': ('12', '0.120000'), 'main': ('8', '0.080000')},
          'hotspots', rows)
  text = s.run_tool('tbreport', 'summary', result).stdout
  s.check('each count is shown as 10 ms' in text and 'Elapsed Time:             not known' in text, 'times that nobody measured are said to be none')
  for kind in ('perf', 'pprof', 'otlp', 'speedscope', 'callgrind'):
    path = s.scratch(f'others.{kind}')
    s.run_tool('tbconvert', 'export', '--to', kind, '-o', path, result)
    s.check(os.path.getsize(path) > 0, f'the result can be exported to {kind}', os.path.getsize(path))


s.start()
for part in (own_exports, other_tools):
  with s.section(part.__name__):
    part()
s.finish()
