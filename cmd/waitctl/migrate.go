package main

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// database is the setting of every command that needs one.
type database struct {
	DatabaseURL string `env:"DATABASE_URL" required:"" secret:"" help:"Postgres, as postgres://…; or DATABASE_URL_FILE."`
}

// open connects, and refuses a database that could not keep our promises.
func (d database) open(ctx context.Context) (*pgxpool.Pool, error) {
	pool, err := pg.Open(ctx, d.DatabaseURL, "waitctl", pg.Limits{Conns: 2})
	if err != nil {
		return nil, err
	}
	if err := pg.Fit(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

type migrateCmd struct{ database }

func (c *migrateCmd) Run(ctx context.Context, out io.Writer) error {
	if err := pg.Migrate(ctx, c.DatabaseURL); err != nil {
		return err
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	fmt.Fprintln(out, "the schema is up to date")
	return nil
}
