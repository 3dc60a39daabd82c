package local

import (
	"context"
	"encoding/binary"

	"go.etcd.io/bbolt"

	"waitroom/internal/admission"
)

// codes has two records: code, with the epoch and how many have
// used it there, and code/holder, with the epoch. One transaction writes both.
var codes = []byte("codes")

// UseCode implements admission.Store.
func (s *Store) UseCode(ctx context.Context, u admission.CodeUse) error {
	_, err := write(ctx, s, s.crowd, func(c *change) (struct{}, error) {
		b, err := line(c.Tx, u.Event)
		if err != nil {
			return struct{}{}, err
		}
		if b, err = b.CreateBucketIfNotExists(codes); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, use(c, b, u)
	})
	return err
}

func use(c *change, b *bbolt.Bucket, u admission.CodeUse) error {
	own := u.Code + "/" + u.Holder
	epoch, used := uses(b.Get([]byte(u.Code)))
	mine, _ := uses(b.Get([]byte(own)))
	switch {
	case epoch > u.Epoch:
		return admission.ErrEpoch
	case mine == u.Epoch:
		return nil
	case epoch < u.Epoch:
		used = 0
	}
	if used >= u.Uses {
		return admission.ErrUsedUp
	}
	at := binary.BigEndian.AppendUint64(nil, uint64(u.Epoch))
	if err := c.put(b, own, at); err != nil {
		return err
	}
	return c.put(b, u.Code, binary.BigEndian.AppendUint64(at, uint64(used+1)))
}

// uses reads either record; what is not there is of no epoch.
func uses(v []byte) (epoch, used int64) {
	if len(v) >= 8 {
		epoch = int64(binary.BigEndian.Uint64(v))
	}
	if len(v) == 16 {
		used = int64(binary.BigEndian.Uint64(v[8:]))
	}
	return epoch, used
}
