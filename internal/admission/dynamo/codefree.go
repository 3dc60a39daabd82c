package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"waitroom/internal/admission"
)

// freeSlot finds a slot that nobody has, from anywhere on, so that people spread.
// A shard that is full stays so: each replica reads it once. And the first that
// finds none anywhere writes it down for the others.
func (s *Store) freeSlot(ctx context.Context, u admission.CodeUse) (int64, error) {
	if s.usedCodes.known(codeKey(u), u.Epoch, u.Uses) {
		return 0, admission.ErrUsedUp
	}
	shards := (u.Uses + shardSlots - 1) / shardSlots
	first, asked := rand.Int64N(max(1, shards)), false
	for i := range shards {
		shard := (first + i) % shards
		size := min(shardSlots, u.Uses-shard*shardSlots)
		if s.usedCodes.known(shardKey(u, shard), u.Epoch, size) {
			continue
		}
		slot, err := s.freeIn(ctx, u, shard, size)
		if err != nil || slot != noSlot {
			return slot, err
		}
		s.usedCodes.saw(shardKey(u, shard), u.Epoch, size)
		if !asked && shards > 1 {
			if err := s.usedUp(ctx, u); err != nil {
				return 0, err
			}
			asked = true
		}
	}
	return 0, s.sayUsedUp(ctx, u)
}

// freeIn is a slot of the shard that was free a moment ago.
func (s *Store) freeIn(ctx context.Context, u admission.CodeUse, shard, size int64) (int64, error) {
	taken, err := s.slotsIn(ctx, u, shard)
	if err != nil {
		return 0, err
	}
	first := rand.Int64N(size)
	for i := range size {
		slot := shard*shardSlots + (first+i)%size
		if _, used := taken[slot]; !used {
			return slot, nil
		}
	}
	return noSlot, nil
}

// slotsIn are the shard's uses in this epoch, with whose they are.
func (s *Store) slotsIn(ctx context.Context, u admission.CodeUse, shard int64) (map[int64]string, error) {
	taken := map[int64]string{}
	pages := dynamodb.NewQueryPaginator(s.again, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String(`pk = :pk`),
		ExpressionAttributeValues: item{":pk": text(shardKey(u, shard))},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("dynamo: code: %w", err)
		}
		for _, it := range page.Items {
			r := reader{item: it}
			epoch, holder := r.num("epoch"), r.text("used_by")
			slot, err := strconv.ParseInt(r.text("sk"), 10, 64)
			switch err := cmp.Or(r.err, err); {
			case err != nil:
				return nil, fmt.Errorf("dynamo: a use of code %s: %w", u.Code, err)
			case epoch > u.Epoch:
				return nil, admission.ErrEpoch
			case epoch == u.Epoch:
				taken[slot] = holder
			}
		}
	}
	return taken, nil
}

// usedUp is ErrUsedUp if somebody has found that no slot is free.
func (s *Store) usedUp(ctx context.Context, u admission.CodeUse) error {
	it, err := s.get(ctx, key(codeKey(u), "used-up"))
	if err != nil {
		return fmt.Errorf("dynamo: code: %w", err)
	}
	if it == nil {
		return nil
	}
	r := reader{item: it}
	epoch, uses := r.num("epoch"), r.num("up_to")
	if r.err == nil && epoch == u.Epoch && uses >= u.Uses {
		s.usedCodes.saw(codeKey(u), u.Epoch, uses)
		return admission.ErrUsedUp
	}
	return r.err
}

// sayUsedUp writes down that no slot is free, and answers so. Unwritten, others
// find it by themselves.
func (s *Store) sayUsedUp(ctx context.Context, u admission.CodeUse) error {
	s.usedCodes.saw(codeKey(u), u.Epoch, u.Uses)
	it := key(codeKey(u), "used-up")
	it["epoch"], it["up_to"] = num(u.Epoch), num(u.Uses)
	s.put(ctx, it, `attribute_not_exists(pk) OR epoch < :epoch OR epoch = :epoch AND up_to < :uses`, //nolint:errcheck // see above
		item{":epoch": num(u.Epoch), ":uses": num(u.Uses)})
	return admission.ErrUsedUp
}

// fullMost is how many full shards and codes a replica remembers; forgotten, they
// are read again.
const fullMost = 20_000

// full are keys under which no slot of so many is free in an epoch. Slots are not
// given back: it is true for good.
type full struct {
	mu   sync.Mutex
	seen map[string]extent
}

type extent struct{ epoch, size int64 }

func (f *full) known(key string, epoch, size int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.seen[key]
	return e.epoch == epoch && e.size >= size
}

func (f *full) saw(key string, epoch, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil || len(f.seen) >= fullMost {
		f.seen = map[string]extent{}
	}
	f.seen[key] = extent{epoch, size}
}
