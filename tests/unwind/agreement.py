"""Agreement with libunwind and libdwfl on real programs; what it shows is explained in agreement.md.

Usage: agreement.py [--untabled] AGREEMENT TARGETS [NAME...]   AGREEMENT is the built unwind_agreement, or,
with --untabled, unwind_untabled, which compares with walks by analysis alone: with the files' own symbols, and with
all. TARGETS is the folder of the test targets. Exit status 1: a difference, or more of what agreement.md explains than
is known of the program; 77: no difference, but a program is not installed, which is a failure where
the environment says TESTS_NEED_ALL, as tools/bootstrap long does."""

import os
import shutil
import subprocess
import sys
import tempfile

SAMPLES = '500'
MISSING = 77
C = '#include <stdlib.h>\nstatic int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n' \
    'static int cmp(const void *a, const void *b) { return *(int *)a - *(int *)b + (fib(9) == 0); }\n' \
    'int main(void) { static int v[5000]; volatile int s = 0; for (;;) { for (int i = 0; i < 5000; i++) v[i] = i * 7919 % 5003;' \
    ' qsort(v, 5000, 4, cmp); s += fib(28); } }\n'
# The first thread is the one that is recorded: its work must not move to another.
GO = 'package main\nimport ("sort"; "fmt"; "runtime")\nfunc init() { runtime.LockOSThread() }\n' \
     'func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }\n' \
     'func main() { s := 0; for { v := make([]string, 500); for i := range v { v[i] = fmt.Sprint(i * 7919 % 5003) }\n' \
     'sort.Strings(v); s += fib(18); if s == 1 { fmt.Println(s) } } }\n'
RUST = 'fn fib(n: u32) -> u64 { if n < 2 { n as u64 } else { fib(n - 1) + fib(n - 2) } }\n' \
       'fn main() { let mut s = 0u64; loop { let mut v: Vec<String> = (0..500u64).map(|i| (i * 7919 % 5003)' \
       '.to_string()).collect(); v.sort(); s = s.wrapping_add(fib(18) + v[0].len() as u64);' \
       ' if s == 1 { println!("{}", s); } } }\n'
JAVA = 'import java.util.*; public class J { public static void main(String[] a) { long s = 0; while (true) {' \
       ' List<String> l = new ArrayList<>(); for (int i = 0; i < 500; i++) l.add("" + (i * 7919 % 5003));' \
       ' Collections.sort(l); s += l.get(0).length(); if (s == 1) System.out.println(s); } } }\n'
NODE = 'while (1) { let a = []; for (let i = 0; i < 500; i++) a.push(String(i * 7919 % 5003)); a.sort(); }'
SQL = 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 100000000)' \
      ' select count(distinct x % 9973), group_concat(x % 7) from c;'
BIG = ''.join(f'int f{i}(int n, const char *t) {{ int s = 0; for (int i = 0; i < n; i++) switch (t[i]) {{'
              f' case \'a\': s += i * {i}; break; case \'b\': s ^= n; break; default: s -= t[i]; }} return s; }}\n'
              for i in range(2000))


