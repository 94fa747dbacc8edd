// A Go program that spends its time in all that Go's code is made of: goroutines, closures, maps, garbage, deferred
// calls, generics, and functions that the compiler inlines. Argument: rounds.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

// Both are inlined, one into the other.
func square(x uint64) uint64 { return x*x + 1 }
func mix(x uint64) uint64    { return square(x) ^ square(x>>3) }

//go:noinline
func mixAll(n int) (sum uint64) {
	for i := 0; i < n; i++ {
		sum += mix(sum + uint64(i))
	}
	return sum
}

type number interface{ ~int | ~float64 }

//go:noinline
func largest[T number](values []T) T {
	result := values[0]
	for _, value := range values {
		if value > result {
			result = value
		}
	}
	return result
}

type shop struct {
	prices map[string]int
	sold   []string
}

func (s *shop) sell(name string) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("%v", problem)
		}
	}()
	s.prices[name]++
	s.sold = append(s.sold, strings.ToUpper(name))
	if len(s.sold) > 5000 {
		s.sold = nil
		panic("sold out")
	}
	return nil
}

func (s *shop) names() []string {
	names := make([]string, 0, len(s.prices))
	for name := range s.prices {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return s.prices[names[i]] > s.prices[names[j]] })
	return names
}

// Deep, so that the goroutine's stack grows and moves.
func deep(n int, buffer [64]int) int {
	if n == 0 {
		return fib(15)
	}
	buffer[n%64] = n
	return deep(n-1, buffer) + buffer[(n+1)%64]
}

func trade(rounds int, total *uint64, lock *sync.Mutex) {
	market := &shop{prices: map[string]int{}}
	for ; rounds > 0; rounds-- {
		for i := 0; i < 500; i++ {
			if market.sell("item"+strconv.Itoa(i*7919%503)) != nil {
				break
			}
		}
		names := market.names()
		sum := uint64(len(names)) + mixAll(20000) + uint64(fib(18)+deep(10, [64]int{}))
		sum += uint64(largest([]int{len(names), 3, 4})) + uint64(largest([]float64{1, 2, 3})) + viaC(20000)
		lock.Lock()
		*total += sum
		lock.Unlock()
	}
}

func main() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	var total uint64
	var lock sync.Mutex
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			trade(rounds, &total, &lock)
		}()
	}
	all.Wait()
	fmt.Println(total != 0)
}
