// Package local keeps the line in one file of this machine, for a single node
// and for the demo. One process holds the file.
//
// It is safe because every change passes through one committer: what arrived
// while the last commit was in flight becomes the next transaction, and nobody
// is answered before that is on the disk.
package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterr "go.etcd.io/bbolt/errors"

	"waitroom/internal/admission"
)

// ErrClosed answers calls after Close. Nothing changed.
var ErrClosed = errors.New("the line's file is closed")

// lockWait is how long Open waits for another process to let the file go: a
// restart overlaps that much, two servers on one file do not.
const lockWait = time.Second

// Store is the line in one file. All methods may be called by any number of
// goroutines.
type Store struct {
	db *bbolt.DB

	// Unbuffered: what waits is its callers. The door goes first, or a crowd
	// that joins would hold up whoever lets people in.
	door, crowd chan step

	closing chan struct{}
	ended   chan struct{}
	once    sync.Once
	err     error

	broken  atomic.Pointer[error]
	commits atomic.Int64
}

var _ admission.Store = (*Store)(nil)

// Open finds or makes the file. Its folder must exist.
func Open(path string) (*Store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType})
	if errors.Is(err, bolterr.ErrTimeout) {
		return nil, fmt.Errorf("line's file %s: another process holds it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("line's file %s: %w", path, err)
	}
	s := &Store{
		db:      db,
		door:    make(chan step),
		crowd:   make(chan step),
		closing: make(chan struct{}),
		ended:   make(chan struct{}),
	}
	if err := errors.Join(s.prepare(), syncDir(filepath.Dir(path))); err != nil {
		return nil, errors.Join(fmt.Errorf("line's file %s: %w", path, err), db.Close())
	}
	go s.commit()
	return s, nil
}

func (s *Store) prepare() error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(events)
		return err
	})
}

// syncDir keeps the file's name: a new file that is synced is still lost by a
// power cut when its folder is not.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Close ends the store after the commit in flight. Calls that wait get
// ErrClosed. It may be called more than once.
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.closing)
		<-s.ended
		s.err = s.db.Close()
	})
	return s.err
}

// fit says why the store answers nothing more. After a failed commit nobody
// knows what the disk holds: a later sync that succeeds proves nothing about
// the earlier one. So it stays closed until it is opened again.
func (s *Store) fit(ctx context.Context) error {
	if why := s.broken.Load(); why != nil {
		return fmt.Errorf("the line's file is closed on doubt, an earlier commit failed: %w", *why)
	}
	return ctx.Err()
}
