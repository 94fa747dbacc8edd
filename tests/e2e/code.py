"""tbreport source and assembly: against addr2line, objdump and perf's own reading of the samples."""

import collections
import csv
import io
import os
import re
import subprocess

import support as s
from support import check

MODES = ('--call-stack-mode', 'all')
FUNCTIONS = ('mandelbrot_pixel', 'compare_numbers', 'hash_bytes')
NEAR = 1e-5  # perf's periods are whole ns of each sample, ours us of each row


def perf_stacks(result):
  """[(ns, [address] from the leaf)] of frames in the demo, as perf script shows an export."""
  data = s.scratch('code.data')
  s.run_tool('tbconvert', 'export', '--to', 'perf', '-o', data, result)
  found = []
  for line in subprocess.run(['perf', 'script', '-i', data, '-F', 'period,ip,sym,symoff,dso', '--no-inline'], check=True,
                             capture_output=True, text=True, timeout=120).stdout.splitlines():
    frame = re.match(r'\s+[0-9a-f]+ (.*)\+0x([0-9a-f]+) \((.*)\)$', line)
    if re.match(r'\s*\d+\s*$', line):
      found.append((int(line), []))
    elif frame and found:
      found[-1][1].append((frame.group(1), int(frame.group(2), 16)))
    elif found and line.strip():
      found[-1][1].append(('', 0))
  return found


def symbols_of(path):
  """{function: (start, size)}"""
  text = subprocess.run(['nm', '-S', path], check=True, capture_output=True, text=True).stdout
  rows = (line.split() for line in text.splitlines())
  return {row[3]: (int(row[0], 16), int(row[1], 16)) for row in rows if len(row) == 4 and row[2] in 'tT'}


def lines_of(path, addresses):
  """{address: line} by addr2line."""
  order = sorted(addresses)
  text = subprocess.run(['addr2line', '-e', path, *map(hex, order)], check=True, capture_output=True, text=True).stdout
  found = {}
  for address, line in zip(order, text.splitlines()):
    number = re.search(r':(\d+)', line)
    found[address] = int(number.group(1)) if number else 0
  return found


def seconds(text):
  return float(text) if text else 0.0


def code_rows(report, function, result, *options):
  text = s.run_tool('tbreport', report, function, result, '--format', 'csv', *options).stdout
  return list(csv.DictReader(io.StringIO(text)))


def sums(rows, key, column):
  found = collections.defaultdict(float)
  for row in rows:
    found[row[key]] += seconds(row[column])
  return {name: value for name, value in found.items() if value > 0}


def differences(seen, expected):
  return {key: (seen.get(key), expected.get(key)) for key in set(seen) | set(expected)
          if abs(seen.get(key, 0) - expected.get(key, 0)) > NEAR}


def check_source(result, stacks, path, function):
  start = symbols_of(path)[function][0]
  own = collections.defaultdict(float)
  for ns, frames in stacks:
    if frames and frames[0][0] == function:
      own[start + frames[0][1]] += ns / 1e9
  lines = lines_of(path, own)
  expected = collections.defaultdict(float)
  for address, time in own.items():
    expected[str(lines[address])] += time
  rows = code_rows('source', function, result, *MODES)
  off = differences(sums(rows, 'Line', 'CPU Time:Self'), expected)
  check(own and len(rows) >= 2 and not off, f'source {function}: the times of lines are those of addr2line', f'{len(rows)} rows, off {off}')
  with open(rows[0]['Source File'], encoding='utf-8') as file:
    text = file.read().expandtabs().splitlines()
  wrong = [row for row in rows if row['Line'] and row['Source'] != text[int(row['Line']) - 1]]
  check(not wrong and any(row['Line'] for row in rows), f'source {function}: the text is that of the file', str(wrong[:2]))


def objdump_addresses(path, function):
  text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', f'--disassemble={function}', path], check=True, capture_output=True,
                        text=True).stdout
  return [int(match.group(1), 16) for match in re.finditer(r'^\s+([0-9a-f]+):\t', text, re.MULTILINE)]


def check_assembly(result, stacks, path, function):
  start = symbols_of(path)[function][0]
  rows = code_rows('assembly', function, result, *MODES)
  seen = [int(row['Address'], 16) for row in rows]
  expected = objdump_addresses(path, function)
  check(seen == expected, f'assembly {function}: the instructions are those of objdump', f'{len(seen)} and {len(expected)}')
  own = collections.defaultdict(float)
  for ns, frames in stacks:
    if frames and frames[0][0] == function:
      own[start + frames[0][1]] += ns / 1e9
  off = differences({int(address, 16): time for address, time in sums(rows, 'Address', 'CPU Time:Self').items()}, own)
  check(own and not off, f'assembly {function}: the times of instructions are those of perf script', f'{len(own)} addresses, off {off}')


