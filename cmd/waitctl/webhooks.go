package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"waitroom/internal/webhooks/health"
	"waitroom/internal/webhooks/plan"
	"waitroom/internal/webhooks/probe"
)

type webhooksCmd struct {
	Plan   webhooksPlanCmd   `cmd:"" help:"Work out when each attempt might have begun, and write the report: 0 written, 2 a fact cannot be had, 3 the contract is unusable."`
	Health webhooksHealthCmd `cmd:"" help:"Work every figure of the report out again, by other code, and compare: 0 clean, 2 something differs or cannot be had, 3 the contract is unusable."`
	Probe  webhooksProbeCmd  `cmd:"" help:"Hold the report against contract and ledgers from outside: 0 no difference, 1 there is one, 3 the contract is unusable."`
}

// ledgers are where an audit reads the attempts.
type ledgers struct {
	Dir      string `xor:"from" placeholder:"DIR" help:"Holds endpoints.tsv, attempts.tsv and retry.env."`
	Database string `xor:"from" placeholder:"URL" help:"Postgres, to audit the courier's own tables, in microseconds. Needs --contract."`
	Contract string `placeholder:"FILE" help:"The retry.env for --database."`
}

// Validate lets kong ask before Run whether the flags say where to look.
func (l *ledgers) Validate() error {
	switch {
	case l.Dir == "" && l.Database == "":
		return errors.New("want --dir DIR, or --database URL with --contract FILE")
	case (l.Database == "") != (l.Contract == ""):
		return errors.New("--database and --contract go together")
	}
	return nil
}

// tables are the database as the audits read it. It is asked for nothing before
// the contract is known to be one.
func (l *ledgers) tables() (*sql.DB, error) {
	cfg, err := pgx.ParseConfig(l.Database)
	if err != nil {
		return nil, refuse("--database: %v", err)
	}
	cfg.ConnectTimeout = 3 * time.Second
	cfg.RuntimeParams["application_name"] = "waitctl"
	return stdlib.OpenDB(*cfg), nil
}

type webhooksPlanCmd struct {
	ledgers
	JSON bool   `help:"Print the report."`
	Out  string `placeholder:"FILE" help:"Where the report is written; by default DIR/report.json. A plan that cannot be computed leaves none there. A file that is no report stays."`
}

// unplanned is a plan that could not be had; its exit code is the plan's own.
type unplanned struct{ why error }

func (u unplanned) Error() string { return u.why.Error() }
func (u unplanned) ExitCode() int {
	if errors.Is(u.why, plan.ErrContract) {
		return 3
	}
	return 2
}

func (c *webhooksPlanCmd) Run(ctx context.Context, out io.Writer, k *kong.Context) error {
	path, err := c.path()
	if err != nil {
		return err
	}
	report, err := c.plan(ctx)
	if c.Out != "" && !plan.Replaceable(path) {
		return unplanned{errors.Join(err, refuse("--out %s is there, and is no report: it stays as it is", path))}
	}
	if err == nil && path != "" {
		if err = report.Keep(path); err != nil && c.Out == "" && c.JSON && errors.Is(err, os.ErrPermission) {
			fmt.Fprintf(k.Stderr, "not written: %v\n", err)
			err = nil
		}
	}
	if err != nil {
		if path != "" {
			err = errors.Join(err, plan.Drop(path))
		}
		return unplanned{err}
	}
	if report.Unknown > 0 {
		fmt.Fprintf(k.Stderr, "%d attempts are of endpoints that nobody knows, and in no plan; the first is %s\n", report.Unknown, report.FirstUnknown)
	}
	if c.JSON || path == "" {
		return report.Write(out)
	}
	t := report.Totals
	fmt.Fprintf(out, "%s: %d attempts of %d endpoints, %d of them too early; ok: %t\n", path, t.Attempts, t.Endpoints, t.TooEarly, report.OK)
	return nil
}

