package organiser

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Attempt is an organiser's wish under its Idempotency-Key. Without a key it is
// made as often as it is asked for.
type Attempt struct {
	Organiser, Key string
	Request        [32]byte // the hash of what is wished for
}

// Before is what an attempt was before it began.
type Before struct {
	Known  bool            // it was made before,
	Reused bool            // as another wish;
	Answer json.RawMessage // else this is what it was answered
}

// Begin keeps the attempt's name, in the transaction that does what is wished for:
// of two that come at once the second waits here for the first, and those that
// come later take turns.
func (a Attempt) Begin(ctx context.Context, tx pgx.Tx) (b Before, err error) {
	if a.Key == "" {
		return b, nil
	}
	tag, err := tx.Exec(ctx, `
		INSERT INTO organiser_attempts (organiser, attempt, request, answer) VALUES ($1, $2, $3, 'null')
		ON CONFLICT DO NOTHING`, a.Organiser, a.Key, a.Request[:])
	if err != nil || tag.RowsAffected() == 1 {
		return b, err
	}
	b.Known = true
	var same bool
	err = tx.QueryRow(ctx, `
		SELECT request = $3, answer FROM organiser_attempts WHERE organiser = $1 AND attempt = $2 FOR NO KEY UPDATE`,
		a.Organiser, a.Key, a.Request[:]).Scan(&same, &b.Answer)
	b.Reused = !same
	return b, err
}

// End keeps what the attempt is answered, also when it is made again.
func (a Attempt) End(ctx context.Context, tx pgx.Tx, answer any) error {
	if a.Key == "" {
		return nil
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `UPDATE organiser_attempts SET answer = $3 WHERE organiser = $1 AND attempt = $2`,
		a.Organiser, a.Key, text)
	if err == nil && tag.RowsAffected() == 0 {
		err = errors.New("an attempt ends that did not begin")
	}
	return err
}
