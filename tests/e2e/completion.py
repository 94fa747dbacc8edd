"""Completion in bash, zsh and fish: the same words in each, and the options of the man pages."""

import os
import re
import subprocess

import support as s
from support import check

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = os.path.join(ROOT, 'tools', 'completion')
COMMANDS = ('tbcollect', 'tbreport', 'tbconvert')

BASH = '''source "$0"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_tbcollect "$1"
printf '%s\\n' "${COMPREPLY[@]}"'''

# What zsh offers in its line editor, without one.
ZSH = '''file=$1; shift
words=("$@"); CURRENT=$#
compadd() { local one; for one in ${(P)2}; do [[ $one == ${words[CURRENT]##*=}* || $words[CURRENT] == --*=* ]] && print -r -- $one; done }
compset() { : }
_files() { : }
source $file'''


def lines(*command):
  environment = dict(os.environ, PATH=f'{s.Run.build}/collector:{s.Run.build}/tools:' + os.environ['PATH'], HOME=s.Run.work)
  done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, stdin=subprocess.DEVNULL, check=False,
                        cwd=s.scratch('empty'))
  return sorted({line.split('\t')[0] for line in done.stdout.splitlines() if line}), done.stderr.strip()


def completions(*words):
  """{shell: words offered}, without files."""
  fish = "source $argv[1]; complete -C \"$argv[2]\""
  found = {
      'bash': lines('bash', '-c', BASH, os.path.join(FILES, 'tbcollect.bash'), *words),
      'zsh': lines('zsh', '-f', '-c', ZSH, 'zsh', os.path.join(FILES, '_tbcollect'), *words),
      'fish': lines('fish', '--no-config', '-c', fish, os.path.join(FILES, 'tbcollect.fish'), ' '.join(words)),
  }
  return {shell: words for shell, (words, _) in found.items()}, {shell: error for shell, (_, error) in found.items() if error}


def check_words(expected, *words):
  found, errors = completions(*words)
  check(all(words == sorted(expected) for words in found.values()) and not errors, f'completes {" ".join(words)}', f'{found} {errors}')


def options_of_page(command):
  with open(os.path.join(ROOT, 'docs', 'man', command + '.1'), encoding='utf-8') as file:
    text = file.read()
  heads = '\n'.join(re.findall(r'^\.TP\n(\..*)$', text, re.MULTILINE)).replace('\\-', '-')
  return set(re.findall(r'--[a-z][a-z-]*', heads)), set(re.findall(r'--[a-z][a-z-]*', text.replace('\\-', '-')))


def check_options(command):
  found, errors = completions(command, '--')
  heads, all_named = options_of_page(command)
  offered = set(found['bash'])
  check(not errors and all(set(words) == offered for words in found.values()), f'{command}: the same options in each shell', f'{found} {errors}')
  check(len(offered) > 10 and heads <= offered and offered <= all_named | {'--help', '--version'},
        f'{command}: the options of the man page', f'{sorted(heads ^ offered)}')


def main():
  s.start()
  os.makedirs(s.scratch('empty'), exist_ok=True)
  for command in COMMANDS[:2]:
    with s.section(command):
      check_options(command)
  with s.section('choices'):
    check_words(['text', 'csv', 'json', 'vtune', 'html'], 'tbreport', '--format', '')
    check_words(['auto', 'bpf', 'observer'], 'tbcollect', '--wait-source', '')
    check_words(['att', 'intel'], 'tbreport', '--syntax', '')
    check_words([], 'tbreport', '-o', 'n')
    check_words([], 'tbreport', 'hotspots', 's')
  with s.section('names'):
    check_words(['source', 'summary'], 'tbreport', 's')
    check_words(['export', 'finalize', 'import', 'recover'], 'tbconvert', '')
    check_words(['firefox', 'folded'], 'tbconvert', 'export', '--to', 'f')
    check_words(['--weight', '--with-modules'], 'tbconvert', 'export', '--w')
    check_words(['--fail-above', '--filter', '--format', '--from'], 'tbreport', '--f')
  s.finish()


if __name__ == '__main__':
  main()
