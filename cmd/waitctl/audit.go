package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/audit"
	schema "waitroom/sql"
)

type auditCmd struct {
	database
	Event      string `arg:"" help:"The event's id."`
	Line       string `help:"The line's export: a file, or a waiting room's admin address such as http://127.0.0.1:8081." placeholder:"FILE|URL"`
	AdminToken string `env:"ADMIN_TOKEN" secret:"" help:"Bearer of the admin address."`
	Witness    string `help:"What fans were told, as the demo writes it." placeholder:"FILE"`
	Provider   string `help:"The stand-in provider's address, such as http://127.0.0.1:8090: what it knows of the money, and every request that it got. Audit while no money moves." placeholder:"URL"`
	JSON       bool   `help:"Print the report as JSON."`
}

// audited is an audit that is not clean: its exit code is the audit's own.
type audited int

func (a audited) Error() string { return fmt.Sprintf("the audit ended with %d", int(a)) }
func (a audited) ExitCode() int { return int(a) }

func (c *auditCmd) Run(ctx context.Context, out io.Writer) error {
	report, err := c.audit(ctx)
	if err != nil {
		report = audit.Report{Event: c.Event, Exit: audit.Unusable, Fault: err.Error()}
	}
	if c.JSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(report); err != nil {
			return err
		}
	} else {
		report.Fprint(out)
	}
	if report.Exit != audit.Clean {
		return audited(report.Exit)
	}
	return nil
}

func (c *auditCmd) audit(ctx context.Context) (audit.Report, error) {
	queries, err := schema.Audits()
	if err != nil {
		return audit.Report{}, err
	}
	s := audit.Sources{Queries: queries, Event: c.Event}
	line, err := c.open(ctx, c.Line)
	if err != nil {
		return audit.Report{}, err
	}
	if line != nil {
		defer line.Close() //nolint:errcheck // read only
		s.Line = line
	}
	if c.Witness != "" {
		witness, err := os.Open(c.Witness)
		if err != nil {
			return audit.Report{}, err
		}
		defer witness.Close() //nolint:errcheck // read only
		s.Witness = witness
	}
	if c.Provider != "" {
		if s.Ledger, err = told(ctx, c.Provider, "ledger"); err != nil {
			return audit.Report{}, err
		}
		if s.Requests, err = told(ctx, c.Provider, "requests"); err != nil {
			return audit.Report{}, err
		}
	}
	if s.DB, err = pgx.Connect(ctx, c.DatabaseURL); err != nil {
		return audit.Report{}, err
	}
	defer s.DB.Close(context.WithoutCancel(ctx)) //nolint:errcheck // read only
	return audit.Run(ctx, s), nil
}

// told is what the provider knows, as it stands now.
func told(ctx context.Context, provider, what string) (io.Reader, error) {
	at, err := url.Parse(provider)
	if err != nil {
		return nil, fmt.Errorf("--provider: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.JoinPath("_admin", what).String(), nil)
	if err != nil {
		return nil, fmt.Errorf("--provider: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the provider's %s: %w", what, err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the provider's %s: %s", what, res.Status)
	}
	all, err := io.ReadAll(res.Body)
	return bytes.NewReader(all), err
}

// open reads the line's export, from a file or from a waiting room that runs.
func (c *auditCmd) open(ctx context.Context, from string) (io.ReadCloser, error) {
	if from == "" {
		return nil, nil
	}
	at, err := url.Parse(from)
	if err != nil || at.Scheme == "" {
		return os.Open(from)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.JoinPath("v1/admin/events", c.Event, "line").String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.AdminToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	switch res.StatusCode {
	case http.StatusOK:
		return res.Body, nil
	case http.StatusUnauthorized:
		err = errors.New("line export: it asks for the waiting room's own token: --admin-token / ADMIN_TOKEN")
	default:
		err = fmt.Errorf("line export: %s", res.Status)
	}
	return nil, errors.Join(err, res.Body.Close())
}
