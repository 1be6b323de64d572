// The peers in Go: `peers redsync` and `peers rueidislock`. The protocol is in ../README.md.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"sort"
	"sync"
	"time"
)

type order struct {
	url     string
	workers int
	seconds float64
	names   int
	leaseMs int
}

func (o order) lease() time.Duration { return time.Duration(o.leaseMs) * time.Millisecond }

// A pair of one worker: lock and unlock.
type pair func() error

// Made once: connections stay between the lines.
type peer interface {
	worker(name string) pair
}

type answer struct {
	Pairs   int     `json:"pairs"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50"`
	P99     float64 `json:"p99"`
	Version string  `json:"version"`
}

func versionOf(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version[1:]
		}
	}
	return "unknown"
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func work(run pair, end time.Time) []float64 {
	waits := make([]float64, 0, 1<<16)
	for now := time.Now(); ; {
		must(run())
		then := now
		now = time.Now()
		waits = append(waits, float64(now.Sub(then).Nanoseconds())/1e3)
		if !now.Before(end) {
			return waits
		}
	}
}

func measure(p peer, o order) answer {
	parts := make([][]float64, o.workers)
	var all sync.WaitGroup
	start := time.Now()
	end := start.Add(time.Duration(o.seconds * 1e9))
	for i := range parts {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			parts[i] = work(p.worker(fmt.Sprintf("orders/%d", i%o.names)), end)
		}(i)
	}
	all.Wait()
	took := time.Since(start).Seconds()
	var waits []float64
	for _, part := range parts {
		waits = append(waits, part...)
	}
	sort.Float64s(waits)
	return answer{Pairs: len(waits), Seconds: took, P50: waits[len(waits)/2], P99: waits[len(waits)*99/100]}
}

func main() {
	make, version := makeRedsync, versionOf("github.com/go-redsync/redsync/v4")
	if os.Args[1] == "rueidislock" {
		make, version = makeRueidislock, versionOf("github.com/redis/rueidis")
	}
	var p peer
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var o order
		_, err := fmt.Sscan(in.Text(), &o.url, &o.workers, &o.seconds, &o.names, &o.leaseMs)
		must(err)
		if p == nil {
			p, err = make(o)
			must(err)
		}
		a := measure(p, o)
		a.Version = version
		line, err := json.Marshal(a)
		must(err)
		fmt.Println(string(line))
	}
}
