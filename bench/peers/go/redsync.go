package main

import (
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredislib "github.com/redis/go-redis/v9"
)

type redsyncPeer struct {
	sync  *redsync.Redsync
	lease time.Duration
}

func makeRedsync(o order) (peer, error) {
	options, err := goredislib.ParseURL(o.url)
	if err != nil {
		return nil, err
	}
	options.PoolSize = o.workers
	options.MinIdleConns = o.workers
	pool := goredis.NewPool(goredislib.NewClient(options))
	return redsyncPeer{redsync.New(pool), o.lease()}, nil
}

func (p redsyncPeer) worker(name string) pair {
	m := p.sync.NewMutex(name, redsync.WithExpiry(p.lease))
	return func() error {
		if err := m.Lock(); err != nil {
			return err
		}
		_, err := m.Unlock()
		return err
	}
}
