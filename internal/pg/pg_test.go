package pg_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// TestFitRefusesWhatWouldLoseASale: each database that could not keep our
// promises is refused with its reason, and the same one mended is taken.
func TestFitRefusesWhatWouldLoseASale(t *testing.T) {
	cases := []struct{ name, spoil, says string }{
		{"acknowledges before it keeps", `ALTER DATABASE %s SET synchronous_commit = off`, "synchronous_commit"},
		{"reads only", `ALTER DATABASE %s SET default_transaction_read_only = on`, "read_only"},
		// These are a whole server's: what such a server answers is put before
		// the test server's own answers.
		{"is a replica", answers(`pg_is_in_recovery() RETURNS bool`, `SELECT true`), "replica"},
		{"does not sync", answers(`current_setting(text) RETURNS text`, `SELECT CASE WHEN $1 = 'fsync' THEN 'off' ELSE pg_catalog.current_setting($1) END`), "fsync"},
		{"tears pages", answers(`current_setting(text) RETURNS text`, `SELECT CASE WHEN $1 = 'full_page_writes' THEN 'off' ELSE pg_catalog.current_setting($1) END`), "full_page_writes"},
		{"a migration is pending", `DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`, "waitctl migrate"},
		{"never migrated", `DROP TABLE goose_db_version`, "waitctl migrate"},
		{"newer than this program", `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)`, "newer"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			url := pgtest.URL(t)
			pool := pgtest.Open(t, url)
			if err := pg.Fit(t.Context(), pool); err != nil {
				t.Fatalf("before it was spoilt: %v", err)
			}
			var name string
			if err := pool.QueryRow(t.Context(), `SELECT current_database()`).Scan(&name); err != nil {
				t.Fatal(err)
			}
			if _, err := pool.Exec(t.Context(), strings.ReplaceAll(c.spoil, "%s", pgx.Identifier{name}.Sanitize())); err != nil {
				t.Fatal(err)
			}
			err := pg.Fit(t.Context(), pgtest.Open(t, url))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Fit says %v, want a word of %q", err, c.says)
			}
		})
	}
}

// answers makes a function that is found before the server's of the same name.
func answers(signature, body string) string {
	return `CREATE SCHEMA told; CREATE FUNCTION told.` + signature + ` LANGUAGE sql AS $$ ` + body + ` $$;
		ALTER DATABASE %s SET search_path = told, pg_catalog, public`
}

// TestInTxIsAllOrNothing also tells a refusal of the server's from a commit
// whose answer was lost.
func TestInTxIsAllOrNothing(t *testing.T) {
	ctx := t.Context()
	pool := pgtest.New(t)
	if _, err := pool.Exec(ctx, `CREATE TABLE one (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)`); err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		if err := pool.QueryRow(ctx, `SELECT count(*) FROM one`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	stop := errors.New("stop")
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO one VALUES (1)`); err != nil {
			return err
		}
		return stop
	})
	if !errors.Is(err, stop) || count() != 0 {
		t.Errorf("after an error: %v, %d rows; want the error and none", err, count())
	}
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO one VALUES (1), (1)`) // refused at COMMIT
		return err
	})
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || pg.Unknown(err) || count() != 0 {
		t.Errorf("refused at commit: %v, unknown %v, %d rows; want a definite refusal and none", err, pg.Unknown(err), count())
	}
}

// TestACommitWhoseAnswerIsLostIsUnknown: the session dies with the commit under
// way. Whether it was kept, the error must not say that it was not.
func TestACommitWhoseAnswerIsLostIsUnknown(t *testing.T) {
	ctx := t.Context()
	pool := pgtest.New(t)
	if _, err := pool.Exec(ctx, `
		CREATE TABLE two (id int);
		CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER die AFTER INSERT ON two DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()`); err != nil {
		t.Fatal(err)
	}
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO two VALUES (1)`)
		return err
	})
	if err == nil || !pg.Unknown(err) {
		t.Errorf("%v, unknown %v; want an unknown commit", err, pg.Unknown(err))
	}
}
