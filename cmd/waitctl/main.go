// Command waitctl is the operator's and the organiser's command line.
//
// It exits with 0 when it did what was asked, with 2 and the reason when that
// was refused (a flawed file, an event that is not there), and with 1 when it
// could not be done (no database, a time-out, a crash). The audit has a 3 of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"waitroom/internal/organiser"
	"waitroom/internal/process"
	"waitroom/internal/seating"
)

// cli is every command; each has its struct and its Run in a file of its own.
type cli struct {
	Version kong.VersionFlag `help:"Say which build this is."`

	Migrate   migrateCmd   `cmd:"" help:"Bring the database's schema up to this program's."`
	Event     eventCmd     `cmd:"" help:"Create and look at events."`
	Plan      planCmd      `cmd:"" help:"Check and import seating plans."`
	Rate      rateCmd      `cmd:"" help:"Set how many people a second are let in."`
	Pause     pauseCmd     `cmd:"" help:"Let nobody in until resume. Who is inside may still buy."`
	Resume    resumeCmd    `cmd:"" help:"Undo pause."`
	Close     closeCmd     `cmd:"" help:"End the sale for good."`
	Orders    ordersCmd    `cmd:"" help:"Orders that wait to be paid."`
	Key       keyCmd       `cmd:"" help:"Keys of the organisers' API."`
	Demo      demoCmd      `cmd:"" help:"A whole on-sale on this machine, to watch; ends with the audit."`
	Refunds   refundsCmd   `cmd:"" help:"Money on its way back: when it is there, what waits, what a person has to do."`
	Human     humanCmd     `cmd:"" help:"What a person has to look at: take it, note, push it again, decide, resolve. Nothing is ever deleted."`
	Mcp       mcpCmd       `cmd:"" help:"Tools for a language model that helps customers: refund a line, see how it stands, see an order."`
	Seats     seatsCmd     `cmd:"" help:"Seats that the house holds back or takes off sale, and seats of orders that are exchanged."`
	Rehearse  rehearseCmd  `cmd:"" help:"Play an event's sale on a virtual clock, with people as you describe them, and say what to change."`
	Process   processCmd   `cmd:"" hidden:""`
	Codes     codesCmd     `cmd:"" help:"Access codes of an event."`
	Tickets   ticketsCmd   `cmd:"" help:"Codes of sold seats: check one, list what was revoked and who is in twice."`
	Scan      scanCmd      `cmd:"" help:"Record a seat's code that was shown at a door: 0 admitted, 2 not, and why."`
	Presale   presaleCmd   `cmd:"" help:"What is sold to codes alone, and these codes."`
	Draw      drawCmd      `cmd:"" help:"The draw of a lobby: its beacon, its numbers, its proof."`
	Webhooks  webhooksCmd  `cmd:"" help:"The plan audit of organisers' webhooks: when each attempt might have begun, told by one program and judged by two others."`
	Endpoints endpointsCmd `cmd:"" help:"Where organisers are told: add, edit, rotate, drain, test, look at what was sent, send it again."`
	Audit     auditCmd     `cmd:"" help:"Recompute an event's promises from raw rows: 0 clean, 2 something differs, 3 it cannot be told."`
}

func main() {
	ctx := process.Signals(context.Background())
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// exit ends run from within kong, which asks for it after --help.
type exit int

func run(ctx context.Context, args []string, out, complaints io.Writer) (code int) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case exit:
			code = int(e)
		default: // not 2, as Go's own end of a panic: that is an answer
			fmt.Fprintf(complaints, "waitctl: crashed, and what it did by then stays done: %v\n%s", e, debug.Stack())
			code = 1
		}
	}()
	err := command(ctx, args, out, complaints)
	if err == nil {
		return 0
	}
	fmt.Fprintf(complaints, "waitctl: %v\n", err)
	return exitCode(err)
}

func command(ctx context.Context, args []string, out, complaints io.Writer) error {
	k, err := kong.New(&cli{}, kong.Name("waitctl"), kong.Description("Runs sales: events, halls, rates."),
		kong.Vars{"version": build(), "house": organiser.House, "scopes": scopes(organiser.Scopes())},
		kong.Writers(out, complaints), kong.Exit(func(code int) { panic(exit(code)) }),
		process.Settings(), kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(out, (*io.Writer)(nil)))
	if err != nil {
		return err
	}
	parsed, err := k.Parse(args)
	if err != nil {
		return err
	}
	return parsed.Run()
}

// build names the program: its module's version, and the commit.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "waitctl, of an unknown build"
	}
	said := "waitctl " + info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" && s.Value == "true" {
			said += " " + strings.Replace(s.Value, "true", "(with changes)", 1)
		}
	}
	return said + " " + info.GoVersion
}

// refusal is an answer of no: nothing was changed, and this is why.
type refusal string

func (r refusal) Error() string { return string(r) }
func (r refusal) ExitCode() int { return 2 }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// exitCode is 2 for what the caller can mend by asking differently, the
// error's own code if it has one, else 1.
func exitCode(err error) int {
	var usage *kong.ParseError
	var flaws *seating.Flaws
	var file *fs.PathError
	if errors.As(err, &usage) || errors.As(err, &flaws) || errors.As(err, &file) {
		return 2
	}
	var own interface{ ExitCode() int }
	if errors.As(err, &own) {
		return own.ExitCode()
	}
	return 1
}
