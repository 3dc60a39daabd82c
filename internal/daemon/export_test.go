package daemon

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"

	"waitroom/internal/orders"
)

// InboxFor takes provider notices as paycallback does, once their signature is
// verified.
func InboxFor(pool *pgxpool.Pool, install string) orders.Inbox {
	return orders.Inbox{Pool: pool, Install: install, Read: readNotice}
}

// NotClosed is what the readiness of every process that has a connection to NATS asks.
func NotClosed(nc *nats.Conn) error { return notClosed(nc) }

// FitsRedis is what waitroom asks of its Redis before it starts.
func (c WaitroomConfig) FitsRedis(ctx context.Context, log *slog.Logger) error {
	return c.fitsRedis(ctx, log)
}
