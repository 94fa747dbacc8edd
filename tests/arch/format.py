"""Every C file is as clang-format leaves it, every text file ends its lines as .editorconfig says."""

import subprocess

import tree


def main():
  paths = tree.sources('.c', '.h', '.cpp')
  problems = []
  done = subprocess.run(['clang-format', '--dry-run', '-Werror', '--style=file', *paths],
                        cwd=tree.ROOT, capture_output=True, text=True)
  if done.returncode != 0:
    places = {line.split(': error:')[0] for line in done.stderr.splitlines() if ': error:' in line}
    problems += [f'{place}: clang-format would change this' for place in sorted(places)] \
        or [done.stderr.strip()]
  for path in tree.sources('.c', '.h', '.cpp', '.py', '.md', 'meson.build'):
    text = tree.read(path)
    if text and not text.endswith('\n'):
      problems.append(f'{path}: no newline at the end')
    for number, line in enumerate(text.splitlines(), 1):
      if line != line.rstrip():
        problems.append(f'{path}:{number}: space at the end of the line')
  tree.report('format', problems, len(paths))


if __name__ == '__main__':
  main()
