"""tbconvert import of profiles in pprof's format: our own exports come back as they were, Go's own profiles have the functions, stacks
and times that go tool pprof shows. Usage: imports_pprof.py BUILD_DIRECTORY"""

import gzip
import os
import re
import shutil
import subprocess

import support as s

GO = '''
package main

import (
	"os"
	"runtime/pprof"
	"sync"
)

//go:noinline
func inner(n int) uint32 {
	x := uint32(1)
	for i := 0; i < n; i++ {
		x = x*1664525 + uint32(i)
	}
	return x
}

//go:noinline
func outer(rounds int) uint32 {
	sum := uint32(0)
	for i := 0; i < rounds; i++ {
		sum += inner(100000)
	}
	return sum
}

func main() {
	cpu, _ := os.Create("cpu.pb.gz")
	pprof.StartCPUProfile(cpu)
	var wait sync.WaitGroup
	for i := 0; i < 2; i++ {
		wait.Add(1)
		go func() { defer wait.Done(); println(outer(3000)) }()
	}
	wait.Wait()
	pprof.StopCPUProfile()
	cpu.Close()
	heap, _ := os.Create("heap.pb.gz")
	pprof.WriteHeapProfile(heap)
	heap.Close()
}
'''
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
PYTHON = '''
import subprocess, sys
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
if len(sys.argv) > 1:
    fib(23)
else:
    children = [subprocess.Popen([sys.executable, "-I", __file__, "child"]) for _ in range(2)]
    fib(24)
    assert all(child.wait() == 0 for child in children)
'''


def environment():
  return {**os.environ, 'HOME': s.Run.work, 'GOCACHE': s.scratch('go-cache'), 'GO111MODULE': 'off', 'PPROF_TMPDIR': s.Run.work}


def import_file(file, *options):
  result = s.new_result()
  s.run_tool('tbconvert', 'import', '-r', result, *options, file)
  return result


def export(result, kind, *options):
  path = s.scratch(f'{os.path.basename(result)}.{kind}')
  s.run_tool('tbconvert', 'export', '--to', kind, '-o', path, *options, result)
  with open(path, 'rb') as file:
    return path, file.read()


def check_round_trip(what, result):
  """What one result says in two forms: itself, and its export imported."""
  path, _ = export(result, 'pprof')
  imported = import_file(path)
  for options in ([], ['--threads']):
    s.check(export(result, 'folded', *options)[1] == export(imported, 'folded', *options)[1],
            f'{what}: folded stacks are the same {" ".join(options)}')
  before, after = s.summary(result), s.summary(imported)
  for key in ('samples', 'stacks', 'cpu_time_s', 'of_no_known_thread_s', 'interval_s', 'elapsed_s'):
    s.check(before[key] == after[key], f'{what}: {key} of the summary', after[key])
  modules = [{(row['Module'], row['Path']): (row['CPU Time'], row['Samples']) for row in s.report(one, 'modules')} for one in (result, imported)]
  s.check(compare_times(*modules), f'{what}: modules have their time', list(modules[1].items())[:3])
  hotspots = [sum_functions(one) for one in (result, imported)]
  s.check(compare_times(*hotspots), f'{what}: functions have their time', list(hotspots[1].items())[:3])
  return imported


def sum_functions(result):
  sums = {}
  for row in s.report(result, 'hotspots', '--call-stack-mode', 'all'):
    key = (row['Function'], row['Module'])
    time, samples = sums.get(key, (0, 0))
    sums[key] = (time + float(row['CPU Time']), samples + int(row['Samples']))
  return sums


def compare_times(before, after):
  """Equal to a microsecond or two: kernel time of samples is stored so. Rows that only one form shows are below the bound."""
  wrong = [key for key in {*before, *after}
           if abs(float(before.get(key, (0, 0))[0]) - float(after.get(key, (0, 0))[0])) > 1e-5 * max(1, len(before))
           or int(before.get(key, (0, 0))[1]) != int(after.get(key, (0, 0))[1])]
  if wrong:
    s.note(f'differ: {[(key, before.get(key), after.get(key)) for key in wrong[:4]]}')
  return bool(before) and not wrong


