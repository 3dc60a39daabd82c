package daemon

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/orders"
)

// InboxFor takes provider notices as paycallback does, once their signature is
// verified.
func InboxFor(pool *pgxpool.Pool, install string) orders.Inbox {
	return orders.Inbox{Pool: pool, Install: install, Read: readNotice}
}
