"""tbconvert export --to otlp, decoded by protoc: fields are those of the published format, functions, stacks, threads and sums those
of our reports."""

import os
import re
import shutil
import subprocess

import support as s

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tools/otlp')

# Of release 1.11.0 of the published format: numbers of fields, and what messages they are. (Facts, apart from our otlp.proto.)
VALUE = {'string_value': 1, 'bool_value': 2, 'int_value': 3, 'double_value': 4, 'array_value': (5, {'values': (1, {'string_value': 1})}),
         'kvlist_value': 6, 'bytes_value': 7}
KEY_VALUE = {'key': 1, 'value': (2, VALUE)}
VALUE_TYPE = {'type_strindex': 1, 'unit_strindex': 2}
SAMPLE = {'stack_index': 1, 'attribute_indices': 2, 'link_index': 3, 'values': 4, 'timestamps_unix_nano': 5}
PROFILE = {'sample_type': (1, VALUE_TYPE), 'samples': (2, SAMPLE), 'time_unix_nano': 3, 'duration_nano': 4, 'period_type': (5, VALUE_TYPE),
           'period': 6, 'profile_id': 7, 'dropped_attributes_count': 8, 'attribute_indices': 11}
DICTIONARY = {
    'mapping_table': (1, {'memory_start': 1, 'memory_limit': 2, 'file_offset': 3, 'filename_strindex': 4, 'attribute_indices': 5}),
    'location_table': (2, {'mapping_index': 1, 'address': 2, 'lines': (3, {'function_index': 1, 'line': 2, 'column': 3}),
                           'attribute_indices': 4}),
    'function_table': (3, {'name_strindex': 1, 'system_name_strindex': 2, 'filename_strindex': 3, 'start_line': 4}),
    'link_table': (4, {'trace_id': 1, 'span_id': 2}),
    'string_table': 5,
    'attribute_table': (6, {'key_strindex': 1, 'value': (2, VALUE), 'unit_strindex': 3}),
    'stack_table': (7, {'location_indices': 1}),
}
SCOPE = {'scope': (1, {'name': 1, 'version': 2}), 'profiles': (2, PROFILE), 'schema_url': 3}
DATA = {'resource_profiles': (1, {'resource': (1, {'attributes': (1, KEY_VALUE)}), 'scope_profiles': (2, SCOPE), 'schema_url': 3}),
        'dictionary': (2, DICTIONARY)}
PACKED = {'attribute_indices', 'values', 'location_indices', 'timestamps_unix_nano'}

CPLUSPLUS = '''
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>
static inline uint64_t step(uint64_t x, uint64_t i) { for (int k = 0; k < 8; k++) x = x * x + i; return x; }
template <typename T> [[gnu::noinline]] uint64_t work(long rounds) {
  uint64_t sum = sizeof(T);
  for (long i = 0; i < rounds; i++) for (int j = 0; j < 1000; j++) sum = sum * 1664525 + step(sum, j);
  return sum;
}
int main(int, char **arguments) {
  long rounds = std::atol(arguments[1]);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back([=] { if (i < 2 ? work<int>(rounds) == 0 : work<char>(rounds) == 0) std::abort(); });
  for (auto &thread : threads) thread.join();
}
'''
PYTHON = '''
import subprocess, sys
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
if len(sys.argv) > 1:
    fib(24)
else:
    children = [subprocess.Popen([sys.executable, "-I", __file__, "child"]) for _ in range(3)]
    fib(25)
    assert all(child.wait() == 0 for child in children)
'''
NODE = '''
function inner(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 1664525 + i) >>> 0; return x; }
const end = Date.now() + 800;
while (Date.now() < end) inner(20000);
'''


def protoc(data, *options):
  return subprocess.run(['protoc', *options], input=data, check=True, capture_output=True, timeout=120).stdout.decode()


def parse(text):
  """Text format of protobuf: {key: [value, ...]}, values as written or again such."""
  stack = [{}]
  for line in text.splitlines():
    line = line.strip()
    if line == '}':
      stack.pop()
    elif line.endswith(' {'):
      stack.append({})
      stack[-2].setdefault(line[:-2], []).append(stack[-1])
    else:
      key, _, value = line.partition(': ')
      stack[-1].setdefault(key, []).append(value)
  return stack[0]


