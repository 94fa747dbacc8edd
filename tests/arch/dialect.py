"""What clang-format and clang-tidy do not see of CONTRIBUTING.md's dialect: null tests, sizeof, result variables,
declarations, comments, includes."""

import re

import tree

GUIDE = {'tbrw/tbrw.h', 'tbrw/tbrw_types.h', 'tbrw/tbrw_errors.h', 'tbrw/samprec_shared.h'}  # written for others' compilers

# What a line of code must not have, and what to write.
LINES = [
    (re.compile(r'== NULL\b|\bNULL =='), 'write !p'),
    (re.compile(r'^\s*(if|while) \((?!.*[^=!<>]=[^=]).*!= NULL|!= NULL (&&|\|\|)|(&&|\|\|) [^=()]* != NULL'), 'write p'),
    (re.compile(r'\bsizeof [*&\w]'), 'write sizeof(*p)'),
    (re.compile(r'\bTBRW_U32 ret\b'), "a TBRW result's name is code"),
]
DECLARED = re.compile(r'^(\t+)(?:const )?(?:struct |enum |union |unsigned )?\w+ \**(\w+);$')
COMMENT = re.compile(r'^([ \t]*)/\*.*?\*/', re.DOTALL | re.MULTILINE)


def check_lines(path, text):
  """Lines as LINES has them, but in the tests' checks, where the macro wants a whole comparison."""
  for number, line in enumerate(tree.without_comments(text).splitlines(), 1):
    for pattern, instead in LINES:
      if pattern.search(line) and 'ck_assert' not in line:
        yield f'{path}:{number}: {instead}: {line.strip()}'


def check_declarations(path, text):
  """A variable whose first statement gives it its value: it is declared there."""
  lines = tree.without_comments(text).splitlines()
  for number, line in enumerate(lines[:-1], 1):
    match = DECLARED.match(line)
    rest = lines[number:number + 2]
    if match and any(re.match(rf'{match[1]}{match[2]} = ', later) for later in (rest[:1] if rest[0] else rest[1:])):
      yield f'{path}:{number}: declare {match[2]} with its value'


def check_comments(path, text):
  """The lines of a block comment begin with " * ", under the star of the first."""
  for match in COMMENT.finditer(text):
    for line in match[0].splitlines()[1:]:
      if not re.match(re.escape(match[1]) + r' \*(/| |$)', line):
        yield f'{path}:{text.count(chr(10), 0, match.start()) + 1}: a line of this comment does not begin with " * "'
        break


def check_includes(path, text):
  """A file's own header, a blank line, then all others in one block, which clang-format sorts. A block around
  conditions is the author's."""
  lines = text.splitlines()
  places = [number for number, line in enumerate(lines) if line.startswith('#include')]
  if not places or path.endswith(('.bpf.c', '.bpf.h')):
    return
  block = lines[places[0]:places[-1] + 1]
  if any(line and not line.startswith('#include') for line in block):
    return
  own = f'#include "{path[:-2]}.h"'
  groups = '\n'.join(block).split('\n\n')
  if path.endswith('.c') and own in block and groups.pop(0) != own:
    yield f'{path}: its own header comes first, and a blank line'
  elif len(groups) > 1:
    yield f'{path}: the includes are in {len(groups)} blocks'


CHECKS = [check_lines, check_declarations, check_comments, check_includes]


def problems_of(path, text):
  return [problem for check in CHECKS for problem in check(path, text)]


def self_test():
  wrong = ['\tif (p == NULL)\n', '\tif (a && p != NULL)\n', '\tif (p != NULL)\n', '\tn = sizeof *p;\n', '\tTBRW_U32 ret;\n',
           '\tint code;\n\n\tcode = f();\n', '\tstruct a *b;\n\tb = f();\n', '/* a\n   b */\n', '\t/* a\n\t * b\n\t c */\n',
           '#include "x.h"\n\n#include <a.h>\n', '#include <a.h>\n#include "x/a.h"\n']
  right = ['\tif (!p && q)\n', '\treturn p != NULL;\n', '\twhile ((p = f()) != NULL)\n', '\tn = sizeof(*p);\n', '/* p == NULL */\n',
           '\tint code = f();\n', '\tint a;\n\n\tf(&a);\n', '/* a\n * b */\n', '#include "x/a.h"\n\n#include "b.h"\n#include <c.h>\n',
           '\tck_assert(p != NULL && q == NULL);\n']
  return ([f'self test: passes: {text!r}' for text in wrong if not problems_of('x/a.c', text)] +
          [f'self test: {problem}' for text in right for problem in problems_of('x/a.c', text)])


def main():
  paths = [path for path in tree.sources('.c', '.h') if path not in GUIDE]
  problems = self_test()
  for path in paths:
    problems += problems_of(path, tree.read(path))
  tree.report('dialect', problems, len(paths))


if __name__ == '__main__':
  main()
