package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"waitroom/internal/admission"
)

// slotItem is one use of a code. Its write may be repeated by the SDK: it names
// its holder, and nobody else's slot is written.
func slotItem(u admission.CodeUse, slot int64) item {
	it := key("code#"+u.Event+"#"+u.Code, strconv.FormatInt(slot, 10))
	it["epoch"], it["used_by"] = num(u.Epoch), text(u.Holder)
	return it
}

const slotFree = `attribute_not_exists(pk) OR epoch < :epoch OR epoch = :epoch AND used_by = :holder`

// UseCode implements admission.Store. A slot that was free when it was looked
// for may be another's now: then the next one of this holder's is taken.
func (s *Store) UseCode(ctx context.Context, u admission.CodeUse) error {
	for range 2 * races { // many may be after the last few
		taken, err := s.slots(ctx, u)
		if err != nil {
			return err
		}
		slot, have, err := u.Slot(taken)
		if err != nil || have {
			return err
		}
		refused, err := s.put(ctx, slotItem(u, slot), slotFree, item{":epoch": num(u.Epoch), ":holder": text(u.Holder)})
		if err == nil {
			return nil
		}
		if !refused {
			return fmt.Errorf("dynamo: use code: %w", err)
		}
	}
	return errRaces
}

// slots are the code's uses in this epoch, with whose they are.
func (s *Store) slots(ctx context.Context, u admission.CodeUse) (map[int64]string, error) {
	taken := map[int64]string{}
	pages := dynamodb.NewQueryPaginator(s.again, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String(`pk = :pk`),
		ExpressionAttributeValues: item{":pk": text("code#" + u.Event + "#" + u.Code)},
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
			if err := cmp.Or(r.err, err); err != nil {
				return nil, fmt.Errorf("dynamo: a use of code %s: %w", u.Code, err)
			}
			switch {
			case epoch > u.Epoch:
				return nil, admission.ErrEpoch
			case epoch == u.Epoch:
				taken[slot] = holder
			}
		}
	}
	return taken, nil
}