def build_threads():
  source, program = s.scratch('threads.c'), s.scratch('threads')
  with open(source, 'w', encoding='ascii') as file:
    file.write(C)
  subprocess.run(['gcc', '-O2', '-g', '-o', program, source, '-pthread'], check=True)
  return program


def own_exports():
  got = s.collect_well([build_threads()], what='threads')
  check_round_trip('c', got.result)
  script = s.scratch('children.py')
  with open(script, 'w', encoding='ascii') as file:
    file.write(PYTHON)
  got = s.collect_well(['/usr/bin/python3', '-I', script], what='python3')
  imported = check_round_trip('python3', got.result)
  pids = [{row['PID'] for row in s.report(one, 'threads') if int(row['Samples'])} for one in (got.result, imported)]
  s.check(pids[0] == pids[1], 'python3: processes', sorted(pids[1]))
  done = subprocess.run([s.tool('tbconvert'), 'export', '--to', 'folded', '--from', '0.1s', imported], capture_output=True, text=True)
  s.check(done.returncode == 1 and 'have no times' in done.stderr, 'a part of the time is refused', done.stderr)


def top_of(profile):
  """{function: (ns of its own, ns with what it calls)}"""
  done = subprocess.run(['go', 'tool', 'pprof', '-top', '-nodecount=0', '-nodefraction=0', '-unit=ns', profile], check=True,
                        capture_output=True, text=True, env=environment())
  rows = re.findall(r'^\s*(\d+)(?:ns)?\s+\S+%\s+\S+%\s+(\d+)(?:ns)?\s+\S+%\s+(.*?)(?: \((?:partial-)?inline\))?$', done.stdout, re.MULTILINE)
  return {name: (int(own), int(total)) for own, total, name in rows}


def go_profiles():
  if not shutil.which('go'):
    s.skip('Go profiles', 'golang-go is not installed')
    return
  source = s.scratch('work.go')
  with open(source, 'w', encoding='ascii') as file:
    file.write(GO)
  subprocess.run(['go', 'build', '-o', s.scratch('work'), source], check=True, env=environment(), cwd=s.Run.work)
  subprocess.run([s.scratch('work')], check=True, capture_output=True, cwd=s.Run.work)
  profile = s.scratch('cpu.pb.gz')
  imported = import_file(profile)
  theirs = {name: own / 1e9 for name, (own, _) in top_of(profile).items() if own}
  ours = {row['Function']: float(row['CPU Time']) for row in s.report(imported, 'hotspots', '--call-stack-mode', 'all')}
  s.check(theirs and ours.keys() == theirs.keys() and all(abs(ours[name] - theirs[name]) < 1e-6 for name in ours),
          'go: functions have the time that go tool pprof shows', ours)
  tree = s.report(imported, 'top-down', '--call-stack-mode', 'all')
  s.check(any(row['Function Stack'].strip() == 'main.inner' for row in tree), 'go: the tree', len(tree))
  names = {row['Module'] for row in s.report(imported, 'modules')}
  s.check('work' in names, 'go: modules', names)
  total = s.summary(imported)
  s.check(total['interval_s'] == 0.01 and total['samples'] * 0.01 - total['cpu_time_s'] < 1e-6, 'go: samples and their distance', total['samples'])
  heap = import_file(s.scratch('heap.pb.gz'))
  text = s.run_tool('tbreport', 'summary', heap).stdout
  s.check('inuse_space in bytes, and has no times' in text, 'go: values that are no times are said to be none')
  plain = s.scratch('plain.pb')
  with gzip.open(profile) as packed, open(plain, 'wb') as file:
    file.write(packed.read())
  s.check(export(import_file(plain), 'folded')[1] == export(imported, 'folded')[1], 'go: without gzip too')
  counted = import_file(profile, '--event', 'samples')
  s.check(export(counted, 'folded')[1] == export(imported, 'folded')[1], 'go: the type of values can be chosen')
  done = subprocess.run([s.tool('tbconvert'), 'import', '-r', s.scratch('none'), '--event', 'cycles', profile], capture_output=True, text=True)
  s.check(done.returncode == 1 and 'name one with --event: samples, cpu' in done.stderr and not os.path.exists(s.scratch('none')),
          'an unknown type leaves nothing', done.stderr)


s.start()
for part in (own_exports, go_profiles):
  with s.section(part.__name__):
    part()
s.finish()
