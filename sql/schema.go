// Package sql carries the schema and the audit's queries inside the binaries.
package sql

import (
	"embed"
	"fmt"
	"io/fs"
)

// Migrations are goose files, forward only. A process that serves never runs
// them: it refuses to start while one is pending.
//
//go:embed migrations/*.sql
var migrations embed.FS

// Dir holds the migrations at its top, as goose wants them.
func Dir() (fs.FS, error) { return fs.Sub(migrations, "migrations") }

// Version is the number of the newest migration.
func Version() (int64, error) {
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return 0, err
	}
	var v int64
	if _, err := fmt.Sscanf(files[len(files)-1].Name(), "%d_", &v); err != nil {
		return 0, fmt.Errorf("migration %s: %w", files[len(files)-1].Name(), err)
	}
	return v, nil
}

// audits are one query for each check: $1 is the event; it answers how many
// rows it judged, how many broke the promise, and a few of these.
//
//go:embed audit/*.sql
var audits embed.FS

// Audits holds the audit's queries at its top, each named promise_what.sql.
func Audits() (fs.FS, error) { return fs.Sub(audits, "audit") }