def unquote(text):
  if '\\' not in text:
    return text[1:-1]
  return re.sub(rb'\\([0-7]{3}|.)', lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else {b'n': b'\n', b'r': b'\r', b't': b'\t'}.get(m[1], m[1]),
                text[1:-1].encode()).decode()


def join(messages):
  """Parts of one embedded message, as protobuf joins them."""
  whole = {}
  for message in messages:
    for key, values in ({} if isinstance(message, str) else message).items():
      whole.setdefault(key, []).extend(values)
  return whole


def differences(what, named, raw, fields):
  """Where what protoc reads by our names differs from the same bytes by the published numbers."""
  found = [f'{what}: {key}' for key in named if key not in fields]
  numbers = {str(field if isinstance(field, int) else field[0]) for field in fields.values()}
  found += [f'{what}: number {key}' for key in raw if key not in numbers]
  for key, field in fields.items():
    ours = named.get(key, [])
    if isinstance(field, int):
      theirs = raw.get(str(field), [])
      if key not in PACKED and len(ours) != len(theirs):
        found.append(f'{what}.{key}: {len(ours)} {len(theirs)}')
      continue
    theirs = raw.get(str(field[0]), [])
    if key == 'dictionary':
      ours, theirs = [join(ours)], [join(theirs)]
    if len(ours) != len(theirs):
      found.append(f'{what}.{key}: {len(ours)} {len(theirs)}')
    for left, right in zip(ours, theirs):
      found += differences(f'{what}.{key}', left, {} if isinstance(right, str) else right, field[1])
  return found


class Decoded:
  """An export: samples as (attributes of the resource, those of the sample, frames from the root on, value)."""

  def __init__(self, what, path):
    with open(path, 'rb') as file:
      data = file.read()
    named = parse(protoc(data, f'--proto_path={PROTO}', '--decode=otlp.ProfilesData', 'otlp.proto'))
    wrong = differences('data', named, parse(protoc(data, '--decode_raw')), DATA)
    s.check(not wrong, f'{what}: names and published numbers of fields', wrong[:5])
    tables = join(named['dictionary'])
    self.texts = [unquote(text) for text in tables['string_table']]
    self.tables = tables
    self.attributes = [(self.text(item, 'key_strindex'), self.value(item['value'][0])) if item else None for item in tables['attribute_table']]
    self.stacks = [self.frames(item) for item in tables['stack_table']]
    self.profiles = {'cpu': [], 'samples': []}
    self.resources = []
    for resource in named['resource_profiles']:
      of = {unquote(item['key'][0]): self.value(item['value'][0]) for item in resource['resource'][0]['attributes']}
      self.resources.append(of)
      for profile in resource['scope_profiles'][0]['profiles']:
        self.profile = profile
        self.profiles[self.text(profile['sample_type'][0], 'type_strindex')] += [
            (of, self.attributes_of(sample), self.stacks[int(sample['stack_index'][0])], int(sample['values'][0]))
            for sample in profile.get('samples', [])]

  def text(self, message, key):
    return self.texts[int(message.get(key, ['0'])[0])]

  def attributes_of(self, message):
    return dict(self.attributes[int(index)] for index in message.get('attribute_indices', []))

  def value(self, message):
    (kind, (value, *_)), = message.items()
    if kind == 'array_value':
      return [self.value(item) for item in value['values']]
    return unquote(value) if kind == 'string_value' else value == 'true' if kind == 'bool_value' else int(value)

  def frames(self, stack):
    frames = []
    for index in reversed(stack.get('location_indices', [])):
      for line in reversed(self.tables['location_table'][int(index)]['lines']):
        frames.append(self.text(self.tables['function_table'][int(line['function_index'][0])], 'name_strindex'))
    return tuple(frames)

  def mapping(self, path):
    found = [item for item in self.tables['mapping_table'] if item and self.text(item, 'filename_strindex') == path]
    return self.attributes_of(found[0]) if found else {}

  def sums(self, kind, key):
    """{key(sample): sum}"""
    sums = {}
    for sample in self.profiles[kind]:
      sums[key(sample)] = sums.get(key(sample), 0) + sample[3]
    return sums


