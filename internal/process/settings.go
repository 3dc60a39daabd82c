package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
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
		kong.Exit(exit), Settings())
	if err != nil {
		return err
	}
	_, err = k.Parse(args)
	return err
}

// Settings lets a command line of its own take secrets as files, and name what
// is missing, as Parse does.
func Settings() kong.Option {
	return kong.OptionFunc(func(k *kong.Kong) error {
		return errors.Join(
			kong.Resolvers(kong.ResolverFunc(secretFile)).Apply(k),
			kong.WithBeforeApply(missing).Apply(k),
		)
	})
}

// Want is nil when ok, else a complaint, for a Validate that tells all that is
// wrong at once. The complaint begins with the setting's name in the environment.
func Want(ok bool, complaint string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(complaint, args...)
}

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

// lacks says that nobody set it: neither an argument nor the environment nor a
// secret's file. A text that is set to nothing is not set; a number that is 0 is.
func lacks(ctx *kong.Context, f *kong.Flag) bool {
	v := reflect.ValueOf(ctx.FlagValue(f))
	if !v.IsValid() || v.Kind() == reflect.String {
		return !v.IsValid() || v.IsZero()
	}
	named := slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag == f })
	return v.IsZero() && !named && !slices.ContainsFunc(f.Envs, func(env string) bool { return os.Getenv(env) != "" })
}

// missing names every required setting that is not there, before anything else
// is said of the settings: nobody wants to hear of them one at a time. A text
// that is set to nothing, as an environment file with "DATABASE_URL=" does, is
// not there.
func missing(ctx *kong.Context) error {
	var names []string
	for _, f := range ctx.Flags() {
		if !f.Required {
			continue
		}
		if lacks(ctx, f) {
			names = append(names, strings.Join(append([]string{"--" + f.Name}, f.Envs...), " / "))
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return errors.New("missing: " + strings.Join(slices.Compact(names), ", "))
}
