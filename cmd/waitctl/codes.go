package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"waitroom/internal/admission"
	"waitroom/internal/inventory"
	"waitroom/internal/seating"
)

type codesCmd struct {
	Import codesImportCmd `cmd:"" help:"Add an event's access codes. What is kept of them is their hashes."`
}

type codesImportCmd struct {
	database
	Event string `arg:"" help:"The event's id."`
	File  string `short:"f" required:"" help:"One code a line: 6 to 64 letters and digits; case, spaces and dashes say nothing. Lines that begin with # are skipped."`
	Uses  int    `default:"1" help:"How many people may use each, 1 to 10000. Codes that the event has already get so many as well; what was used stays used."`
}

func (c *codesImportCmd) Run(ctx context.Context, out io.Writer) error {
	if c.Uses < 1 || c.Uses > admission.CodeUses {
		return refuse("%d uses: want 1 to %d", c.Uses, admission.CodeUses)
	}
	codes, err := readCodes(c.Event, c.File, c.Uses)
	if err != nil {
		return err
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	change, err := inventory.ImportCodes(ctx, pool, c.Event, codes)
	switch {
	case err != nil:
		return err
	case change == inventory.NoSuchEvent:
		return refuse("there is no event %s", c.Event)
	}
	all, uses, err := inventory.CodesOf(ctx, pool, c.Event)
	if err != nil {
		return err
	}
	events, err := inventory.Events(ctx, pool, c.Event)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d codes read; event %s has %d, for %d people\n", len(codes.Hashes), c.Event, all, uses)
	if len(events) == 1 && events[0].Codes != inventory.Required {
		fmt.Fprintf(out, "warning: event %s does not ask for codes: anybody joins without one\n", c.Event)
	}
	return nil
}

// readCodes reads a file of codes. A line that is none is named by its number:
// what stands in it may be somebody's code.
func readCodes(event, path string, uses int) (codes inventory.AccessCodes, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return codes, err
	}
	codes.Uses = uses
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		hash, ok := admission.CodeHash(event, line)
		if !ok {
			return codes, refuse("%s:%d: not a code: want 6 to 64 letters and digits", path, n)
		}
		codes.Hashes = append(codes.Hashes, hash[:])
	}
	if len(codes.Hashes) == 0 && lines.Err() == nil {
		return codes, refuse("%s: there is no code in it", path)
	}
	return codes, lines.Err()
}

// codesOf reads the codes that an event file names; nil: it names none.
func codesOf(path string, f seating.EventFile) (*inventory.AccessCodes, error) {
	if f.Codes.File == "" {
		return nil, nil
	}
	at := f.Codes.File
	if !filepath.IsAbs(at) {
		at = filepath.Join(filepath.Dir(path), at)
	}
	codes, err := readCodes(f.ID, at, f.Codes.Uses)
	return &codes, err
}

// describeAsked tells the organiser what an event asks of who joins, and what
// follows where it asks nothing: the settings of the event alone are known here.
func describeAsked(out io.Writer, e inventory.Event) {
	switch {
	case e.AccessCodes != nil:
		fmt.Fprintf(out, "%d access codes, for %d people each\n", len(e.AccessCodes.Hashes), e.AccessCodes.Uses)
	case e.Codes == inventory.Required:
		fmt.Fprintf(out, "nobody joins without an access code, and there is none yet: waitctl codes import %s -f FILE\n", e.ID)
	}
	if e.Accounts == inventory.Required {
		fmt.Fprintln(out, "nobody joins without an account: the waitroom needs ACCOUNT_ISSUER and what goes with it")
	}
	if warning := lots(e); warning != "" {
		fmt.Fprintln(out, "warning: "+warning)
	}
}

// lots is what is unfair about a draw that anybody may enter as often as they
// like; "" if nothing is.
func lots(e inventory.Event) string {
	if e.Draw == nil || e.Accounts == inventory.Required || e.Codes == inventory.Required {
		return ""
	}
	return "whoever brings more browsers brings more lots; ask for accounts or codes, or limit joins by network (JOINS_PER_NETWORK)"
}