def export(what, result, *options):
  path = s.scratch(os.path.basename(result) + '.otlp')
  s.run_tool('tbconvert', 'export', '--to', 'otlp', '-o', path, *options, result)
  return Decoded(what, path)


def check_functions(what, result, decoded, *options):
  ours, rows = {}, {}
  for row in s.report(result, 'hotspots', '--call-stack-mode', 'all', *options):
    ours[row['Function']] = ours.get(row['Function'], 0) + float(row['CPU Time'])
    rows[row['Function']] = rows.get(row['Function'], 0) + 1
  theirs = {name: ns / 1e9 for name, ns in decoded.sums('cpu', lambda sample: sample[2][-1]).items()}
  if '[No sample]' not in ours:
    theirs.pop('[No sample]', None)  # rows that reports show from 0.05 % on
  theirs.pop('[No known thread]', None)
  wrong = [f'{name}: {ours.get(name, 0):.6f} {theirs.get(name, 0):.9f}' for name in {*ours, *theirs}
           if abs(ours.get(name, 0) - theirs.get(name, 0)) > 0.6e-6 * rows.get(name, 1)]
  s.check(ours and not wrong, f'{what}: functions have the time that hotspots shows', f'{len(ours)} functions {wrong[:5]}')


def folded_name(name):
  return re.sub('[\x00-\x1f\x7f]', '?', name).replace(';', ':')


def check_stacks(what, result, decoded):
  ours = {tuple(frames): count for frames, count in s.folded(result) if frames[1:] != [s.KERNEL]}
  theirs = decoded.sums('samples', lambda sample: (folded_name(sample[0].get('process.title', '[Unknown]')), *map(folded_name, sample[2])))
  theirs = {key: count for key, count in theirs.items() if key[1:] != (s.KERNEL,)}
  wrong = [key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key)]
  s.check(ours and not wrong, f'{what}: stacks and their samples are those of folded', f'{len(ours)} stacks, {len(wrong)} differ {wrong[:2]}')


def check_sums(what, result, decoded):
  total = s.summary(result)
  cpu_s = sum(sample[3] for sample in decoded.profiles['cpu']) / 1e9
  all_s = total['cpu_time_s'] + total['of_no_known_thread_s']
  s.check(abs(cpu_s - all_s) < 2e-6, f'{what}: the sum is the summary\'s CPU time', f'{cpu_s:.6f} {all_s:.6f}')
  count = sum(sample[3] for sample in decoded.profiles['samples'])
  s.check(count == total['samples'] > 0, f'{what}: the number of samples', count)
  states = decoded.sums('samples', lambda sample: sample[1]['tbcollect.stack'])
  stacks = total['stacks']
  wanted = {'complete': stacks['complete'], 'guessed': stacks['guessed'], 'none': stacks['none'], 'skipped': sum(stacks['skipped'].values())}
  s.check(states == {state: number for state, number in wanted.items() if number}, f'{what}: states of stacks', states)


def check_threads(what, result, decoded):
  """Threads with many samples have the time of their accounts; all with samples are there."""
  theirs = decoded.sums('cpu', lambda sample: (str(sample[0].get('process.pid')), str(sample[1].get('thread.id')), sample[1].get('thread.name')))
  rows = [row for row in s.report(result, 'threads') if row['TID'] and int(row['Samples'])]
  missing = [row for row in rows if (row['PID'], row['TID'], row['Thread']) not in theirs]
  wrong = [row for row in rows if int(row['Samples']) >= 50
           and abs(theirs.get((row['PID'], row['TID'], row['Thread']), 0) / 1e9 - float(row['CPU Time'])) > 1e-6]
  s.check(rows and not missing and not wrong, f'{what}: threads have their time', f'{len(rows)} threads {missing[:2]} {wrong[:2]}')


def check_all(what, result):
  decoded = export(what, result)
  check_functions(what, result, decoded)
  check_stacks(what, result, decoded)
  check_sums(what, result, decoded)
  check_threads(what, result, decoded)
  return decoded