// path is where the report goes, which is never what it is made of, and nothing
// but a file: it is put in the place of what is there, and a pipe or a device
// would be lost to whoever reads it.
func (c *webhooksPlanCmd) path() (string, error) {
	path := c.Out
	if path == "" && c.Dir != "" {
		path = filepath.Join(c.Dir, "report.json")
	}
	into, err := os.Stat(path)
	if err != nil {
		return path, nil // it is not there yet, or Keep says why it cannot be
	}
	if !into.Mode().IsRegular() {
		return "", refuse("%s is there, and is not a file: no report can take its place", path)
	}
	for _, from := range []string{
		filepath.Join(c.Dir, "endpoints.tsv"), filepath.Join(c.Dir, "attempts.tsv"), filepath.Join(c.Dir, "retry.env"), c.Contract,
	} {
		if info, err := os.Stat(from); err == nil && os.SameFile(into, info) {
			return "", refuse("--out %s is what the plan is made of", path)
		}
	}
	if path, err = filepath.EvalSymlinks(path); err != nil { // a link stays; what it leads to is written anew
		return "", refuse("the report cannot take its place: %v", err)
	}
	return path, nil
}

func (c *webhooksPlanCmd) plan(ctx context.Context) (plan.Report, error) {
	facts, err := c.facts(ctx)
	if err != nil {
		return plan.Report{}, err
	}
	return plan.Make(facts)
}

func (c *webhooksPlanCmd) facts(ctx context.Context) (plan.Facts, error) {
	if c.Dir != "" {
		return plan.FromDir(c.Dir)
	}
	db, err := c.tables()
	if err != nil {
		return plan.Facts{}, err
	}
	defer db.Close() //nolint:errcheck // read only
	contract, err := plan.ReadContract(c.Contract)
	if err != nil {
		return plan.Facts{}, err
	}
	return plan.FromTables(ctx, db, contract)
}

type webhooksHealthCmd struct {
	ledgers
	Report string `placeholder:"FILE" help:"The report to judge; by default DIR/report.json."`
	JSON   bool   `help:"As it is anyway: the answer is one line of JSON."`
}

// sick is an answer that is not clean; the answer itself has been printed.
type sick health.Answer

func (s sick) Error() string { return fmt.Sprintf("the report is not clean: %d issues", len(s.Issues)) }
func (s sick) ExitCode() int { return s.Exit }

func (c *webhooksHealthCmd) Run(ctx context.Context, out io.Writer) error {
	answer, err := c.answer(ctx)
	if err != nil {
		return err
	}
	if err := answer.Fprint(out); err != nil {
		return err
	}
	if answer.Exit != 0 {
		return sick(answer)
	}
	return nil
}

func (c *webhooksHealthCmd) answer(ctx context.Context) (health.Answer, error) {
	if c.Dir != "" {
		return health.Dir(c.Dir, c.Report), nil
	}
	if c.Report == "" {
		return health.Answer{}, refuse("--database needs the --report to judge")
	}
	db, err := c.tables()
	if err != nil {
		return health.Answer{}, err
	}
	defer db.Close() //nolint:errcheck // read only
	return health.Tables(ctx, db, c.Contract, c.Report), nil
}

type webhooksProbeCmd struct {
	Dir    string `required:"" placeholder:"DIR" help:"Holds endpoints.tsv, attempts.tsv and retry.env."`
	Report string `placeholder:"FILE" help:"The report; by default DIR/report.json."`
}

// differing is a report that differs, or cannot be held against anything; what it
// differs in has been printed.
type differing struct {
	places int
	usable bool // the contract
}

func (d differing) Error() string { return fmt.Sprintf("the report differs in %d places", d.places) }

func (d differing) ExitCode() int {
	if !d.usable {
		return 3
	}
	return 1
}

func (c *webhooksProbeCmd) Run(out io.Writer) error {
	found, usable := probe.Dir(c.Dir, c.Report)
	probe.Fprint(out, found)
	if len(found) > 0 {
		return differing{len(found), usable}
	}
	return nil
}
