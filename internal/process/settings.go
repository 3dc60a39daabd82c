package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Parse fills cfg (a pointer to a struct with kong's tags) from flags, the
// environment and defaults, in this order. A setting that is unknown, missing
// or senseless (its own Validate says so) stops the start: the reason on
// stderr, exit code 2.
//
// A field tagged `secret:""` may also be given as a file: for env FOO by
// FOO_FILE, whose last newline is not part of it. Both together are refused.
func Parse(cfg any, name, description string) {
	if err := parse(cfg, name, description, os.Args[1:], os.Stdout, os.Exit); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(2)
	}
}

func parse(cfg any, name, description string, args []string, out io.Writer, exit func(int)) error {
	k, err := kong.New(cfg, kong.Name(name), kong.Description(description), kong.Writers(out, out),
		kong.Exit(exit), SecretFiles())
	if err != nil {
		return err
	}
	ctx, err := k.Parse(args)
	if err != nil {
		return err
	}
	return emptyRequired(ctx.Flags())
}

// SecretFiles lets a command line of its own take secrets as files too.
func SecretFiles() kong.Option { return kong.Resolvers(kong.ResolverFunc(secretFile)) }

// secretFile answers kong for a secret that is given as a file.
func secretFile(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !flag.Tag.Has("secret") {
		return nil, nil
	}
	for _, env := range flag.Envs {
		file, given := os.LookupEnv(env + "_FILE")
		if !given {
			continue
		}
		if _, both := os.LookupEnv(env); both {
			return nil, fmt.Errorf("%s and %s_FILE are both set; keep one", env, env)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s_FILE: %w", env, err)
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
	}
	return nil, nil
}

// emptyRequired refuses a required text that is set to nothing, as an
// environment file with "DATABASE_URL=" does.
func emptyRequired(flags []*kong.Flag) error {
	var missing []string
	for _, f := range flags {
		if f.Required && f.Target.IsZero() {
			missing = append(missing, strings.Join(append([]string{"--" + f.Name}, f.Envs...), " / "))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return errors.New("missing: " + strings.Join(missing, ", "))
}