def build_id(path):
  notes = subprocess.run(['readelf', '-n', path], check=True, capture_output=True, text=True).stdout
  return re.search(r'Build ID: ([0-9a-f]+)', notes)[1]


def cplusplus():
  source, program = s.scratch('threads.cc'), s.scratch('threads')
  with open(source, 'w', encoding='ascii') as file:
    file.write(CPLUSPLUS)
  subprocess.run(['g++', '-O2', '-g', '-o', program, source, '-pthread'], check=True)
  got = s.collect_well([program, '15000'], what='c++')
  decoded = check_all('c++', got.result)
  total = s.summary(got.result)
  resource = decoded.resources[0]
  s.check(resource['process.executable.path'] == program and resource['process.executable.name'] == 'threads'
          and resource['process.command_line'] == f'{program} 15000' and resource['host.name'] == total['host']['name']
          and resource['os.type'] == 'linux', 'c++: attributes of the resource', resource)
  s.check(decoded.mapping(program).get('process.executable.build_id.gnu') == build_id(program), 'c++: the build-id', decoded.mapping(program))
  s.check(any(sample[2][-2:] == ('work<int>', 'step') for sample in decoded.profiles['cpu']), 'c++: inlined functions',
          sorted({sample[2][-2:] for sample in decoded.profiles['cpu']})[:5])
  s.check(decoded.profile['period'] == ['1000000'] and abs(int(decoded.profile['duration_nano'][0]) / 1e9 - total['elapsed_s']) < 2e-6,
          'c++: period and duration', f'{decoded.profile["period"]} {decoded.profile["duration_nano"]}')
  s.check(f'Command Line: {program} 15000' in decoded.attributes_of(decoded.profile)['pprof.profile.comment'], 'c++: comments')
  for options in (['--inline', 'off'], ['--filter', 'function=~work|step']):
    check_functions(f'c++ {" ".join(options)}', got.result, export('c++', got.result, *options), *options)


def python3():
  script = s.scratch('children.py')
  with open(script, 'w', encoding='ascii') as file:
    file.write(PYTHON)
  got = s.collect_well(['/usr/bin/python3', '-I', script], what='python3')
  decoded = check_all('python3', got.result)
  rows = {row['PID'] for row in s.report(got.result, 'threads') if row['TID'] and int(row['Samples'])}
  pids = {str(sample[0]['process.pid']) for sample in decoded.profiles['samples']}
  s.check(pids == rows, 'python3: each process with samples is a resource', sorted(pids))
  lines = [resource.get('process.command_line') for resource in decoded.resources]
  s.check(f'/usr/bin/python3 -I {script}' in lines, 'python3: the command line', lines)


def generated_code():
  got = s.collect_well([s.target('jit'), '400'], what='generated code')
  decoded = check_all('generated code', got.result)
  s.check(any('jit_square root' in sample[2] for sample in decoded.profiles['cpu']), 'generated code: its names')


def node():
  if not shutil.which('node'):
    s.skip('node', 'not installed')
    return
  script = s.scratch('work.js')
  with open(script, 'w', encoding='ascii') as file:
    file.write(NODE)
  got = s.collect_well(['node', '--perf-basic-prof', '--interpreted-frames-native-stack', script], what='node', cwd=s.Run.work)
  decoded = check_all('node', got.result)
  s.check(any('inner' in name for sample in decoded.profiles['cpu'] for name in sample[2]), 'node: names of generated code')


def to_streams():
  result = s.collect_well([s.target('jit'), '50'], what='streams').result
  outputs = [subprocess.run([s.tool('tbconvert'), 'export', '--to', 'otlp', '-o', '-', result], capture_output=True, check=True).stdout
             for _ in range(2)]
  s.check(outputs[0] and outputs[0] == outputs[1], 'two exports are equal, byte by byte', len(outputs[0]))


s.start()
if shutil.which('protoc'):
  for part in (cplusplus, python3, generated_code, node, to_streams):
    with s.section(part.__name__):
      part()
else:
  s.skip('protoc', 'protobuf-compiler is not installed')
s.finish()
