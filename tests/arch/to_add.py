"""The examples of ARCHITECTURE.md's list "To add ...": makes the edits that an analysis, a reason to skip stacks and a column
of a report cost, in a copy of the product, compiles what they change, and looks for what they add in the programs' output.
(A stream has tests/profile/made_up.py.) Usage: to_add.py BUILD_DIRECTORY"""

import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

import tree

FOLDERS = ('collector/', 'containers/', 'profile/', 'program/', 'tbrw/', 'tools/', 'unwind/')

# file -> (text that is there once, what comes before it)
EDITS = {
    'collector/analysis/analysis.c': [('\t{"concurrency",', '\t{"made-up", "mu", .switches = true, .waits = false},\n')],
    'profile/profile.h': [('\tPROFILE_SKIP_REASON_COUNT\n', '\tPROFILE_SKIP_MADE_UP,\n')],
    'tools/collection/skip_reason.c': [('\t[PROFILE_SKIP_RED_ZONE] =\n', '''	[PROFILE_SKIP_MADE_UP] = {.key = "made_up", .words = "a reason made up", .advice = "{share} %: none",
		.column = {"Made Up", "skipped_made_up", TABLE_COUNT, TABLE_ALL}},
''')],
    'tools/groups/grouping_columns.c': [('\t/* Empty without states: sampling alone does not see waits. */\n',
                                      '\t{GROUPING_SAMPLES, BY_ANY, {"Made Up", "made_up", TABLE_COUNT, TABLE_DATA}},\n')],
}

# What an edited header says anew: files without the name, in them or in what they include, stay as they are.
CHANGED_NAMES = {'profile/profile.h': 'PROFILE_SKIP_REASON_COUNT'}

PROGRAMS = ('collector/tbcollect', 'tools/tbreport')


def fail(message):
  print(message)
  sys.exit(1)


def copy_product(folder):
  for path in tree.sources('.c', '.h'):
    if path.startswith(FOLDERS):
      os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
      shutil.copy(os.path.join(tree.ROOT, path), os.path.join(folder, path))
  for path, edits in EDITS.items():
    text = tree.read(path)
    for place, more in edits:
      if text.count(place) != 1:
        fail(f'{path}: {place!r} is there {text.count(place)} times, not once')
      text = text.replace(place, more + place)
    with open(os.path.join(folder, path), 'w', encoding='utf-8') as file:
      file.write(text)


def ninja(build, *arguments):
  return subprocess.run(['ninja', '-C', build, *arguments], check=True, capture_output=True, text=True).stdout


def touching():
  """Files that an edit changes, and files with a name that one changes."""
  touched = set(EDITS) - set(CHANGED_NAMES)
  for path in tree.sources('.c', '.h'):
    if path not in CHANGED_NAMES and any(name in tree.read(path) for name in CHANGED_NAMES.values()):
      touched.add(path)
  return touched


def changed_objects(build):
  """Objects of the build that depend on what an edit changes."""
  edited = {os.path.realpath(os.path.join(tree.ROOT, path)) for path in touching()}
  changed, current = set(), None
  for line in ninja(build, '-t', 'deps').splitlines():
    if line and not line[0].isspace():
      current = line.partition(': #deps')[0]
    elif os.path.realpath(os.path.join(build, line.strip())) in edited:
      changed.add(current)
  return changed


def compile_copy(command, build, copy, source, target):
  """Runs a compile command of the build for a file of the copy."""
  root = os.path.relpath(tree.ROOT, build)
  words = []
  for word in shlex.split(command):
    prefix, path = ('-I', word[2:]) if word.startswith('-I') else ('', word)
    inside = os.path.relpath(os.path.join(build, path), tree.ROOT) if path.startswith(root) else None
    words.append(prefix + os.path.normpath(os.path.join(copy, inside)) if inside is not None else word)
  words = words[:words.index('-MD')] if '-MD' in words else words[:words.index('-o')]
  # Without optimization: what is compiled here runs once.
  done = subprocess.run([*words, '-O0', '-U_FORTIFY_SOURCE', '-o', target, '-c', os.path.join(copy, source)], cwd=build, capture_output=True, text=True)
  return done.stderr if done.returncode else None


def compile_changed(build, copy, objects):
  """{object of the build: the new one}"""
  with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
    commands = {entry['output']: entry for entry in json.load(file)}
  jobs = {}
  for output in objects & set(commands):
    source = os.path.relpath(os.path.join(build, commands[output]['file']), tree.ROOT)
    if source.startswith(FOLDERS):
      jobs[output] = (commands[output]['command'], source)
  new = {output: os.path.join(copy, output.replace('/', '_')) for output in jobs}
  with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    errors = pool.map(lambda job: compile_copy(job[1][0], build, copy, job[1][1], new[job[0]]), jobs.items())
    for error in errors:
      if error:
        fail(error)
  return new


def link(build, copy, program, new):
  """The program with the new objects in front of the archives that hold the old ones."""
  words = shlex.split(ninja(build, '-t', 'commands', program).splitlines()[-1])
  archives = {word for word in words if word.endswith('.a')}
  target = os.path.join(copy, os.path.basename(program))
  own = [path for output, path in new.items() if any(output.startswith(archive + '.p/') for archive in archives)]
  words = [new.get(word, word) for word in words]
  place = words.index('-o')
  words[place + 1] = target
  done = subprocess.run([*words[:place + 2], *own, *words[place + 2:]], cwd=build, capture_output=True, text=True)
  if done.returncode:
    fail(done.stderr)
  return target


def expect(command, text, folder):
  done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
  if done.returncode or text not in done.stdout + done.stderr:
    fail(f'{" ".join(command)}: status {done.returncode}, no "{text}":\n{done.stdout}{done.stderr}')


def main():
  build = os.path.abspath(sys.argv[1])
  with tempfile.TemporaryDirectory() as copy:
    copy_product(copy)
    new = compile_changed(build, copy, changed_objects(build))
    tbcollect, tbreport = (link(build, copy, program, new) for program in PROGRAMS)
    expect([tbcollect, '-q', '-c', 'made-up', '-r', 'result', '--', '/bin/sh', '-c', 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'],
           '', copy)
    expect([tbreport, 'summary', 'result'], 'made-up', copy)
    expect([tbreport, 'quality', 'result', '--format', 'csv'], ',Made Up', copy)
    expect([tbreport, 'threads', 'result', '--format', 'csv'], ',Made Up', copy)
    print(f'to_add: {len(new)} objects, what was added is there')


if __name__ == '__main__':
  main()
