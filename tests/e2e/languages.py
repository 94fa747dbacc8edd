"""Functions of languages other than C, C++ and Rust, as their users write them, with real compilers (suite long)."""

import os
import shutil
import subprocess

import support as s
from call_check import check_calls

# For some tenths of a second each, in functions that no compiler inlines.
D = '''module shop;
class Basket {
  double sum = 0;
  pragma(inline, false) void add(double price) { foreach (i; 0 .. 200) sum = sum * 0.5 + price; }
}
void main() { auto basket = new Basket; foreach (i; 0 .. 3_000_000) basket.add(i % 97); assert(basket.sum > 0); }
'''
ADA_SPEC = 'package Basket is\n   procedure Add (Price : Float);\n   Sum : Float := 0.0;\nend Basket;\n'
ADA_BODY = '''package body Basket is
   procedure Add (Price : Float) is
   begin
      for I in 1 .. 200 loop
         Sum := Sum * 0.5 + Price;
      end loop;
   end Add;
end Basket;
'''
ADA_MAIN = '''with Basket;
procedure Shop is
begin
   for I in 1 .. 3_000_000 loop
      Basket.Add (Float (I mod 97));
   end loop;
end Shop;
'''
FORTRAN = '''module basket
  real(8) :: total = 0
contains
  subroutine add(price)
    real(8), intent(in) :: price
    do i = 1, 200
      total = total * 0.5d0 + price
    end do
  end subroutine
end module
program shop
  use basket
  do j = 1, 3000000
    call add(real(mod(j, 97), 8))
  end do
  if (total < 0) stop 1
end program
'''
OCAML = '''let sum = ref 0
let[@inline never] add price = for _ = 1 to 200 do sum := !sum / 2 + price done
let () = for i = 1 to 3_000_000 do add (i mod 97) done; assert (!sum >= 0)
'''
# Name of the language, what is built of, how, and the function with nearly all of the time.
PROGRAMS = [
    ('D', {'shop.d': D}, 'gdc -O1 -o {out} shop.d', 'shop.Basket.add'),
    ('Ada', {'basket.ads': ADA_SPEC, 'basket.adb': ADA_BODY, 'shop.adb': ADA_MAIN}, 'gnatmake -q -O1 -g shop.adb -o {out}',
     'basket.add'),
    ('Fortran', {'shop.f90': FORTRAN}, 'gfortran -O1 -fno-inline -o {out} shop.f90', 'basket::add'),
    ('OCaml', {'shop.ml': OCAML}, 'ocamlopt -o {out} shop.ml', 'Shop.add'),
]


def language(name, sources, build, function):
  folder = s.scratch(f'language-{name}')
  os.mkdir(folder)
  for file, text in sources.items():
    with open(os.path.join(folder, file), 'w', encoding='ascii') as source:
      source.write(text)
  program = os.path.join(folder, 'program')
  subprocess.run(build.format(out=program).split(), cwd=folder, check=True)
  got = s.collect_well([program], what=name, interval='1ms')
  rows = s.report(got.result, 'hotspots')
  total = sum(float(row['CPU Time']) for row in rows)
  share = s.points(sum(float(row['CPU Time']) for row in rows if row['Function'] == function), total)
  s.check(share >= 80, f'{name}: {function} has 80 % of the time', f'{share:.1f} %: {rows[:3]}')
  check_calls(name, got.result)


s.start()
for program in PROGRAMS:
  compiler = program[2].split()[0]
  if shutil.which(compiler) or os.environ.get('TESTS_NEED_ALL'):
    language(*program)
  else:
    s.skip(program[0], f'{compiler} is not installed')
s.finish()
