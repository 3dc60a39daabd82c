package local

import (
	"bytes"
	"context"

	"go.etcd.io/bbolt"

	"waitroom/internal/admission"
)

// PutReport implements admission.Store.
func (s *Store) PutReport(ctx context.Context, event, replica string, body []byte) error {
	body = bytes.Clone(body) // the caller may leave before it is kept
	_, err := write(ctx, s, s.crowd, func(c *change) (struct{}, error) {
		b, err := line(c.Tx, event)
		if err != nil {
			return struct{}{}, err
		}
		if body == nil {
			return struct{}{}, c.drop(b.Bucket(reports), replica)
		}
		return struct{}{}, c.put(b.Bucket(reports), replica, body)
	})
	return err
}

// Reports implements admission.Store.
func (s *Store) Reports(ctx context.Context, event string) (map[string][]byte, error) {
	return read(ctx, s, func(tx *bbolt.Tx) (map[string][]byte, error) {
		b, err := line(tx, event)
		if err != nil {
			return nil, err
		}
		last := map[string][]byte{}
		err = b.Bucket(reports).ForEach(func(replica, body []byte) error {
			last[string(replica)] = bytes.Clone(body)
			return nil
		})
		return last, err
	})
}

// exportPage is how many places are read at once.
const exportPage = 1000

// Export implements admission.Store. It looks for no longer than a page takes:
// a reader that stays, because each is slow, would stop the file's growth and
// so every join.
func (s *Store) Export(ctx context.Context, event string, epoch int64, each func(admission.Place) error) error {
	from := ""
	for {
		page, err := s.page(ctx, event, from)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, p := range page {
			if p.Epoch != epoch {
				continue
			}
			if err := each(p); err != nil {
				return err
			}
		}
		from = page[len(page)-1].Holder
	}
}

// page reads the places of all epochs whose holders follow from.
func (s *Store) page(ctx context.Context, event, from string) ([]admission.Place, error) {
	return read(ctx, s, func(tx *bbolt.Tx) (page []admission.Place, err error) {
		b, err := line(tx, event)
		if err != nil {
			return nil, err
		}
		c := b.Bucket(places).Cursor()
		for k, v := c.Seek([]byte(from + "\x00")); k != nil && len(page) < exportPage; k, v = c.Next() {
			p, err := decode(v, event, string(k))
			if err != nil {
				return nil, err
			}
			page = append(page, p)
		}
		return page, nil
	})
}
