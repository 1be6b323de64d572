package main

import (
	"context"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

type rueidisPeer struct{ locker rueidislock.Locker }

// One server: a majority of one key, no next one to try soon, and no news of its own writes.
func makeRueidislock(o order) (peer, error) {
	options, err := rueidis.ParseURL(o.url)
	if err != nil {
		return nil, err
	}
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: options, KeyMajority: 1, NoLoopTracking: true,
		KeyValidity: o.lease(), TryNextAfter: o.lease()})
	return rueidisPeer{locker}, err
}

func (p rueidisPeer) worker(name string) pair {
	return func() error {
		_, cancel, err := p.locker.WithContext(context.Background(), name)
		if err == nil {
			cancel()
		}
		return err
	}
}