def programs(targets):
  """name: (source and its file, programs that it takes, command that builds it, delay in ms, bounds, command that
  runs it). The bounds are agreement.c's; without any, all stacks are complete and nothing needs an explanation."""
  cc1 = subprocess.run(['gcc', '-print-prog-name=cc1'], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
  clang = '/usr/lib/llvm-14/bin/clang'
  rust, java = ('r.rs', RUST), ('J.java', JAVA)
  lld = ['-C', 'link-arg=-fuse-ld=lld']
  return {
      'python3': (None, [], None, 200, [], ['/usr/bin/python3', '-c', 'while 1: sorted(map(str, range(999)))']),
      'xz': (None, [], None, 200, [], ['xz', '-9', '-k', '-c', '/dev/zero']),
      'openssl': (None, [], None, 400, [], ['openssl', 'speed', '-seconds', '30', 'sha256', 'rsa2048']),
      'openssl_sha512': (None, [], None, 400, [], ['openssl', 'speed', '-seconds', '30', '-bytes', '16384', 'sha512']),
      'sqlite3': (None, [], None, 200, [], ['sqlite3', ':memory:', SQL]),
      'cc1': (('b.c', BIG), [], None, 200, ['-c', '98'], [cc1, '-quiet', '-O2', '-o', '/dev/null', 'b.c']),
      'clang': (('b.c', BIG), [], None, 100, [], [clang, '-cc1', '-O2', '-emit-obj', '-o', '/dev/null', 'b.c']),
      'rust': (rust, [], ['rustc', '-O', 'r.rs'], 200, [], ['./r']),
      'rust_lld': (rust, ['ld.lld'], ['rustc', '-O', *lld, 'r.rs'], 200, [], ['./r']),
      # One thread at a time runs Go code, and is the one that is sampled.
      'go': (('g.go', GO), [], ['go', 'build', 'g.go'], 300, ['-c', '80', '-l', '1'], ['env', 'GOMAXPROCS=1', './g']),
      # Compiled Java code has neither call frame information nor frame pointers: mostly the leaf is known.
      'java': (java, [], ['javac', 'J.java'], 1500, ['-c', '0', '-n', '30', '-m', '105'], ['java', '-cp', '.', 'J']),
      'java_framed': (java, [], ['javac', 'J.java'], 1500, ['-c', '95', '-n', '4'], ['java', '-XX:+PreserveFramePointer', '-cp', '.', 'J']),
      'java_interpreted': (java, [], ['javac', 'J.java'], 1500, ['-c', '92', '-n', '6'], ['java', '-Xint', '-cp', '.', 'J']),
      'node': (None, [], None, 800, ['-b', '25', '-c', '75', '-n', '25'], ['node', '-e', NODE]),
      'musl': (('m.c', C), [], ['musl-gcc', '-O2', '-static', '-Wl,--eh-frame-hdr', '-o', 'm', 'm.c'], 200, [], ['./m']),
      'altstack': (None, [], None, 300, [], [f'{targets}/target-altstack', '20000']),
      'nested': (None, [], None, 100, [], [f'{targets}/target-nested', '30', '1000000']),
  }


def missing(takes, build, command):
  """The first program that is not here, if any."""
  for name in takes + (build or [])[:1] + command[:1]:
    if not name.startswith('./') and not shutil.which(name):
      return name
  return None


def run_untabled(untabled, name, delay, command, folder):
  """Runs both ways; the higher exit status."""
  least = {'cc1': '93', 'clang': '88'}.get(name, '97')
  return max(subprocess.run([untabled, *way, '-c', least, '-d', str(max(delay, 1000)), SAMPLES, *command], cwd=folder,
                            check=False).returncode for way in ([], ['-s']))


def run(name, agreement, source, takes, build, delay, bounds, command, is_untabled=False):
  """The exit status, 77 where a program is missing."""
  absent = missing(takes, build, command)
  if absent:
    print(f'{name}: SKIPPED, {absent} is not installed')
    return MISSING
  with tempfile.TemporaryDirectory() as folder:
    if source:
      with open(os.path.join(folder, source[0]), 'w', encoding='ascii') as file:
        file.write(source[1])
    if build and subprocess.run(build, cwd=folder, check=False,
                                env={**os.environ, 'GOCACHE': f'{folder}/cache'}).returncode:
      print(f'{name}: FAILED, cannot be built')
      return 1
    if is_untabled:
      return run_untabled(agreement, name, delay, command, folder)
    done = subprocess.run([agreement, '-d', str(delay), *bounds, SAMPLES, *command], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', check=False)
    print(f'{name}: {done.stdout.strip()}', '' if done.returncode == 0 else f'(FAILED, {done.returncode})', flush=True)
    return done.returncode


def summary(results):
  """The exit status for those of all programs."""
  skipped, failed = results.count(MISSING), sum(result not in (0, MISSING) for result in results)
  print(f'{len(results)} programs: {failed} failed, {skipped} skipped')
  if failed or not results or (skipped and os.environ.get('TESTS_NEED_ALL')):
    return 1
  return MISSING if skipped else 0


def main():
  is_untabled = sys.argv[1] == '--untabled'
  agreement, targets, *names = sys.argv[1 + is_untabled:]
  known = programs(os.path.abspath(targets))
  return summary([run(name, os.path.abspath(agreement), *known[name], is_untabled) for name in names or known])


if __name__ == '__main__':
  sys.exit(main())