def check_totals(result, stacks):
  """A call has the time of what it calls."""
  expected = sum(ns for ns, frames in stacks if any(name == 'compare_numbers' for name, _ in frames)) / 1e9
  rows = code_rows('assembly', 'sort_numbers', result, *MODES)
  calls = [row for row in rows if '<' in row['Instruction'] and 'qsort' in row['Instruction'] and seconds(row['CPU Time:Total']) > 0]
  check(len(calls) == 1 and seconds(calls[0]['CPU Time:Total']) >= expected - NEAR > 0, 'assembly: a call has its callees\' time',
        f'{calls} for {expected:.6f} s')
  lines = [row for row in code_rows('source', 'demo.c', result, *MODES) if 'qsort(' in row['Source']]
  check(len(lines) == 1 and abs(seconds(lines[0]['CPU Time:Total']) - seconds(calls[0]['CPU Time:Total'])) < NEAR,
        'source of a file: the line of the call has that time', str(lines))


def check_text(result):
  text = s.run_tool('tbreport', 'assembly', 'mandelbrot_pixel', result, '--syntax', 'intel').stdout
  check('xmm0' in text and '%xmm0' not in text, 'assembly: Intel\'s syntax')
  ascii_text = s.run_tool('tbreport', 'assembly', 'mandelbrot_pixel', result).stdout
  heads = re.findall(r'> \w+ ', ascii_text)
  check(len(heads) >= 2, 'assembly: arrows lead to the targets of jumps', ascii_text[:300])


def refuses(words, *arguments):
  done = s.run_tool('tbreport', *arguments, check_status=False)
  check(done.returncode != 0 and words in done.stderr and len(done.stderr.splitlines()) == 1, f'tbreport {" ".join(arguments[:2])} says why not',
        f'{done.returncode}: {done.stderr}')


INLINED = '''
static inline __attribute__((always_inline)) unsigned tiny(unsigned x)
{
  for (int i = 0; i < 1000; i++)
    x = (x * 1664525u + 1013904223u) ^ x >> 7;
  return x;
}
__attribute__((noinline)) unsigned host(unsigned n)
{
  unsigned sum = 0;
  for (unsigned i = 0; i < n; i++)
    sum += tiny(i + sum);
  return sum;
}
int main(void)
{
  return host(200000) == 0;
}
'''


def check_inlined():
  """Lines of an inlined function are its own, its instructions those of the function that it is in."""
  path = s.scratch('inlined')
  with open(path + '.c', 'w', encoding='ascii') as file:
    file.write(INLINED)
  subprocess.run(['gcc', '-O1', '-g', '-o', path, path + '.c'], check=True, timeout=60)
  result = s.collect_well([path]).result
  rows = code_rows('source', 'tiny', result)
  check(rows and {row['Line'] for row in rows} <= {'4', '5', '6'} and sum(seconds(row['CPU Time:Self']) for row in rows) > 0.05,
        'source of an inlined function', str(rows))
  refuses('it is inlined', 'assembly', 'tiny', result)
  refuses('tbreport assembly host', 'assembly', 'tiny', result)
  rows = code_rows('assembly', 'host', result)
  own = sum(seconds(row['CPU Time:Self']) for row in rows)
  total = sum(seconds(row['CPU Time']) for row in s.report(result, 'hotspots', '--filter', 'process=inlined', '--filter', 'module=inlined'))
  check(rows and abs(own - total) < 1e-4, 'assembly has the time of what is inlined', f'{own} of {total} s')


def check_moved(result, path):
  """Sources found below another directory; a source that is nowhere; a program that was changed."""
  folder = s.scratch('sources')
  os.makedirs(folder, exist_ok=True)
  with open(os.path.join(folder, 'demo.c'), 'wb') as file:
    file.write(b'/* \xff\x1b[31m */\n' * 60)
  rows = code_rows('source', 'compare_numbers', result, '--source-dir', folder)
  check(rows and all(row['Source'] == '/* \\xff\\x1b[31m */' for row in rows if row['Line']), 'source: --source-dir goes first, nothing steers',
        str(rows[:1]))
  done = s.run_tool('tbreport', 'source', 'compare_numbers', result, '--source-dir', folder)
  check('changed after the collection' in done.stderr, 'source: a file changed later is named', done.stderr)
  refuses('no such function', 'source', 'nosuchfunction', result)
  refuses('its function is missing', 'assembly')
  os.rename(path, path + '.old')
  subprocess.run(['cp', '/bin/true', path], check=True)
  done = s.run_tool('tbreport', 'assembly', 'compare_numbers', result, '--format', 'csv')
  rows = list(csv.DictReader(io.StringIO(done.stdout)))
  check('another file is there now' in done.stderr and rows and not any(row['Instruction'] for row in rows),
        'assembly: another file in its place gives no instructions', done.stderr)


def main():
  s.start()
  path = s.scratch('demo')
  subprocess.run(['cp', s.target('demo'), path], check=True)
  got = s.collect_well([path, '1'])
  stacks = perf_stacks(got.result)
  for function in FUNCTIONS:
    with s.section(function):
      check_source(got.result, stacks, path, function)
      check_assembly(got.result, stacks, path, function)
  with s.section('totals'):
    check_totals(got.result, stacks)
  with s.section('text'):
    check_text(got.result)
  with s.section('inlined'):
    check_inlined()
  with s.section('moved'):
    check_moved(got.result, path)
  s.finish()


if __name__ == '__main__':
  main()
