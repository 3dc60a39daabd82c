package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"waitroom/internal/organiser"
)

type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Make a key of the organisers' API and print it, once."`
	List   keyListCmd   `cmd:"" help:"List keys: whose, for what, and whether they are good. What they are is not kept."`
	Revoke keyRevokeCmd `cmd:"" help:"End a key; every replica refuses it within 2 s."`
}

type keyCreateCmd struct {
	database
	Organiser string        `arg:"" help:"Whose events it opens; ${house} is whoever runs this installation."`
	Name      string        `arg:"" help:"Its name, by which the record of changes knows it; never another key's."`
	Scopes    []string      `required:"" sep:"," help:"What it may do: ${scopes}."`
	Life      time.Duration `help:"How long it is good; 0: until it is revoked."`
}

func (c *keyCreateCmd) Run(ctx context.Context, out io.Writer) error {
	now := time.Now()
	key := organiser.Key{Organiser: c.Organiser, Name: c.Name}
	for _, s := range c.Scopes {
		key.Scopes = append(key.Scopes, organiser.Scope(s))
	}
	if c.Life != 0 {
		until := now.Add(c.Life)
		key.ExpiresAt = &until
	}
	if err := key.Check(now); err != nil {
		return refuse("%v", err)
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	token, made, err := organiser.Create(ctx, pool, key)
	switch {
	case err != nil:
		return err
	case made == organiser.NameTaken:
		return refuse("organiser %s has, or had, a key %s; nothing was changed", c.Organiser, c.Name)
	}
	fmt.Fprintln(out, token)
	return nil
}

type keyListCmd struct {
	database
	Organiser string `arg:"" optional:"" help:"Whose; everybody's if it is left out."`
}

func (c *keyListCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	keys, err := organiser.Keys(ctx, pool, c.Organiser)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "ORGANISER\tNAME\tCREATED\tGOOD\tSCOPES")
	for _, k := range keys {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", k.Organiser, k.Name, k.CreatedAt.UTC().Format(time.RFC3339), good(k, time.Now()), scopes(k.Scopes))
	}
	return nil
}

func good(k organiser.Key, now time.Time) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked " + k.RevokedAt.UTC().Format(time.RFC3339)
	case k.ExpiresAt == nil:
		return "yes"
	case k.ExpiresAt.After(now):
		return "until " + k.ExpiresAt.UTC().Format(time.RFC3339)
	}
	return "expired " + k.ExpiresAt.UTC().Format(time.RFC3339)
}

func scopes(list []organiser.Scope) string {
	var all []string
	for _, s := range list {
		all = append(all, string(s))
	}
	return strings.Join(all, ",")
}

type keyRevokeCmd struct {
	database
	Organiser string `arg:"" help:"Whose key."`
	Name      string `arg:"" help:"Its name."`
}

func (c *keyRevokeCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	made, err := organiser.Revoke(ctx, pool, c.Organiser, c.Name)
	switch {
	case err != nil:
		return err
	case made == organiser.NoSuchKey:
		return refuse("organiser %s has no key %s", c.Organiser, c.Name)
	case made == organiser.WasSo:
		fmt.Fprintf(out, "key %s of %s: revoked, as it was\n", c.Name, c.Organiser)
	default:
		fmt.Fprintf(out, "key %s of %s: revoked\n", c.Name, c.Organiser)
	}
	return nil
}
