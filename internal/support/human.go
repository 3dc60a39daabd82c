package support

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/refunds"
)

// Item is something that a person has to look at. It is resolved, and never
// deleted; what comes again opens the same one anew.
type Item struct {
	ID         int64
	Kind       string
	Subject    string
	Event      string // "": of no event
	Order      *uuid.UUID
	Payment    *uuid.UUID
	Detail     string
	Owner      string // "": nobody took it
	OpenedAt   time.Time
	ResolvedAt *time.Time
	// Of the operation that it is about, or the one that followed that.
	Operation   string // "": about none
	Status      refunds.Status
	AmountMinor int64
	Currency    string
	// The provider has a refund of the same that did not fail, under another
	// operation's name, or of this one after its end: a send would be the second.
	BackOtherwise bool
	// Of its payment somebody refunded so much by hand, for a line that nobody knows:
	// it may be this one. Fits: what is left of the payment is enough for it.
	ByHandMinor int64
	Fits        bool
	// It was ended as not refunded, the provider has told of it as done since, and
	// nothing follows it.
	WronglyNot bool
	// It is confirmed, and the provider, asked late, says that it knows no such refund.
	Denied bool
	// It is late, and still goes by itself: until it has its end, or is another
	// person's question, nobody's word takes it off the list.
	StillLate bool
	// Nobody could say what became of its payment, and the provider is not asked any more.
	CanLook bool
	// All of the payment went back by hand, none of our operations is open on it, and
	// its order still has seats.
	SeatsMayGo bool
}

// besideByHand says that what was refunded by hand, and that alone, is in the way: it
// may be what the deed would send.
func (i Item) besideByHand(do Do) bool {
	if i.ByHandMinor == 0 || do != Push && do != Renew {
		return false
	}
	i.ByHandMinor, i.Fits = 0, true
	return slices.Contains(i.Can(), do)
}

// Can are the deeds that its state allows.
func (i Item) Can() []Do {
	if i.ResolvedAt != nil {
		return []Do{Note, Reopen}
	}
	can := []Do{Take, Note}
	switch i.Status {
	case refunds.Manual:
		if !i.BackOtherwise && i.Fits && i.ByHandMinor == 0 {
			can = append(can, Push)
		}
		return append(can, Refunded, NotRefunded)
	case refunds.RejectedFor, refunds.FailedLater:
		switch {
		case i.BackOtherwise || !i.Fits:
		case i.ByHandMinor > 0:
			can = append(can, RenewBeside)
		default:
			can = append(can, Renew)
		}
		if i.WronglyNot {
			can = append(can, Refunded)
		}
	}
	if i.Denied {
		can = append(can, NotRefunded)
	}
	if i.CanLook {
		can = append(can, LookAgain)
	}
	if i.SeatsMayGo {
		can = append(can, GiveBack)
	}
	if i.StillLate {
		return can
	}
	return append(can, Resolve)
}

// Past is one line of an item's history.
type Past struct {
	At   time.Time
	By   string
	Did  string
	Note string
}

// Which items: an organiser's, or everybody's; open or resolved.
type Which struct {
	Organiser string // "": everybody's
	Resolved  bool
	Before    int64 // the id of the last of the page before; 0: the first page
	Most      int
}

// What no event names is the house's to look at.
const itemColumns = `
	SELECT h.id, h.kind, h.subject, coalesce(o.event_id, ''), h.order_id, h.payment_id, h.detail, h.owner, h.opened_at, h.resolved_at,
	  coalesce(h.operation, ''), coalesce(f.status, ''), coalesce(f.amount_minor, p.captured_minor, 0), coalesce(f.currency, p.currency, ''),
	  EXISTS (SELECT FROM provider_refunds r WHERE r.payment_id = f.payment_id AND r.status <> 'failed'
	    AND (split_part(r.operation, '#', 1) = split_part(f.id, '#', 1) AND (r.operation <> f.id OR f.ended_at IS NOT NULL)
	      OR r.id IN (SELECT g.provider_refund_id FROM refund_operations g WHERE g.payment_id = f.payment_id
	        AND split_part(g.id, '#', 1) = split_part(f.id, '#', 1) AND (g.id <> f.id OR f.ended_at IS NOT NULL)))),
	  coalesce(m.by_hand_minor, 0), coalesce(m.left_minor + CASE f.status WHEN 'manual' THEN f.amount_minor ELSE 0 END >= f.amount_minor, false),
	  coalesce(f.status IN ('rejected', 'failed_later'), false) AND NOT EXISTS (SELECT FROM refund_operations n WHERE n.parent = f.id)
	    AND EXISTS (SELECT FROM provider_refunds r WHERE r.payment_id = f.payment_id AND r.status = 'succeeded'
	      AND CASE f.status WHEN 'rejected' THEN r.operation = f.id ELSE r.id = f.provider_refund_id END),
	  coalesce(f.status = 'confirmed' AND f.denied_at IS NOT NULL, false),
	  coalesce(h.kind = 'refund_late' AND f.status IN ('queued', 'submitted', 'unknown'), false),
	  coalesce(h.kind = 'payment_unknown' AND h.resolved_at IS NULL AND p.status IN ('opening', 'open', 'failed') AND p.look_at IS NULL, false),
	  CASE WHEN h.kind = 'refund_by_hand' AND h.resolved_at IS NULL AND h.order_id = o.id AND h.payment_id = p.id THEN seats_may_go_back(p.id) ELSE false END
	FROM human_list h LEFT JOIN refund_operations f ON f.id = h.operation
	LEFT JOIN LATERAL money_left(f.payment_id) m ON h.resolved_at IS NULL AND f.status IN ('manual', 'rejected', 'failed_later')
	LEFT JOIN payments p ON p.id = h.payment_id
	LEFT JOIN orders o ON o.id = coalesce(h.order_id, p.order_id) LEFT JOIN events e ON e.id = o.event_id
	WHERE ($1 = '' OR coalesce(e.organiser, 'house') = $1) AND `

// Items are those before persons, the newest first.
func Items(ctx context.Context, pool *pgxpool.Pool, w Which) ([]Item, error) {
	rows, err := pool.Query(ctx, itemColumns+`(h.resolved_at IS NOT NULL) = $2 AND ($3::bigint = 0 OR h.id < $3)
		ORDER BY h.id DESC LIMIT $4`, w.Organiser, w.Resolved, w.Before, w.Most)
	if err != nil {
		return nil, fmt.Errorf("human list: %w", err)
	}
	items, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Item])
	if err != nil {
		return nil, fmt.Errorf("human list: %w", err)
	}
	return items, nil
}

// reader is a pool or a transaction.
type reader interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// FindItem reads one, with its history, the oldest first.
func FindItem(ctx context.Context, db reader, organiser string, id int64) (i Item, past []Past, found bool, err error) {
	rows, err := db.Query(ctx, itemColumns+`h.id = $2`, organiser, id)
	if err != nil {
		return i, nil, false, fmt.Errorf("human list: %d: %w", id, err)
	}
	if i, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Item]); errors.Is(err, pgx.ErrNoRows) {
		return i, nil, false, nil
	} else if err != nil {
		return i, nil, false, fmt.Errorf("human list: %d: %w", id, err)
	}
	if rows, err = db.Query(ctx, `SELECT at, by, did, note FROM human_notes WHERE item = $1 ORDER BY id`, id); err != nil {
		return i, nil, false, fmt.Errorf("human list: history of %d: %w", id, err)
	}
	if past, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Past]); err != nil {
		return i, nil, false, fmt.Errorf("human list: history of %d: %w", id, err)
	}
	return i, past, true, nil
}
